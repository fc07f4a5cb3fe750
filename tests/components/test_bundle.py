"""A view bundled into one file: the same behaviour as its modules, and a name by its content."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest

from viz import ROOT
from viz.components import bundle

NODE = shutil.which("node")
MODULES = {
    "lib/base.js": """
const secret = 3;
export const TIMES = secret, PLUS = 1;
export function twice(x) {
  return TIMES * x;
}
""",
    "lib/upon.js": """
import { twice } from "./base.js";

const secret = 5;
export class Sum {
  static of(x) {
    return twice(x) + secret;
  }
}
""",
    "toy/toy.js": """// @ts-check
import {
  PLUS as plus,
  twice,
} from "../lib/base.js";
import { Sum } from "../lib/upon.js";

const secret = 7;
export default ({ data }) => [Sum.of(data), twice(data), secret, plus];
""",
    "toy/toy.css": '.toy::before {\n  content: "\\"";\n}\n',
}


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A web root with one view of three modules."""
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf8")
    monkeypatch.setattr(bundle, "CLIENT", tmp_path)
    bundle.bundle.cache_clear()
    yield tmp_path
    bundle.bundle.cache_clear()


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests run the views themselves")
def test_bundle_isolates_names_and_style(client, tmp_path):
    """Joined modules keep their names apart; the style is put into a root of its own."""
    run = """
        globalThis.CSSStyleSheet = class { replaceSync(css) { this.css = css; } };
        const { default: view } = await import("./toy.mjs"), root = { getRootNode: () => root };
        const parentElement = { attachShadow() { this.shadowRoot = this.shadowRoot ? null : root; return root; } };
        const said = [view({ data: 11, parentElement }), view({ data: [13], parentElement })];
        console.log(JSON.stringify([...said, root.adoptedStyleSheets.map((sheet) => sheet.css)]));
    """
    (tmp_path / "toy.mjs").write_bytes(bundle.bundle("toy/toy")[1])
    process = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", run], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    style = bundle.EVERY_VIEW + '.toy::before {\n  content: "\\"";\n}\n'
    assert json.loads(process.stdout or "null") == [[38, 33, 7, 1], [44, 39, 7, 1], [style]], process.stderr


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("lib/base.js", 'import { Sum } from "./upon.js";\nexport const TIMES = 1;\n', "imports itself"),
        ("lib/base.js", "export let TIMES = 1;\n", "export let"),
        ("lib/base.js", 'export { twice } from "./upon.js";\n', "export { twice }"),
        ("toy/toy.js", 'import * as base from "../lib/base.js";\nexport default () => base;\n', "import \\* as base"),
        ("toy/toy.js", 'export default () => import("../lib/base.js");\n', "import\\("),
        ("toy/toy.js", "export default () => import( `../lib/${1}.js`);\n", "import\\("),
        ("toy/toy.js", "export const view = 1;\n", "exports 0 views"),
    ],
)
def test_bundle_refuses_unjoinable_modules(client, name, text, reason):
    (client / name).write_text(text, "utf8")
    with pytest.raises(ValueError, match=reason):
        bundle.bundle("toy/toy")


def test_bundle_leaves_out_comments(client):
    """Those that have lines to themselves; what only looks like one stays."""
    with (client / "toy/toy.js").open("a") as out:
        out.write("""// alone
  /** @param {number} n
   * of several lines */
/** @type {number} */ (0); const link = "https://a.example"; // behind code
/*! a licence */
""")
    code = bundle.bundle("toy/toy")[1].decode()
    assert "alone" not in code and "several lines" not in code
    assert '/** @type {number} */ (0); const link = "https://a.example"; // behind code\n/*! a licence */' in code


def test_file_name_holds_content_hash(client):
    name, content = bundle.bundle("toy/toy")
    assert re.fullmatch(r"toy-[0-9a-f]{16}\.js", name)
    for file in ("lib/base.js", "toy/toy.css"):
        with (client / file).open("a") as out:
            out.write("\n;\n")
        bundle.bundle.cache_clear()
        assert bundle.bundle("toy/toy")[0] != name
        name, content = bundle.bundle("toy/toy")
    bundle.bundle.cache_clear()
    assert bundle.bundle("toy/toy") == (name, content)


@pytest.mark.parametrize("view", bundle.views())
def test_every_view_is_one_file(view):
    name, content = bundle.bundle(view)
    code = content.decode()
    assert not re.search(r"^import\b", code, re.MULTILINE), "nothing more is asked for"
    assert len(re.findall(r"^export default\b", code, re.MULTILINE)) == 1
    assert name.startswith(view.rpartition("/")[2])


MINISEARCH = "0393b3ba253b809d5e55707c7b0875ef9b518a296a006c6739b28876e154edb3"
"""SHA-256 of ``dist/es/index.js`` in minisearch 7.2.0, as npm has it."""


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests run the views themselves")
def test_every_view_can_be_parsed(tmp_path):
    """A private name that its class does not have is found here, and not by the user who opens the page."""
    for view in bundle.views():
        name, content = bundle.bundle(view)
        (tmp_path / name).with_suffix(".mjs").write_bytes(content)
    read = "require('fs').readFileSync(file, 'utf8')"
    check = f"for (const file of process.argv.slice(1)) new (require('vm').SourceTextModule)({read})"
    files = map(str, sorted(tmp_path.iterdir()))
    command = [str(NODE), "--experimental-vm-modules", "--no-warnings", "--eval", check, *files]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr


def test_library_equals_its_publication():
    """Nobody changes a library's file, and its licence stands beside it."""
    folder = bundle.CLIENT / "vendor" / "minisearch"
    assert hashlib.sha256((folder / "minisearch.js").read_bytes()).hexdigest() == MINISEARCH
    assert "Copyright 2022 Luca Ongaro" in (folder / "LICENSE.txt").read_text("utf8")
    assert "MiniSearch" in (ROOT / "THIRD_PARTY.md").read_text("utf8")
