"""Count names and sentences that a reader has to decode, by folder: ``python -m tools.plain_words``, a step of lint.

Fails where a count is above its limit in plain_words.toml. CONTRIBUTING.md has the rules.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("viz", "pages", "tests", "tools", "bench")
RELEASE = "3d7a68e9"
"""The commit of the last release: subjects of later commits are looked at, in a checkout that has them."""
LIMITS = tomllib.loads((ROOT / "tools" / "plain_words.toml").read_text(encoding="utf-8"))

QUESTION = re.compile(r"\s*(What|How|Whether|Which|Who|Whose|Where|That|Whoever|Whatever|Why)\b")
PARTICIPLE = re.compile(
    r"asked|begun|believed|blocked|broken|called|came|captured|carried|changed|chosen|closed|come|compared|"
    r"computed|counted|covered|declared|delivered|described|done|drawn|dropped|ended|explained|filled|followed|found|"
    r"given|gone|handed|held|joined|kept|known|laid|listed|loaded|looked|made|marked|measured|missed|moved|named|"
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
    limits = {key: LIMITS.get(key[0], {}).get(key[1], 0) for key in counts}
    sys.stdout.writelines(
        f"{folder:8} {kind:16} {n:5} of {limits[folder, kind]}\n" for (folder, kind), n in sorted(counts.items())
    )
    sys.exit(any(n > limits[key] for key, n in counts.items()))


if __name__ == "__main__":
    main()
