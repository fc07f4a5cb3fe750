"""Shared keys and values in a real browser: the maps, the growing cache, and phones."""

import pytest
import torch
from playwright.sync_api import Locator, expect
from torch.testing import assert_close

from pages.share_kv.page import PAGE
from tests.browser.drive import PHONE, wait_run
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.models.kv_sharing import with_fewer
from viz.text import LANGUAGES, translator

T = translator("en")
TABS = [section.name for section in PAGE.sections if not section.in_menu]
REAL = specs.Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)


@pytest.mark.fast
def test_brackets_hold_the_heads_that_share(visit):
    page = visit("share-kv", n_kv_heads=4)
    groups = page.locator(".sharing .group")
    expect(groups).to_have_count(4)
    for group in range(4):
        expect(groups.nth(group).locator(".kv canvas")).to_have_count(2)
        expect(groups.nth(group).locator(".head figcaption")).to_have_text([f"head {3 * group + i}" for i in range(3)])
    payload = page.locator(".sharing").evaluate("view => Array.from(view.sharing.data.weights)")
    weights = torch.tensor(payload).view(12, 16, 16) / 65535
    assert_close(weights, with_fewer(compute.read(REAL), 4).layer(3).weights, atol=1e-5, rtol=0)
    canvas = groups.nth(1).locator(".head canvas").first
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] * 2.5 / 16, "y": box["height"] * 9.5 / 16})
    labels = compute.read(REAL).tokens.labels
    for row in (9, 10):
        value = f"{float((weights[3, row, 2] * 65535).round() / 65535):.4f}"
        sentence = T("share_kv.picture.says", head=3, read=1, query=labels[row], key=labels[2], value=value)
        expect(page.locator(".sharing .says")).to_have_text(sentence)
        canvas.press("ArrowDown")


def test_slider_updates_brackets_in_place(visit):
    page = visit("share-kv", n_kv_heads=4)
    page.locator(".sharing").evaluate("view => { view.kept = true }")
    page.locator(".st-key-n_kv_heads input[type=range]").press("ArrowRight")
    wait_run(page)
    expect(page.locator(".sharing .group")).to_have_count(6)
    assert page.locator(".sharing").evaluate("view => view.kept")
    assert "n_kv_heads=6" in page.url


def test_mistake_marks_wrong_heads(visit):
    """A head's map has the colour of the keys and values that it reads."""
    page = visit("share-kv", n_kv_heads=2, mistake=1)
    wrong = page.locator(".sharing .head.wrong")
    expect(wrong).to_have_count(6)
    expect(wrong.first).to_contain_text("head 1 reads K/V 1")
    *pixel, _ = wrong.first.locator("canvas").evaluate("c => [...c.getContext('2d').getImageData(0, 0, 1, 1).data]")
    assert pixel == pytest.approx(page.locator(".sharing").evaluate("v => v.sharing.data.hues.heads[1]"), abs=3)


def test_cache_grows_and_counts_bytes(visit):
    page = visit("share-kv", n_kv_heads=3, section="growing_cache")
    cache = page.locator(".kv-cache")
    expect(cache.locator(".rows canvas")).to_have_count(6)
    token = 6 * 3 * 64 * 2

    def at(n):
        cache.locator("input").evaluate("(e, n) => { e.value = n; e.dispatchEvent(new Event('input')); }", n)
        return cache.evaluate("view => view.kvCache.counted")

    assert at(1) == {"held": token, "written": token, "read": token, "total": token}
    assert at(16) == {"held": 16 * token, "written": token, "read": 16 * token, "total": 136 * token}
    expect(cache.locator("tr").nth(2)).to_contain_text("36 KiB")
    expect(cache.locator(".place")).to_have_text(T("share_kv.cache.place", at=16, n=16))
    at(15)
    column_script = """view => { const c = view.querySelector('.rows canvas'), n = 16;
        const x = c.getContext('2d'), w = c.width / n;
        const lit = (i) => x.getImageData(i * w + w / 2, 0, 1, c.height).data.some((v) => v > 0);
        return Array.from({length: n}, (_, i) => lit(i)) }"""
    assert cache.evaluate(column_script) == [True] * 15 + [False]
    play = cache.locator("button.play")
    play.click()
    expect(cache.locator(".place")).to_have_text(T("share_kv.cache.place", at=16, n=16))
    expect(play).to_contain_text(T("share_kv.cache.play"))  # it stops by itself at the end
    play.click()
    expect(play).to_contain_text(T("share_kv.cache.pause"))
    play.click()


def test_cached_numbers_are_read(visit):
    """A number in the cache is read by pointer and keys; of a token that is still to come there is none."""
    page = visit("share-kv", n_kv_heads=3, section="growing_cache")
    cache = page.locator(".kv-cache")
    labels, first, second = cache.evaluate("({ kvCache: { data } }) => [data.labels, data.k[0], data.k[data.d_k]]")
    keys = cache.locator(".picture").first
    keys.focus()
    page.keyboard.press("ArrowRight")
    expect(cache.locator(".live")).to_have_text(f"K 0 · {labels[0]} · 0: {first:.4f}".replace("-", "−"))
    page.keyboard.press("ArrowRight")
    expect(cache.locator(".tip")).to_have_text(f"K 0 · {labels[1]} · 0: {second:.4f}".replace("-", "−"))
    box = keys.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 2)
    expect(cache.locator(".tip")).to_contain_text(f"K 0 · {labels[0]}")
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 2)
    expect(cache.locator(".tip")).to_be_hidden()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_menu_and_pills_open_views(visit, lang):
    page, t = visit("share-kv", lang=lang), translator(lang)
    names = page.locator(".st-key-section button")
    expect(names).to_have_count(len(TABS))
    page.locator(".st-key-_more button").click()
    page.get_by_role("option", name=t("share_kv.published.title")).or_(
        page.get_by_role("menuitem", name=t("share_kv.published.title"))
    ).click()
    wait_run(page)
    expect(page.locator(".st-key-section_published")).to_be_visible()
    names.filter(has_text=t("share_kv.growing_cache.title")).click()
    wait_run(page)
    page.locator(".st-key-view button").filter(has_text=t("share_kv.savings.title")).click()
    wait_run(page)
    expect(page.locator(".st-key-section_savings")).to_be_visible()
    expect(page.locator(".sharing")).to_have_count(0)
    assert "section=growing_cache" in page.url and "view=savings" in page.url
    for row in (names, page.locator(".st-key-view button")):
        assert len({round(box["y"]) for box in map(Locator.bounding_box, row.all())}) == 1


def test_a_formula_ends_on_a_phone(visit):
    """The last sign of every line stands on the screen, the unit of the bytes as well."""
    page = visit("share-kv", viewport=PHONE, section="all")
    formulas = page.locator(".katex-display .katex-html")
    for section in ("who_shares", "published", "converted"):
        page.locator(f".st-key-_footer_{section}").get_by_text(T("footer.why")).click()
        expect(page.locator(f".st-key-section_{section}").locator(formulas).last).to_be_visible()
    ends = formulas.evaluate_all("all => all.map((formula) => formula.getBoundingClientRect().right)")
    assert max(ends) <= PHONE[0]
