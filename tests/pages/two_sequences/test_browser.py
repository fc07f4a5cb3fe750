"""The rectangle in a real browser: its numbers are torch's, its sentences name the right text, its link restores it."""

import pytest
import torch
from playwright.sync_api import expect
from torch.testing import assert_close

from tests.browser.drive import PHONE, open_section, query_of, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from tests.browser.test_head_grid import NEAR, grid_of, number_in, place, sent_while, sentence_of, values
from viz.core.attention import row_softmax
from viz.frame import compute, specs
from viz.frame.examples import pairs
from viz.text import translator

T = translator("en")
PAIR = pairs()[0]


def crossed(text=PAIR.text, target=PAIR.target, **source):
    kind = {"kind": "model", "model": compute.DEFAULT_MODEL} | source
    return compute.read(specs.Source(text=text, target=target, **kind))


@pytest.mark.fast
def test_rectangle_equals_torch_and_link(visit, new_page):
    page = visit("two-sequences", section="cross_attention")
    grid, capture = grid_of(page), crossed()
    weights, rows, columns = capture.layer(3).weights[1], capture.queries.labels, capture.tokens.labels
    assert weights.shape == (13, 16)
    assert_close(values(grid).view(13, 16), weights, atol=NEAR, rtol=0)
    assert f"“its” looks most at “animal” {float(weights[6, 2]):.2f}" in sentence_of(page)
    assert grid.locator(".tokens").nth(0).locator(".token").all_inner_texts() == list(rows)
    assert grid.locator(".tokens").nth(1).locator(".token").all_inner_texts() == list(columns)
    assert grid.locator("select option").evaluate_all("(all) => all.map((one) => one.value)") == [
        "model", "entropy", "same", "first", "link",
    ]  # fmt: skip

    def point():
        for query, key in ((10, 2), (3, 13), (12, 15)):
            page.mouse.move(*place(grid, query, key))
            sentence = sentence_of(page)
            assert sentence.startswith(f"“{rows[query]}” gives") and sentence.endswith(f"to “{columns[key]}”.")
            assert abs(number_in(sentence) - float(weights[query, key])) < 6e-5

    assert sent_while(page, point) == [], "pointing costs no round trip"
    page.mouse.move(0, 0)
    grid.locator(".thumb").nth(5 * 12 + 11).click()
    page.mouse.click(*place(grid, 3, 2))
    expect(grid.locator(".chip")).to_have_text(["locked: query “dog” ✕", "locked: key “animal” ✕"])
    wait_run(page)
    expected = {"layer": "5", "head": "11", "cross_query": "3", "cross_key": "2"}
    assert expected.items() <= query_of(page).items() and "query" not in query_of(page)
    page.locator(".st-key-_more button").click()
    page.get_by_role("option", name=T("two_sequences.scoring.title")).or_(
        page.get_by_role("menuitem", name=T("two_sequences.scoring.title"))
    ).click()
    wait_run(page)
    assert {"layer": "5", "head": "11", "section": "scoring"}.items() <= query_of(page).items()
    strip = page.locator(".maps").first  # the scoring functions follow the head
    plotted = torch.tensor(strip.evaluate("(root) => Array.from(root.maps.data.values)")).view(3, 13, 16)
    trace = capture.layer(5)
    assert_close(plotted[1], row_softmax(trace.q[11] @ trace.k[11].T / 32**0.5), atol=1e-5, rtol=0)

    page.locator(".st-key-section").get_by_text(T("two_sequences.cross_attention.title")).click()
    wait_run(page)
    assert expected.items() <= query_of(page).items(), "the lock is still there"
    second = new_page()
    second.goto(page.url)
    wait_run(second)
    again = grid_of(second)
    assert_close(values(again).view(13, 16), trace.weights[11], atol=NEAR, rtol=0)
    assert abs(number_in(sentence_of(second)) - float(trace.weights[11, 3, 2])) < 6e-5
    # the same head, each text by itself
    second.get_by_role("radio", name=T("two_sequences.between_target")).click()
    wait_run(second)
    alone = compute.read(specs.Source(kind="model", text=PAIR.target, model=compute.DEFAULT_MODEL)).layer(5).weights[11]
    expect(second.locator(".head-grid .tokens")).to_have_count(1)
    assert_close(values(grid_of(second)).view(13, 13), alone, atol=NEAR, rtol=0)
    assert query_of(second)["between"] == "target"


def test_one_word_asks_five_hundred(visit):
    page = visit(
        "two-sequences", target="why", text=" ".join([PAIR.text] * 40), hide=1, cross_query=1, section="cross_attention"
    )
    grid = grid_of(page)
    capture = crossed(" ".join([PAIR.text] * 40), "why")
    weights = capture.layer(3).weights[1]
    assert weights.shape == (3, 512)
    row = weights[1, 1:-1] / weights[1, 1:-1].sum()
    assert_close(values(grid), row, atol=NEAR, rtol=0)
    box = grid.locator(".window").first
    cell = grid.evaluate("(root) => root.headGrid.maps.cell")
    assert cell >= 14, "a cell can still be hit"
    assert box.evaluate("(box) => box.scrollWidth > box.clientWidth"), "and the rest is a scroll away"
    box.evaluate("(box) => { box.scrollLeft = 2000; }")
    key = int(2000 / cell) + 5
    page.mouse.move(*place(grid, 0, key))
    assert sentence_of(page).startswith("“why” gives")
    assert abs(number_in(sentence_of(page)) - float(row[key])) < 6e-5


def test_on_a_phone(visit):
    t = translator("zh")
    words = {"source": "words", "text": "The cat sat <b>here</b>.", "target": "猫坐在垫子上。"}
    link = {"section": "cross_attention", **words}
    page = visit("two-sequences", viewport=PHONE, scheme="dark", lang="zh", **link)
    grid = grid_of(page)
    assert is_wider_than_the_window(page) == []
    capture = crossed(words["text"], words["target"], kind="words", model="", d_model=16, n_heads=4, n_kv_heads=4)
    assert_close(values(grid).view(7, 12), capture.layer(0).weights[1], atol=NEAR, rtol=0)
    assert t("head_grid.queries") in grid.inner_text() and t("head_grid.keys") in grid.inner_text()
    expect(page.get_by_text(t("two_sequences.heads_words", seed=0))).to_be_visible()
    open_section(page, t("two_sequences.scoring.title"))
    wait_run(page)
    assert is_wider_than_the_window(page) == []
    box = page.locator(".maps canvas").first.bounding_box()
    cell = (box["width"] - 64) / 12
    assert abs(box["height"] - (64 + 7 * cell)) < 2, "a map of 7 × 12 cells is drawn 7 × 12"
    page.locator(".maps canvas").first.hover(position={"x": 64 + 6.5 * cell, "y": 64 + 2.5 * cell})
    assert t("map.looks", query="在", key="here") in page.locator(".maps .says").first.inner_text()


def test_matrices_share_scale(visit):
    """The inner sizes of each product are as long as each other, whatever the scale."""
    page = visit("two-sequences", section="scoring", source="words", score_show="widths")

    def sizes():
        boxes = [box.bounding_box() for box in page.locator(".shapes .picture").all()]
        return [[(box["width"], box["height"]) for box in boxes[i : i + 3]] for i in range(0, 18, 3)]

    expect(page.locator(".shapes .picture")).to_have_count(18)
    for left_edge, right, result in sizes():
        assert abs(left_edge[0] - right[1]) < 2, "columns of the first factor, rows of the second"
        assert abs(left_edge[1] - result[1]) < 2 and abs(right[0] - result[0]) < 2
    (x, w_q, _), (m, w_k, _), *_ = sizes()
    assert abs(x[0] / m[0] - 10 / 7) < 0.05 and abs(x[0] / w_q[0] - 10 / 8) < 0.05
    page.get_by_label(T("two_sequences.width_d_memory")).fill("20")
    page.keyboard.press("Enter")
    wait_run(page)
    (x, _, _), (m, w_k, _), *_ = sizes()
    assert abs(m[0] / x[0] - 2) < 0.05 and abs(w_k[1] - m[0]) < 2
    expect(page.locator(".shapes .box").nth(3)).to_contain_text("12 × 20")
