# What is done often. `just` alone is what to run before each commit: under a minute on two cores.

set windows-shell := ["cmd.exe", "/c"]

default: format lint types client unit

format:
    ruff format .

lint:
    ruff check .
    python -m tools.plain_words
    python -m tools.size --check

types:
    mypy

# Format, lint and types of the client's code, where node is; the versions of the tools stand in package.json.
[unix]
client:
    command -v npm >/dev/null || exit 0; npm install --silent --no-audit --no-fund && npm run --silent check

[windows]
client:
    (where npm >nul 2>nul || exit 0) && npm install --silent --no-audit --no-fund && npm run --silent check

# The mathematics, the figures, what views are sent, the scheduler: no Streamlit, no model.
unit:
    pytest -m unit -n 2 --dist loadfile viz/core tests/core tests/figures tests/components tests/scheduler tests/test_conftest.py

# The fast suite: unit, models, app and server, and one browser case of each kind. Options are pytest's.
test *options:
    python -m tools.suite fast {{options}}

# The long suite: every browser case and sweep, in a random order; `--part HASH/40` runs a fortieth of it.
long *options:
    python -m tools.suite long {{options}}

# One layer: unit, models, app, browser or server.
layer name:
    pytest -n 3 --dist loadfile -m {{name}}

# The tests of numbers, with torch's sums in another order: none asks for a last bit.
order:
    python -m pytest -p tests.other_order -n 2 --dist loadfile -m "unit or models"

# The documentation, into build/docs: after `pip install -r requirements-docs.txt`.
docs:
    python -m mkdocs build --strict

# uv.lock, requirements.lock and THIRD_PARTY.md: after a change of requirements.txt. PyTorch's index must be reachable.
lock:
    python -m tools.lock

# What the program is made of, as CycloneDX.
sbom:
    mkdir -p build
    cyclonedx-py requirements requirements.lock --output-reproducible --output-file build/sbom.cdx.json

# The pictures at the top of the README, from the running app.
pictures:
    python -m tools.pictures
