"""A picture as one HTML file that needs nothing else: no server, no network, no other file.

Its script is the app's own (``client/``), joined into one module; its numbers lie beside it as text. A content policy
in the page lets this script run and nothing else: no request can leave it, whatever a token spells.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from viz.components import bundle
from viz.text import words_of

VIEW = "take_away/take_away"
MODES = {"http://", "https://"}
STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1a1c24; }
@media (prefers-color-scheme: dark) { :root { --page: #0e1117; --ink: #fafafa; } }
@media print { :root { --page: #fff; --ink: #000; } }
body { margin: 0 auto; max-width: 84rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
h1 { margin: 0 0 0.5rem; font-size: 1.25rem; overflow-wrap: anywhere; }
blockquote { margin: 0 0 0.5rem; font-size: 1.1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.facts { margin: 0 0 1rem; font-size: 0.85rem; overflow-wrap: anywhere; }
.facts span + span::before { content: " · "; }
a { color: inherit; }
main { --fit: 1; }
@media print { main { --fit: 0; } }
@media print { body { max-width: none; padding: 0; } }
"""
_START = """
const $at = (id) => document.getElementById(id);
const $text = atob($at("numbers").textContent), $data = new Uint8Array($text.length);
for (let i = 0; i < $text.length; i++) $data[i] = $text.charCodeAt(i);
const $state = { ...JSON.parse($at("state").textContent), data: $data };
const $model = { get: (name) => $state[name], set: (name, value) => ($state[name] = value) };
$dressed({ parentElement: $at("heads"), data: { ...$model, save_changes() {}, on() {}, off() {} } });
"""
PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Headlight">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{text}<p class="facts">{facts}</p>
<main id="heads"></main>
<noscript><p>{no_script}</p></noscript>
<script type="application/json" id="state">{state}</script>
<script type="text/plain" id="numbers">{numbers}</script>
<script type="module">{script}</script>
</body>
</html>
"""
HTML_LANGUAGES = {"en": "en", "zh": "zh-Hans"}


@dataclass(frozen=True, kw_only=True)
class Caption:
    """Text above the picture: a title, the text that was read, what else is known of it, and where it is alive.

    ``link`` is left out unless it begins with http:// or https://.
    """

    title: str
    text: str = ""
    facts: Sequence[str] = ()
    link: str = ""


@cache
def _script() -> str:
    code = bundle.dressed(VIEW) + _START
    if "</script" in code.lower() or "<!--" in code:
        raise ValueError("the client's code cannot stand inside a page")
    return code


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def grid_words(lang: str) -> dict[str, dict[str, str]]:
    """The words of the grid, and of what is around it."""
    return {"grid": dict(words_of(lang, "head_grid")), "around": dict(words_of(lang, "take_away"))}


def page(
    data: bytes, choice: Mapping[str, Any], caption: Caption, lang: str, words: Mapping[str, Any] | None = None
) -> str:
    """Return the whole page: of the bytes of :func:`viz.components.take_away.payload`, and a caption shown as text.

    ``choice`` is what is chosen when it is opened: the traits of :class:`viz.notebook.widget.HeadGrid`; ``words`` stand
    in place of the language's own.
    """
    words, script = words or grid_words(lang), _script()
    policy = f"script-src {_hash_source(script)}; style-src {_hash_source(STYLE)}; base-uri 'none'; form-action 'none'"
    around, facts = words["around"], [escape(fact) for fact in caption.facts]
    if any(caption.link.startswith(mode) for mode in MODES):
        facts.append(f'<a href="{escape(caption.link)}" rel="noreferrer">{escape(around["open"])}</a>')
    return PAGE.format(
        lang=HTML_LANGUAGES[lang],
        policy=f"default-src 'none'; {policy}",
        title=escape(caption.title),
        text=f'<blockquote dir="auto">{escape(caption.text)}</blockquote>\n' if caption.text else "",
        facts="".join(f"<span>{fact}</span>" for fact in facts),
        no_script=escape(around["no_script"]),
        style=STYLE,
        state=json.dumps({**choice, "words": words}).replace("<", "\\u003c"),
        numbers=base64.b64encode(data).decode(),
        script=script,
    )
