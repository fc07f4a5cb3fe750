"""Contrast themes (forced colours): selected elements look different from others. Checked on pages open for other
tests.
"""

from functools import partial
from typing import Literal

from playwright.sync_api import Page

from tests.browser.drive import eventually, frame

ALIKE = """() => {
    const chosen = '[aria-checked=true], [aria-pressed=true], [aria-selected=true], [aria-current=page], ' +
        '.chosen, .locked, .token.query, .here, .in-row, .in-column, .off, label:has(input:checked)';
    const around = '[role=radiogroup], [role=group], [role=listbox], tbody, .heads, .tokens, .clocks, nav, ul';
    const state = /^(chosen|locked|query|key|here|in-row|in-column|off|plus|far|first|(next|below)-head)$/;
    const emotion = /^(st-emotion|e[a-z0-9]{7})/;
    const visible = { opacityProperty: true, visibilityProperty: true };

    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'Canvas';
    const canvas = getComputedStyle(probe).color;
    probe.remove();
    // Unless a view is left alone, a line that is transparent is drawn in the theme's colour.
    const isSeen = (style, colour) => style.forcedColorAdjust === 'auto' || !/, 0[)]/.test(colour);
    const line = (style, part) => {
        const [kind, width, colour] = ['Style', 'Width', 'Color'].map((name) => style[part + name]);
        if (kind === 'none' || width === '0px' || !isSeen(style, colour)) return '';
        return kind + width + (/, 0[)]/.test(colour) ? 'CanvasText' : colour);
    };
    const paper = (style) => {
        const rgb = style.backgroundColor.match(/\\d+/g).slice(0, 3).join(', ');
        const colour = style.forcedColorAdjust === 'auto' ? `rgb(${rgb})` : style.backgroundColor;
        return colour === canvas || /, 0[)]/.test(style.backgroundColor) ? '' : style.backgroundColor;
    };
    const of = (node, pseudo) => {
        const style = getComputedStyle(node, pseudo);
        if (pseudo && style.content === 'none') return '';
        const lines = ['outline', 'borderTop', 'borderBottom'].map((part) => line(style, part));
        return [paper(style), style.boxShadow, style.color, style.textDecorationLine, ...lines].join(' ');
    };
    const look = (node) => {
        const whole = node.closest('td') ?? node, parts = [whole, ...whole.querySelectorAll('*')].slice(0, 9);
        const drawn = parts.filter((part) => !part.closest('svg'));
        return drawn.flatMap((part) => [of(part), of(part, '::before'), of(part, '::after')]).join();
    };
    const kind = (node) => node.tagName +
        [...node.classList].filter((name) => !state.test(name) && !emotion.test(name)).join('.');

    const roots = [document], groups = new Map();
    for (const root of roots)
        for (const node of root.querySelectorAll('*')) {
            if (node.shadowRoot) roots.push(node.shadowRoot);
            if (node.closest('svg') || !node.offsetWidth || !node.checkVisibility(visible)) continue;
            const group = node.parentElement?.closest(around) ?? node.parentNode, name = kind(node);
            if (!groups.has(group)) groups.set(group, new Map());
            const kinds = groups.get(group);
            if (!kinds.has(name)) kinds.set(name, { yes: [], no: [] });
            kinds.get(name)[node.matches(chosen) ? 'yes' : 'no'].push(node);
        }
    const found = [];
    let compared = 0;
    for (const kinds of groups.values())
        for (const [name, { yes, no }] of kinds) {
            if (!yes.length || !no.length) continue;
            compared += 1;
            const looks = new Set(no.map(look));
            for (const node of yes) if (looks.has(look(node))) found.push(`${name} ${node.textContent.slice(0, 30)}`);
        }
    return { found, compared };
}"""
"""Selected elements that look like the others beside them; and how many groups have both. Bold letters
are not enough."""

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def assert_choices_differ(page: Page) -> None:
    """Look at everything that is chosen on a page under a light and a dark contrast theme."""
    for scheme in SCHEMES:
        page.emulate_media(forced_colors="active", color_scheme=scheme)
        frame(page)
        eventually(partial(_assert_none_alike, page))
    page.emulate_media(forced_colors="none", color_scheme="light")


def _assert_none_alike(page: Page) -> None:
    pairs = page.evaluate(ALIKE)
    assert pairs["compared"] > 0
    assert not pairs["found"], pairs["found"]
