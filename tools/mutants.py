"""Change one place of what a page shows at a time, and see which tests notice: ``python -m tools.mutants [heads ...]``.

A mutant exchanges two numbers of a sentence, takes the row, layer or head beside, exchanges rows and columns or the
order of a legend, divides by another total, takes the smallest for the largest, or changes a sentence of one language
alone. It lives in a copy of the checkout. Every section of its page is opened there as ``tests/shown`` opens it: a
mutant that changes nothing of what is sent is left out. It is killed by a live check of the page that turns red, else
by the record of ``tests/shown``, else by the page's own tests. Survivors are printed with their line.

Mutants are processes that are forked when the libraries and the model are loaded and the page is not.
"""

import argparse
import ast
import contextlib
import importlib
import io
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
INDEX = {"row", "head", "layer", "word", "query", "key", "place", "at", "token", "column", "best"}
"""Names of places in a tensor."""
FORMATS = {"number", "part", "share", "amount", "statistic", "span"}
EXCHANGED = {"argmax": "argmin", "argmin": "argmax", "amax": "amin", "max": "min"}
AXES = ("rows", "columns"), ("x", "y"), ("low", "high")
SECONDS = 900
"""No mutant is waited for longer; its child is ended then, and it counts as killed by a test."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one file: the text between two places of it becomes another."""

    path: str
    kind: str
    start: int
    end: int
    text: str
    line: int

    def apply(self, source: str) -> str:
        """Return the file with the change."""
        return source[: self.start] + self.text + source[self.end :]


class Finder(ast.NodeVisitor):
    """Finds what can be changed in a module of a page."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.mutants: list[Mutant] = []
        self.visit(ast.parse(source))

    def _span(self, node: Any) -> tuple[int, int]:
        bounds = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        places = [self.starts[line - 1] + column for line, column in bounds]
        start, end = (len(self.source.encode()[:place].decode()) for place in places)
        return start, end

    def _text(self, node: Any) -> str:
        start, end = self._span(node)
        return self.source[start:end]

    def _add(self, kind: str, node: Any, text: str) -> None:
        start, end = self._span(node)
        if self.source[start:end] != text:
            self.mutants.append(Mutant(path=self.path, kind=kind, start=start, end=end, text=text, line=node.lineno))

    def _exchange(self, kind: str, first: Any, second: Any) -> None:
        """Exchange two parts of the file, of which ``first`` comes first."""
        (start, middle), (rest, end) = self._span(first), self._span(second)
        if middle <= rest and self._text(first) != self._text(second):
            text = self._text(second) + self.source[middle:rest] + self._text(first)
            self.mutants.append(Mutant(path=self.path, kind=kind, start=start, end=end, text=text, line=first.lineno))

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        options = {option.arg: option.value for option in node.keywords if option.arg}
        if name in {"t", "say"}:
            values = [value for value in options.values() if not isinstance(value, ast.Constant)]
            for first, second in itertools.pairwise(values):
                self._exchange("numbers of a sentence", first, second)
            self._name_beside(options)
        for first_name, second_name in AXES:
            if first_name in options and second_name in options:
                self._exchange("rows and columns", options[first_name], options[second_name])
        # The largest difference is a check's own number.
        if name in EXCHANGED and isinstance(node.func, ast.Attribute) and ".abs()" not in self._text(node.func):
            function = self._text(node.func).removesuffix(name)
            self._add("smallest for largest", node.func, function + EXCHANGED[name])
        if name in FORMATS and node.args:
            self._other_total(node.args[0])
        self.generic_visit(node)

    def _name_beside(self, options: dict[str, Any]) -> None:
        """The number of a layer or head that a sentence or a title names."""
        for name, value in options.items():
            if name in INDEX and isinstance(value, ast.Name | ast.Attribute) and name in {"head", "layer", "row"}:
                self._add("a place beside is named", value, f"({self._text(value)} + 1)")

    def _other_total(self, value: Any) -> None:
        for part in ast.walk(value):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                self._add("a percent of another total", part.right, f"({self._text(part.right)} + 1)")
            if isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "mean" and not part.args:
                self._add("a percent of another total", part.func, self._text(part.func).removesuffix("mean") + "sum")

    def visit_Dict(self, node: ast.Dict) -> None:
        pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        kind = "numbers of a sentence"
        if all(isinstance(key, ast.Call) for key, _ in pairs):
            kind = "order of a legend"
        if kind == "order of a legend" or all(isinstance(key, ast.Constant) for key, _ in pairs):
            values = [value for _, value in pairs if not isinstance(value, ast.Constant)]
            for first, second in itertools.pairwise(values):
                if isinstance(first, ast.Call | ast.Name | ast.Subscript | ast.Attribute) and type(first) is type(
                    second
                ):
                    self._exchange(kind, first, second)
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        if len(node.elts) > 1 and all(isinstance(part, ast.Call | ast.Name | ast.Attribute) for part in node.elts):
            self._exchange("order of a legend", node.elts[0], node.elts[1])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for place in places:
            name = getattr(place, "attr", getattr(place, "id", ""))
            if name in INDEX and isinstance(node.ctx, ast.Load) and isinstance(place, ast.Name | ast.Attribute):
                self._add("row, layer or head beside", place, f"{self._text(place)} - 1")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        exchanges = {"axis.queries": "axis.keys", "axis.keys": "axis.queries"}
        if node.value in exchanges:
            self._add("rows and columns", node, repr(exchanges[node.value]))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave out f-strings: on Python 3.11 their parts have no places."""


def mutants_of_words(path: str, text: str) -> Iterator[Mutant]:
    """Yield changes of one language's sentences: two names exchanged, a number another one."""
    for line in re.finditer(r"^\w+ = \"(.*)\"$", text, re.M):
        number = text.count("\n", 0, line.start()) + 1
        names = list(re.finditer(r"\{\w+\}", line[1]))
        for first, second in itertools.pairwise(names):
            if first[0] != second[0]:
                at, end = line.start(1) + first.start(), line.start(1) + second.end()
                text_after = second[0] + line[1][first.end() : second.start()] + first[0]
                yield Mutant(path=path, kind="names of one language", start=at, end=end, text=text_after, line=number)


def mutants_of(page: str, root: Path, rng: random.Random, most: int) -> list[Mutant]:
    """Return some mutants of a page, of each kind as many as of every other as far as there are."""
    by_kind: dict[str, list[Mutant]] = {}
    for path in sorted((root / "pages" / page).rglob("*.py")):
        for mutant in Finder(str(path.relative_to(root)), path.read_text("utf8")).mutants:
            by_kind.setdefault(mutant.kind, []).append(mutant)
    for lang in ("en", "zh"):
        path = root / "pages" / page / f"{lang}.toml"
        for mutant in mutants_of_words(str(path.relative_to(root)), path.read_text("utf8")):
            by_kind.setdefault(f"{mutant.kind}, {lang}", []).append(mutant)
    for mutants in by_kind.values():
        rng.shuffle(mutants)
    sample: list[Mutant] = []
    while len(sample) < most and any(by_kind.values()):
        sample += [mutants.pop() for mutants in by_kind.values() if mutants]
    return sample[:most]


# --- In a child --------------------------------------------------------------------------------------------------


def look(page: str) -> dict[str, Any]:
    """Open every section of a page.

    Return what each sends, which have a red check, which differ from the record, and the modules of ours in use.
    """
    import pytest

    from tests.running import checked, opener
    from tests.sections import link_to
    from tests.shown.contents import contents_of, differences, differences_of_languages, to_json
    from tools.record import PLACES, SETTINGS, name_of, read_chinese, read_record

    record, chinese, messages, red, wrong = read_record(), read_chinese(), {}, [], []
    places = [place for place in PLACES if place[0] == page]
    with pytest.MonkeyPatch.context() as patch:
        open_app = opener(patch)
        for place, lang in [*((place, "en") for place in places), *((place, "zh") for place in places[::2])]:
            _, view, setting = place
            name = f"{name_of(*place)} {lang}"
            app = open_app(page, **link_to(page, view), **SETTINGS[setting], lang=lang)
            if app.exception:
                wrong.append(name)
                continue
            passing, n = checked(app, view)
            if passing < n:
                red.append(name)
            contents = contents_of(app)
            messages[name] = json.loads(to_json(contents))
            expected = record[name_of(*place)]
            if lang == "en":
                lines = differences(expected, contents)
            else:
                lines = differences_of_languages(expected, chinese[name_of(*place)], contents)
            if lines:
                wrong.append(name)
    return {
        "sent": messages,
        "red": red,
        "wrong": wrong,
        "modules": [name for name in sys.modules if name[:4] == "viz."],
    }


def test(page: str) -> list[str]:
    """Run the tests of a page that need no browser; return the names of those that fail first."""
    import pytest

    class Failures:
        names: list[str]

        def __init__(self) -> None:
            self.names = []

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.names.append(report.nodeid)

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.names.append(report.nodeid)

    failures = Failures()
    plain = [option for name in ("cacheprovider", "xdist", "randomly") for option in ("-p", f"no:{name}")]
    options = ["-x", "-q", "--assert=plain", *plain, "-m", "not browser and not long", "-o", "addopts="]
    pytest.main([*options, f"tests/pages/{page}"], plugins=[failures])
    return failures.names


def in_child(run: Any, *arguments: Any, seconds: int = SECONDS) -> Any:
    """Call a function in a forked process; return what it returns, None if it ends otherwise."""
    results = Path(tempfile.mkstemp()[1])
    child = os.fork()
    if child == 0:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                results.write_text(json.dumps(run(*arguments)), "utf8")
            except BaseException:
                if os.environ.get("MUTANTS_DEBUG"):
                    traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(0)
    end = time.monotonic() + seconds
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.kill(child, 9)
        time.sleep(0.05)
    text = results.read_text("utf8")
    results.unlink()
    return json.loads(text) if text else None


# --- The whole ---------------------------------------------------------------------------------------------------


def copy_of_checkout() -> Path:
    """Copy the files that git knows into a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, files.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


class Files:
    """Files of the copy. Each change has a date of its own: Python would run what it has compiled otherwise."""

    def __init__(self, root: Path) -> None:
        self.root, self.dates = root, itertools.count(1)

    def write(self, path: str, text: str) -> None:
        """Write a file of the copy."""
        (self.root / path).write_text(text, "utf8")
        date = next(self.dates)
        os.utime(self.root / path, (date, date))


def is_alike(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return True if the same is sent, but for the last digits."""
    from tests.shown.contents import differences, from_json

    return not any(differences(from_json(before[name]), from_json(now[name])) for name in before)


def judge(page: str, mutant: Mutant, before: dict[str, Any], files: Files) -> tuple[str, str]:
    """Return what kills a mutant, "unseen", "check", "record", "test" or "", and its first sign."""
    right = (files.root / mutant.path).read_text("utf8")
    files.write(mutant.path, mutant.apply(right))
    try:
        now = in_child(look, page)
        if now is None:
            return "record", "crash"
        if red := sorted({*now["red"]} - {*before["red"]}):
            return "check", red[0]
        if now["wrong"]:
            return "record", now["wrong"][0]
        if is_alike(before["sent"], now["sent"]):
            return "unseen", ""
        names = in_child(test, page)
        return ("test", names[0] if names else "crash") if names is None or names else ("", "")
    finally:
        files.write(mutant.path, right)


def main() -> None:
    """Judge some mutants of each page; exit with 1 if fewer than a share of them are killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", help="heads, or pages/heads; all of them")
    parser.add_argument("--most", type=int, default=20, help="mutants of a page")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.0, help="share of all that has to be killed")
    options = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HEADLIGHT_SECONDS": "600", "HEADLIGHT_WAIT": "600"}
    root = copy_of_checkout()
    os.chdir(root)
    sys.path[:] = [str(root), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    sys.dont_write_bytecode = False
    from viz.frame import compute

    compute.model(compute.DEFAULT_MODEL)
    pages = [name.rstrip("/").rpartition("/")[2] for name in options.pages] or sorted(
        path.parent.name for path in root.glob("pages/*/page.py") if any(path.parent.rglob("en.toml"))
    )
    total, files = Counter[str](), Files(root)
    for page in pages:
        rng = random.Random(f"{options.seed} {page}")
        before = in_child(look, page)
        if before is None or before["red"] or before["wrong"]:
            sys.exit(f"{page}: the page itself fails: {before and before['red'] + before['wrong']}")
        for module in before["modules"]:
            importlib.import_module(module)
        counts: Counter[str] = Counter()
        for mutant in mutants_of(page, root, rng, options.most):
            verdict, sign = judge(page, mutant, before, files)
            counts[verdict] += 1
            place = f"{mutant.kind:26} {mutant.path}:{mutant.line} -> {mutant.text[:60]!r}"
            sys.stdout.write(f"  {verdict or 'SURVIVED':8} {place} {sign}\n")
            sys.stdout.flush()
        total.update(counts)
        sys.stdout.write(summary(page, counts) + "\n")
    sys.stdout.write(summary("all pages", total) + "\n")
    shutil.rmtree(root)
    n_visible = total.total() - total["unseen"]
    sys.exit(n_visible > 0 and 1 - total[""] / n_visible < options.at_least)


def summary(name: str, counts: Counter[str]) -> str:
    """Return a line of figures."""
    n_visible = counts.total() - counts["unseen"]
    return (
        f"{name}: {n_visible} mutants of what is shown, {counts['check']} killed by checks of the page, "
        f"{counts['record']} by the record, {counts['test']} by tests, {counts['']} survived; "
        f"{counts['unseen']} changed nothing that is shown"
    )


if __name__ == "__main__":
    main()
