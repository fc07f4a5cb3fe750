"""Words from right to left, each isolated from the text around it. Checked on pages open for other tests."""

from playwright.sync_api import Page

RECORD = """() => {
    window.drawnLoose = new Set();
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        if (/[\\u0590-\\u08ff]/.test(String(text).replace(/[\\u2066-\\u2068][^\\u2069]*/gu, ''))) drawnLoose.add(text);
        return fillText.call(this, text, ...rest);
    };
}"""
"""Record text written on canvases without isolation."""

LOOSE = """() => {
    const found = [...drawnLoose].map((text) => `canvas: ${text}`), roots = [document.body];
    const bare = (text) => text.replace(/[\\u2066-\\u2068][^\\u2069]*/gu, '');
    for (const root of roots) {
        for (const node of root.querySelectorAll('*')) if (node.shadowRoot) roots.push(node.shadowRoot);
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const text = walk.currentNode, around = text.parentElement;
            if (!around || !/[\\u0590-\\u08ff]/.test(bare(text.data))) continue;
            if (around.closest('style, script, textarea, code, .stDataFrame, .hidden, [role=alert]')) continue;
            if (around.closest('.st-key-above > .stElementContainer')) continue;
            const { direction, unicodeBidi } = getComputedStyle(around);
            const isApart = direction === 'rtl' || /plaintext|isolate/.test(unicodeBidi);
            if (!isApart) found.push(`${around.tagName}.${around.className}: ${text.data.slice(0, 60)}`);
        }
    }
    return found;
}"""
"""Texts with letters from right to left that are not set apart."""


def record_drawn_words(page: Page) -> None:
    """Record text written on canvases from the next visit on."""
    page.add_init_script(f"({RECORD})()")


def assert_words_are_isolated(page: Page) -> None:
    """Every word from right to left keeps its marks, and moves nothing around it."""
    loose_words = page.evaluate(LOOSE)
    assert not loose_words, loose_words
