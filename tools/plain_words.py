"""Count names and sentences that a reader has to decode, by folder: ``python -m tools.plain_words``, a step of lint.

Fails where a count is above its limit below. Limits may only shrink; CONTRIBUTING.md has the rules.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("viz", "pages", "tests", "tools", "bench")
RELEASE = "3d7a68e9"
"""The commit of the last release: subjects of later commits are looked at, in a checkout that has them."""
LIMITS = {
    ("bench", "participles"): 3,
    ("client", "participles"): 85,
    ("client", "usual"): 2,
    ("pages", "ambiguous names"): 14,
    ("pages", "participles"): 100,
    ("pages", "questions"): 2,
    ("pages", "usual"): 16,
    ("tests", "ambiguous names"): 22,
    ("tests", "long test names"): 1,
    ("tests", "participles"): 103,
    ("tests", "usual"): 1,
    ("tools", "participles"): 1,
    ("tools", "usual"): 2,
    ("viz", "ambiguous names"): 17,
    ("viz", "participles"): 192,
    ("viz", "usual"): 26,
}
"""The most findings of a kind in a folder; none where it is missing."""

QUESTION = re.compile(r"\s*(What|How|Whether|Which|Who|Whose|Where|That|Whoever|Whatever|Why)\b")
PARTICIPLE = re.compile(
    r"allowed|asked|begun|believed|blocked|broken|called|came|captured|carried|changed|chosen|closed|come|compared|"
    r"computed|counted|covered|declared|delivered|described|done|drawn|dropped|ended|explained|filled|followed|found|"
    r"given|gone|handed|held|joined|kept|known|laid|left|listed|loaded|looked|made|marked|measured|missed|moved|named|"
    r"offered|opened|ordered|painted|passed|picked|placed|printed|raised|reached|received|recorded|refused|renamed|"
    r"saved|scored|seen|sent|settled|shown|started|stopped|stored|taken|told|touched|turned|typed|unseen|wanted|"
    r"watched|written"
)
AMBIGUOUS = re.compile(r"each|everything|here|one|others?|own|said|says|something|things?|whole")
SCRIPT_NAMES = re.compile(
    r"\b(?:const|let|function|class) (\w+)|[(,{\[] ?(\w+)(?=[,}\]])|(\w+) =>|^  (\w+)\(.*\{$", re.M
)
SCRIPT_SENTENCES = re.compile(r"/\*\* ([A-Z]\w*)|\A// (\w+)")


def count_python(text: str) -> Iterator[str]:
    """Yield the kind of every finding in a Python module."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(sentence))) if QUESTION.match(sentence):
                yield "questions"
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield from count_name(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield from count_name(name)
                if name.startswith("test_") and name.count("_") > 6:
                    yield "long test names"


def count_script(text: str) -> Iterator[str]:
    """Yield the kind of every finding in a module of the client."""
    yield from ("questions" for words in SCRIPT_SENTENCES.findall(text) if QUESTION.match("".join(words)))
    for groups in SCRIPT_NAMES.findall(text):
        yield from count_name("".join(groups))


def count_name(name: str) -> Iterator[str]:
    """Yield the kind of finding that a name is, if it is one."""
    word = name.strip("_").lower()
    if PARTICIPLE.fullmatch(word):
        yield "participles"
    if AMBIGUOUS.fullmatch(word):
        yield "ambiguous names"


def count_subjects() -> int:
    """Return how many subjects of commits since the release are too long or no sentence of their own."""
    command = ["git", "log", "--no-merges", "--format=%s", f"{RELEASE}.."]
    subjects = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout.splitlines()
    return sum(len(subject) > 72 or not subject[0].isupper() or subject.endswith(".") for subject in subjects)


def main() -> None:
    """Print the counts; exit with 1 if one is above its limit."""
    counts = Counter({("commits", "subjects"): count_subjects()})
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[pj][ys]")):
            text, is_script = path.read_text(encoding="utf-8"), path.suffix == ".js"
            kinds = [
                *(count_script if is_script else count_python)(text),
                *["usual"] * len(re.findall("(?i)usual", text)),
            ]
            counts.update(("client" if is_script else folder, kind) for kind in kinds)
    for key, n in sorted(counts.items()):
        sys.stdout.write(f"{key[0]:8} {key[1]:16} {n:5} of {LIMITS.get(key, 0)}\n")
    sys.exit(any(n > LIMITS.get(key, 0) for key, n in counts.items()))


if __name__ == "__main__":
    main()
