"""Try other versions of what the program stands on: ``python -m tools.upgrade [streamlit==1.66.1 plotly ...]``.

Each package named, or streamlit, torch, transformers and plotly, is installed in the newest version that the index has,
or in the one named, in an environment of its own above the one this runs in; then all of them together. There the smoke
test and a few quick files of tests run, and a table says what breaks. The index is the one that pip is told of.
``--lowest`` tries what requirements.txt allows beside the versions that pip installs: the lower ends of its ranges, all
together, and the minor versions of Streamlit between the ends. The command fails if any test does.
"""

import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from packaging.version import Version

from tools.lock import REQUIREMENTS, requirements
from viz import ROOT

PACKAGES = ("streamlit", "torch", "transformers", "plotly")
QUICK = (
    *("tests/core/test_attention.py", "tests/models/test_capture.py", "tests/figures", "tests/streamlit_internals"),
    *("tests/params/test_link.py", "tests/frame/test_toy_page.py"),
)
SMOKE = ("tests/browser/test_smoke.py",)
BY_VERSION = (
    *("tests/streamlit_internals", "tests/models/test_layout.py", "tests/models/test_generation.py"),
    *("tests/notebook/test_run.py", "tests/notebook/forms/test_structure.py"),
    *("tests/frame/test_show.py", "tests/pages/convolution/test_images.py"),
)
"""Tests of what differs within the ranges of requirements.txt."""
SECONDS = 1200
ALLOWED = requirements(REQUIREMENTS.read_text("utf8"))


def pip_options() -> list[str]:
    """Return pip's indexes as options of uv, which reads none of pip's settings."""
    options = []
    for option in ("index-url", "extra-index-url", "find-links"):
        process = subprocess.run(
            [sys.executable, "-m", "pip", "config", "get", f"global.{option}"],
            capture_output=True,
            text=True,
            check=False,
        )
        options += [part for place in process.stdout.split() for part in (f"--{option}", place)]
    return options


def newest(package: str) -> str:
    """The newest version that the index has; "" if it says none."""
    process = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", package], capture_output=True, text=True, check=False
    )
    match = re.match(rf"{re.escape(package)} \(([^)]+)\)", process.stdout)
    return match[1] if match else ""


def make(folder: Path, names: Sequence[str], any_versions: bool) -> tuple[Path, str]:
    """Make an environment with these packages above those that are installed here; its Python, and what went wrong.

    Args:
        folder: of the environment.
        names: packages with their versions.
        any_versions: whether what these need may have versions that requirements.txt does not allow.
    """
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "below.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")), "utf8")
    python = folder / "bin" / "python"
    package_names = {re.split("[<>=]", name)[0] for name in names}
    lines = (str(package) for package in ALLOWED if package.name not in package_names)
    (constraints := folder / "constraints.txt").write_text("\n".join(lines), "utf8")
    command = ["uv", "pip", "install", "--quiet", "--python", str(python), "--index-strategy", "unsafe-best-match"]
    for options in (["--constraint", str(constraints)], *([[]] if any_versions else [])):
        process = subprocess.run(
            [*command, *pip_options(), *options, *names], capture_output=True, text=True, check=False
        )  # fmt: skip
        if process.returncode == 0:
            return python, ""
    return python, process.stderr.strip()


def outcome(python: Path, tests: Sequence[str]) -> tuple[bool, str]:
    """Run tests; whether all is_green, and the result in pytest's words, with the names of those that failed."""
    command = [str(python), "-m", "pytest", "-q", "-n", "0", "--tb=no", *tests]
    try:
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no end after {SECONDS} s"
    lines = process.stdout.strip().splitlines() or [process.stderr.strip()[-300:]]
    failed = [re.sub(r" - .*", "", line) for line in lines if line.startswith(("FAILED", "ERROR"))]
    return process.returncode == 0, "; ".join([re.sub(r" in [\d.]+s.*", "", lines[-1]), *failed])


Group = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Packages to install together, and the tests to run with them."""


def newer(names: Sequence[str]) -> list[Group]:
    """Each of these versions alone, then all together; they may warn of what is still there."""
    groups = [[name] for name in names] + ([list(names)] if len(names) > 1 else [])
    return [(group, [(*tests, "-W", "default") for tests in (SMOKE, QUICK)]) for group in groups]


def lowest() -> list[Group]:
    """The lower ends of all ranges, and the minor versions of Streamlit between its ends."""
    ends: dict[str, dict[str, str]] = {}
    for package in ALLOWED:
        if package.marker is None or package.marker.evaluate():
            ends[package.name] = {bound.operator: bound.version for bound in package.specifier}
    low, high = (Version(ends["streamlit"][end]).release for end in (">=", "<="))
    between = [f"streamlit=={low[0]}.{minor}.*" for minor in range(low[1] + 1, high[1])]
    group = [f"{name}=={end['>=']}" for name, end in ends.items() if ">=" in end]
    return [(group, [SMOKE, BY_VERSION]), *(([name], [SMOKE]) for name in between)]


def rows(groups: Sequence[Group], any_versions: bool) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield whether all tests is_green, and a row: the packages that were installed, and the result of each run."""
    for group, tests in groups:
        with tempfile.TemporaryDirectory() as folder:
            python, problem = make(Path(folder) / "env", group, any_versions)
            runs = [(False, f"not installed: {problem[:300]}")] if problem else [outcome(python, run) for run in tests]
            yield (
                all(is_green for is_green, _ in runs),
                (", ".join(group), *(text.replace("\n", " ") for _, text in runs)),
            )


def main() -> None:
    """Print the table, row by row."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help="names, or names with a version: plotly==7.0.0")
    parser.add_argument("--lowest", action="store_true", help="the lower ends of the ranges in requirements.txt")
    options = parser.parse_args()
    names = []
    for name in () if options.lowest else options.packages:
        if "==" not in name and (latest := newest(name)) in ("", version(name).partition("+")[0]):
            print(f"{name}: {version(name)} is the newest", flush=True)  # noqa: T201
        else:
            names.append(name if "==" in name else f"{name}=={latest}")
    print("| installed | smoke test | quick tests |\n|---|---|---|", flush=True)  # noqa: T201
    failed = False
    for is_green, row in rows(lowest() if options.lowest else newer(names), any_versions=not options.lowest):
        print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201
        failed = failed or not is_green
    sys.exit(failed)


if __name__ == "__main__":
    main()
