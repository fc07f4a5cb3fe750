"""A view's modules and its style as one file, made in memory from the sources under ``client/`` when first needed.

A browser would ask for the fourteen modules of the head grid in two rounds, the second only when it has read the
first. The file's name holds a hash of its content: so a browser may cache it for ever.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

CLIENT = Path(__file__).with_name("client")
_IMPORT = re.compile(r'^import \{([^{}]+)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
_OTHER_IMPORT = re.compile(r"^import\b.*|^[^/*\n]*\bimport(?:\(\s*[\"'`]|\.meta).*", re.MULTILINE)
"""Other imports are refused: one file has no paths to other modules. Code loaded later has an address from Python."""
_OTHER_EXPORT = re.compile(r"^export\b.*", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_NAMED_DEFAULT = re.compile(r"^export \{ (\w+) as default \};$", re.MULTILINE)
"""The end of a library's file (``client/vendor``), which stays as its authors publish it."""
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?!!)(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
"""A comment that has its lines to itself: a fifth of what a browser would get."""
_WITH_STYLE = """
const $sheet = new CSSStyleSheet();
$sheet.replaceSync({style});
const $dressed = (sent) => {{
  sent.parentElement.getRootNode().adoptedStyleSheets = [$sheet];
  return $view(Array.isArray(sent.data) ? {{ ...sent, data: sent.data[0] }} : sent);
}};
"""
"""Streamlit would send a component's style with every change of its data; ``mount`` says why data is in a list."""

IN_SHADOW_ROOT = """
export default (sent) => {
  const own = sent.parentElement;
  return $dressed({ ...sent, parentElement: own.shadowRoot ?? own.attachShadow({ mode: "open" }) });
};
"""
"""Our style is ours, the page's is its own. Streamlit sees to that, too (``isolate_styles``), but draws all of its page
once more before it calls the code."""

PRINT_STYLES = """@media print { @container style(--page-ink: #fff) {
  * { color: #000 !important; }
  :not([style*="background"]) { background-color: transparent !important; }
  canvas { filter: invert(1) hue-rotate(180deg); }
} }
"""
"""Of every view: what it shows on a dark page is printed black on white (``assets/style.css``). The colours that a
canvas is drawn in stay as they were, because it is turned over."""

CONTRAST = """@media (forced-colors: active) {
  :host, .take-away { forced-color-adjust: none; color: CanvasText;
    --st-text-color: CanvasText !important; --st-border-color: CanvasText !important;
    --st-background-color: Canvas !important; --st-secondary-background-color: Canvas !important;
    --st-primary-color: Highlight !important; --st-link-color: LinkText !important; }
  .segments button[aria-checked="true"] { background: Highlight !important; color: HighlightText !important; }
  button:disabled { color: GrayText !important; }
}
"""
"""Of every view, under a contrast theme: the theme's colours stand in for Streamlit's. The browser would put them in by
itself, but take away all by which a view says what is chosen: shadows, backgrounds, borders that are seen or not."""

WORDS = """th, td > span, .word, .option span, .order li > span, .long-map .text { unicode-bidi: plaintext; }
"""
"""Of every view: words of the user's text each run in their own direction."""

EVERY_VIEW = PRINT_STYLES + CONTRAST + WORDS


def views() -> list[str]:
    """Every view, by its folder and name, as in "masks/growing": what has a style of its own name and is one.

    Other modules with a style are what views are made of.
    """
    styled = [style.with_suffix(".js") for style in CLIENT.glob("*/*.css")]
    return sorted(
        module.relative_to(CLIENT).with_suffix("").as_posix()
        for module in styled
        if _DEFAULT.search(module.read_text("utf8"))
    )


def join_modules(entry: Path) -> str:
    """A module with all it imports before it, each in a scope of its own; it still exports what it exports.

    Raises:
        ValueError: if a module imports or exports in another way than all do here, or modules import in a circle.
    """
    order, names = _order_modules(entry)
    return "\n".join(_scope(module, sorted(names[module])) for module in order[:-1]) + _body(order[-1])


def _order_modules(entry: Path) -> tuple[list[Path], dict[Path, set[str]]]:
    """Return the modules in dependency order, and the names that are imported from each."""
    order: list[Path] = []
    names: dict[Path, set[str]] = {}
    _collect(_resolve(entry), order, names, ())
    return order, names


def _collect(module: Path, order: list[Path], needed: dict[Path, set[str]], ancestors: tuple[Path, ...]) -> None:
    """Append a module after its imports, and record the names imported from each."""
    if module in ancestors:
        raise ValueError(f"{module.name} imports itself, by way of {ancestors[-1].name}")
    if module in order:
        return
    for names, path in _IMPORT.findall(module.read_text("utf8")):
        imported = _resolve(module.parent / path)
        needed.setdefault(imported, set()).update(re.findall(r"(?:^|,)\s*(\w+)", names))
        _collect(imported, order, needed, (*ancestors, module))
    order.append(module)


@cache
def _resolve(path: Path) -> Path:
    """Resolve a path, cached: every view would otherwise ask the system for each folder on the way."""
    return path.resolve()


def _name(module: Path) -> str:
    return "$" + re.sub(r"\W", "_", module.relative_to(_resolve(CLIENT)).with_suffix("").as_posix())


def _body(module: Path) -> str:
    """A module's text, which takes what it imports from the scopes before it."""

    def to_destructuring(match: re.Match[str]) -> str:
        return f"const {{{match[1].replace(' as ', ': ')}}} = {_name(_resolve(module.parent / match[2]))};\n"

    text = module.read_text("utf8")
    is_ours = "vendor" not in module.parts
    body = _IMPORT.sub(to_destructuring, _COMMENT.sub("", text) if is_ours else text)
    _refuse(_OTHER_IMPORT, module, body)
    return f"// {module.relative_to(_resolve(CLIENT)).as_posix()}\n{body}"


def _refuse(pattern: re.Pattern[str], module: Path, body: str) -> None:
    if match := pattern.search(body):
        raise ValueError(f"{module.name}: {match[0]!r} cannot be joined with other modules")


def _scope(module: Path, names: list[str]) -> str:
    body = _EXPORT.sub("", _body(module))
    # As in ``import { default as grid } from``.
    if "default" in names:
        body = _NAMED_DEFAULT.sub(r"const $default = \1;", _DEFAULT.sub("const $default = ", body))
    _refuse(_OTHER_EXPORT, module, body)
    exports = ", ".join("default: $default" if name == "default" else name for name in names)
    return f"const {_name(module)} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def _style(entry: Path) -> str:
    """The style of a view, behind those of the views it is made of, and what holds for all."""
    styles = [module.with_suffix(".css") for module in _order_modules(entry)[0]]
    return EVERY_VIEW + "".join(style.read_text("utf8") for style in styles if style.is_file())


def dressed(view: str) -> str:
    """A view's code, which makes of it the function ``$dressed``: it puts the style on, then shows the view."""
    entry = CLIENT / f"{view}.js"
    code, n_defaults = _DEFAULT.subn("const $view = ", join_modules(entry))
    if n_defaults != 1:
        raise ValueError(f"{entry.name} exports {n_defaults} views, not one")
    return code + _WITH_STYLE.format(style=json.dumps(_style(entry)))


@cache
def bundle(view: str) -> tuple[str, bytes]:
    """A view's file: its name, and what is in it."""
    content = (dressed(view) + IN_SHADOW_ROOT).encode()
    return f"{Path(view).name}-{hashlib.blake2b(content, digest_size=8).hexdigest()}.js", content
