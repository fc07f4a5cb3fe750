"""The size of the project in numbers that may only fall: ``python -m tools.size`` prints those read off its files.

``--check`` fails where one is above its ceiling in size.toml, or a ceiling is above that of the commit before. The
processor seconds are those of the last ``just test`` (``build/fast.json``). ``--runtime`` adds what runs when a text
on Heads is changed, for which it opens the app. ``--lower`` writes today's numbers as ceilings where they are lower.

- *Shared by all pages*: the files that importing a page's ``page.py`` loads at once, for every page with sections.
- *Words on screen*: those of the texts in ``en.toml``, of pages and of ``viz``.
- *Tests*: with the drivers that once stood there.
- *Upward imports*: between the files and folders of ``viz/frame``, those that have to go for no circle to be left.
- *Parameters*: the names that declarations of the seven kinds give.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
CEILINGS = ROOT / "tools" / "size.toml"
DRIVERS = ("bench/load", "bench/hostile", "tools/random_walk.py")
KINDS = {"Int", "Real", "Choice", "Flag", "Text", "Ints", "TokenIndex"}


def files(*patterns: str) -> list[Path]:
    """The files that are matched by any of some patterns, without other people's."""
    paths = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path for path in paths if not {"vendor", "node_modules", "build"} & {*path.relative_to(ROOT).parts})


def n_lines(paths: Iterable[Path]) -> int:
    """Count the lines of files."""
    return sum(len(path.read_bytes().splitlines()) for path in paths)


@cache
def tree(path: Path) -> ast.Module:
    """The program of a file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def modules() -> dict[str, Path]:
    """The files of viz and pages, by the names of their modules."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files("viz/**/*.py", "pages/**/*.py")
    }


def texts(value: object) -> Iterator[str]:
    """Every text in the value of a TOML file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def english_words() -> int:
    """Count the words of the texts in English."""
    tables = (tomllib.loads(path.read_text("utf-8")) for path in files("viz/**/en.toml", "pages/**/en.toml"))
    return sum(len(text.split()) for table in tables for text in texts(table))


def imports_at_once(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run when a module is imported."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "TYPE_CHECKING" not in ast.unparse(
            getattr(node, "test", ast.Constant(None))
        ):
            for part in ("body", "orelse", "finalbody"):
                yield from imports_at_once(getattr(node, part, []))


def loaded_by(name: str) -> set[str]:
    """Return the modules of ours that are loaded with a module, each with the packages around it."""
    closure: set[str] = set()
    waiting = [name]
    while waiting:
        parts = waiting.pop().split(".")
        for end in range(1, len(parts) + 1):
            module = ".".join(parts[:end])
            if module in modules() and module not in closure:
                closure.add(module)
                waiting += at_once(module)
    return closure


@cache
def at_once(module: str) -> list[str]:
    """The modules that a module names in its imports, and what it takes from them."""
    return [
        target
        for node in imports_at_once(tree(modules()[module]).body)
        for target in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        )
    ]


def shared_by_pages() -> list[Path]:
    """The files that every page with sections loads."""
    pages = [name for name in modules() if re.fullmatch(r"pages\.(?!start|lessons|glossary|about)\w+\.page", name)]
    return [modules()[name] for name in set.intersection(*map(loaded_by, pages))]


def upward_imports() -> int:
    """Count the imports inside viz/frame that have to go for no circle of its files and folders to be left."""
    arrows: Counter[tuple[str, str]] = Counter()
    for module, path in modules().items():
        if module.startswith("viz.frame."):
            arrows.update(member_imports(module, path))
    members = sorted({member for arrow in arrows for member in arrow})
    return fewest_upward(members, arrows)


def member_imports(module: str, path: Path) -> set[tuple[str, str]]:
    """Return the pairs of members of viz/frame of which one, in this file, imports the other."""
    names = {
        f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in modules() else str(node.module)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    source = member(module)
    targets = {member(name) for name in names if name.startswith("viz.frame.")}
    return {(source, target) for target in targets - {source}}


def member(module: str) -> str:
    """Return the file or folder of viz/frame that a module is, or is in."""
    return module.split(".")[2]


def fewest_upward(members: list[str], arrows: Counter[tuple[str, str]]) -> int:
    """Order the members so that the fewest imports run up, by trying out every set that may stand below."""
    while free := {
        name
        for name in members
        if not any(arrows[name, target] for target in members) or not any(arrows[target, name] for target in members)
    }:
        members = [name for name in members if name not in free]
    targets = [
        [(1 << at, number) for at, target in enumerate(members) if (number := arrows[name, target])] for name in members
    ]
    best = [0] + [sys.maxsize] * ((1 << len(members)) - 1)
    for below, fewest in enumerate(best):
        for place, pairs in enumerate(targets):
            # Those that are not below yet, and not this one itself, stand above: its imports of them run up.
            if not below >> place & 1:
                cost = sum(number for target, number in pairs if not below & target)
                above = below | 1 << place
                best[above] = min(best[above], fewest + cost)
    return best[-1]


def link_parameters() -> int:
    """Count the names of parameters."""
    return len(
        {
            node.args[0].value
            for path in modules().values()
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in KINDS
            if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
        }
    )


def fast_suite() -> int | None:
    """Return the processor seconds of the last run of the fast suite here, if there was one."""
    try:
        return int(json.loads((ROOT / "build" / "fast.json").read_text("utf-8"))["processor_seconds"])
    except FileNotFoundError:
        return None


FIGURES: dict[str, tuple[str, Callable[[], int | None]]] = {
    "python_lines": ("Python of viz and pages, lines", lambda: n_lines(modules().values())),
    "script_lines": ("client JavaScript, lines", lambda: n_lines(files("viz/**/*.js"))),
    "style_lines": ("CSS, lines", lambda: n_lines(files("*/**/*.css"))),
    "english_words": ("words on screen, English", english_words),
    "test_lines": (
        "tests with their drivers, lines",
        lambda: n_lines(files("tests/**/*.py", *DRIVERS, *(f"{driver}/**/*.py" for driver in DRIVERS))),
    ),
    "shared_files": ("files shared by all pages", lambda: len(shared_by_pages())),
    "shared_lines": ("their lines", lambda: n_lines(shared_by_pages())),
    "upward_imports": ("upward imports in viz/frame", upward_imports),
    "parameters": ("parameters of the link", link_parameters),
    "processor_seconds": ("fast suite, processor seconds", fast_suite),
}
RUNTIME = {
    "heads_files": "a text changed on Heads: files that run",
    "heads_calls": "a text changed on Heads: calls",
    "heads_rerun_calls": "Heads run again unchanged: calls",
}


def runtime() -> dict[str, int]:
    """Return what runs on Heads, in a process of its own: the least of two counts, since who waits looks again."""
    command = [sys.executable, "-m", "tools.calls"]
    outputs = [subprocess.check_output(command, cwd=ROOT, stderr=subprocess.DEVNULL, text=True) for _ in range(2)]
    return dict(zip(RUNTIME, map(min, *(map(int, output.split()) for output in outputs)), strict=True))


def ceilings_before() -> dict[str, int]:
    """Return the ceilings of the commit before, or of this one if the checkout has others."""
    versions = []
    for commit in ("HEAD", "HEAD~1"):
        result = subprocess.run(
            ["git", "show", f"{commit}:tools/size.toml"], cwd=ROOT, capture_output=True, check=False, encoding="utf-8"
        )
        versions.append(result.stdout if result.returncode == 0 else "")
    now = CEILINGS.read_text("utf-8")
    return tomllib.loads(versions[0] if versions[0] != now else versions[1])


def above(figures: dict[str, int], ceilings: dict[str, int], before: dict[str, int]) -> list[str]:
    """Return a sentence for each number above its ceiling, and for each ceiling that has risen."""
    return [
        *(f"{name} is {figures[name]}, above {ceilings[name]}" for name in figures if figures[name] > ceilings[name]),
        *(f"the ceiling of {name} rose from {before[name]}" for name in before if ceilings.get(name, 0) > before[name]),
    ]


def main() -> int:
    """Print the numbers, and fail with ``--check`` where one is too large."""
    parser = argparse.ArgumentParser(prog="python -m tools.size", description=__doc__)
    for option in ("check", "runtime", "lower"):
        parser.add_argument(f"--{option}", action="store_true")
    options = parser.parse_args()
    ceilings = tomllib.loads(CEILINGS.read_text("utf-8"))
    labels = {name: label for name, (label, _) in FIGURES.items()} | RUNTIME
    numbers = {name: measure() for name, (_, measure) in FIGURES.items()} | (runtime() if options.runtime else {})
    figures = {name: number for name, number in numbers.items() if number is not None}
    for name, label in labels.items():
        number = f"{figures[name]:,}" if name in figures else "not measured"
        sys.stdout.write(f"{label:<42}{number:>14}  (at most {ceilings[name]:,})\n")
    problems = above(figures, ceilings, ceilings_before()) if options.check else []
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    if options.lower:
        lowest = ceilings | {name: min(number, ceilings[name]) for name, number in figures.items()}
        head = CEILINGS.read_text("utf-8").split("\n\n")[0]
        lines = [f"{name} = {lowest[name]}\n" for name in labels]
        CEILINGS.write_text(f"{head}\n\n{''.join(lines)}", encoding="utf-8")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
