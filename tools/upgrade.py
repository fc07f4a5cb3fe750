"""Try newer versions of what the program stands on: ``python -m tools.upgrade [streamlit==1.66.1 plotly ...]``.

Each package named, or streamlit, torch, transformers and plotly, is installed in the newest version that the index has,
or in the one named, in an environment of its own above the one this runs in; then all of them together. There the smoke
test and a few quick files of tests run, and a table says what breaks. The index is the one that pip is told of.
"""

import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from viz import ROOT

PACKAGES = ("streamlit", "torch", "transformers", "plotly")
QUICK = (
    *("tests/core/test_attention.py", "tests/models/test_capture.py", "tests/figures", "tests/streamlit_internals"),
    *("tests/params/test_link.py", "tests/frame/test_toy_page.py"),
)
SMOKE = ("tests/browser/test_smoke.py", "-k", "public")
SECONDS = 1200


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


def make(folder: Path, requirements: Sequence[str]) -> tuple[Path, str]:
    """Make an environment with these packages above those that are installed here; its Python, and what went wrong."""
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "below.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")), "utf8")
    python = folder / "bin" / "python"
    package_names = {re.split("[<>=]", name)[0] for name in requirements}
    (constraints := folder / "constraints.txt").write_text("\n".join(_read_locked(package_names)), "utf8")
    command = ["uv", "pip", "install", "--quiet", "--python", str(python), "--index-strategy", "unsafe-best-match"]
    for options in (["--constraint", str(constraints)], []):  # it may need another version of something else
        process = subprocess.run(
            [*command, *pip_options(), *options, *requirements], capture_output=True, text=True, check=False
        )  # fmt: skip
        if process.returncode == 0:
            return python, ""
    return python, process.stderr.strip()


def _read_locked(package_names: set[str]) -> Iterator[str]:
    """The versions of the lock but for these packages: what else is installed stays as it is, where that fits."""
    for line in (ROOT / "requirements.lock").read_text("utf8").splitlines():
        if (match := re.match(r"([\w.-]+)==[^\s;\\]+", line)) and match[1] not in package_names:
            yield match[0]


def outcome(python: Path, tests: Sequence[str]) -> str:
    """Run tests; what passed and failed, in pytest's words, with the names of those that failed."""
    command = [str(python), "-m", "pytest", "-q", "-n", "0", "--tb=no", "-W", "default", *tests]
    try:
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s"
    lines = process.stdout.strip().splitlines() or [process.stderr.strip()[-300:]]
    failed = [re.sub(r" - .*", "", line) for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "; ".join([re.sub(r" in [\d.]+s.*", "", lines[-1]), *failed])


def rows(requirements: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the packages that were installed, and the results of the smoke test and of the quick tests."""
    groups = [[name] for name in requirements] + ([list(requirements)] if len(requirements) > 1 else [])
    for group in groups:
        with tempfile.TemporaryDirectory() as folder:
            python, problem = make(Path(folder) / "env", group)
            label = ", ".join(group)
            yield (
                (label, "not installed", problem.replace("\n", " ")[:300])
                if problem
                else (label, outcome(python, SMOKE), outcome(python, QUICK))
            )


def main() -> None:
    """Print the table, row by row."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help="names, or names with a version: plotly==7.0.0")
    requirements = []
    for name in parser.parse_args().packages:
        if "==" not in name and (latest := newest(name)) in ("", version(name).partition("+")[0]):
            print(f"{name}: {version(name)} is the newest", flush=True)  # noqa: T201
        else:
            requirements.append(name if "==" in name else f"{name}=={latest}")
    print("| installed | smoke test | quick tests |\n|---|---|---|", flush=True)  # noqa: T201
    for row in rows(requirements):
        print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
