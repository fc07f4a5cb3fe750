"""The head grid in a real browser: its numbers are torch's, its choices stay, and it is quick and harmless."""

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from torch.nn.functional import max_pool2d
from torch.testing import assert_close

from tests.browser.drive import PATIENCE, PHONE, address, frame, query_of, serve, wait_run
from viz.core.analysis import map_statistics
from viz.core.analysis.head_statistics import head_statistics
from viz.frame import compute, specs
from viz.frame.examples import examples

TEXT = examples()[0].text
LONG = " ".join([TEXT] * 10)  # 142 tokens: the wall is pooled, the head exact
LONGEST = " ".join([TEXT] * 40)  # 512 tokens: the head takes two bytes a cell
FOLDER = Path(__file__).parent
LIT = """(grid, [index, query, key]) => {
    const { buttons, lights } = grid.headGrid.thumbs, scale = devicePixelRatio, all = lights.getBoundingClientRect();
    const map = buttons[index].getBoundingClientRect(), { n_queries, n_keys } = grid.headGrid.wall;
    const isLit = (i, j) => {
        const x = map.left - all.left + (map.width * (j + 0.5)) / n_keys;
        const y = map.top - all.top + (map.height * (i + 0.5)) / n_queries;
        return lights.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data[3] > 0;
    };
    return [isLit(query, key - 3), isLit(query + 3, key - 3), isLit(query + 3, key)];
}"""
"""True if a head's map is lit in the row of a query, beside it, and in the column of a key."""
NEAR = 1e-5  # half a step of 16 bits (7.6e-6), and float32 rounding, which differs with the number of threads


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A server of a page that has the grid alone: most tests need no more, and are quicker for it."""
    with serve(FOLDER / "grid_app.py", tmp_path_factory.mktemp("bare") / "log.txt") as running:
        yield running


@pytest.fixture
def see(new_page, bare):
    """Open the page with the grid alone; names as in ``visit``."""

    def open_grid(**link):
        page = new_page()
        page.goto(address(bare.url, **link))
        wait_run(page)
        return page

    return open_grid


def source(text=TEXT):
    return specs.Source(kind="model", text=text, model=compute.DEFAULT_MODEL)


def layer(i, text=TEXT, **options):
    return compute.read(source(text)).layer(i, **options)


def grid_of(page):
    grid = page.locator(".head-grid")
    expect(grid.locator(".says")).not_to_be_empty(timeout=PATIENCE)
    return grid


def sentence_of(page):
    frame(page)
    return page.locator(".head-grid .says").inner_text()


def values(grid, what="map.values"):
    numbers = grid.evaluate(f"(root) => Array.from(root.headGrid.{what}, (x) => Number.isFinite(x) ? x : null)")
    return torch.tensor([-torch.inf if number is None else number for number in numbers])


def place(grid, query, key):
    """The place of a large map's cell on the screen, scrolled into view."""
    grid.locator(".window").first.scroll_into_view_if_needed()
    return grid.evaluate(
        """(root, [query, key]) => {
            const map = root.headGrid.maps, box = map.canvas.getBoundingClientRect();
            return [box.left + map.left + (key + 0.5) * map.cell, box.top + map.top + (query + 0.5) * map.cell];
        }""",
        [query, key],
    )


def heat(grid, step, event):
    """Move the temperature's handle: "input" while it is dragged, "change" when it is let go."""
    grid.locator(".temperature input").evaluate(
        "(slider, [step, event]) => { slider.value = step; slider.dispatchEvent(new Event(event)); }", [step, event]
    )
    return round(10 ** (step / 20), 2)


def number_in(sentence):
    return float(re.search(r"\d\.\d{4}", sentence)[0])


def sent_while(page, act):
    """Return the messages of the browser during an action (Streamlit's keep-alive apart)."""
    cdp, frames = page.context.new_cdp_session(page), []
    cdp.send("Network.enable")
    cdp.on("Network.webSocketFrameSent", lambda event: frames.append(event["response"]["payloadData"]))
    act()
    page.wait_for_timeout(400)
    cdp.detach()
    return frames


def test_first_paint_and_tooltip_values(visit):
    page = visit()
    grid = grid_of(page)
    weights = torch.stack([layer(i).weights for i in range(6)])
    assert "“it” looks most at “animal” 0.68" in sentence_of(page)
    assert grid.locator(".thumb.chosen").get_attribute("aria-label") == "layer 3, head 1"
    assert_close(values(grid).view(16, 16), weights[3, 1], atol=NEAR, rtol=0)
    expect(grid.locator(".large")).to_have_attribute(
        "aria-label", re.compile(r"layer 3, head 1: 16 queries by 16 keys")
    )

    def point():
        for query, key in ((10, 2), (3, 13), (15, 0)):
            page.mouse.move(*place(grid, query, key))
            sentence = sentence_of(page)
            labels = compute.read(source()).tokens.labels
            assert sentence.startswith(f"“{labels[query]}” gives")
            assert abs(number_in(sentence) - float(weights[3, 1, query, key])) < 6e-5
        thumb = grid.locator(".thumb").nth(8 + 12)
        thumb.scroll_into_view_if_needed()
        box = thumb.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 9.5 / 16, box["y"] + box["height"] * 8.5 / 16)
        sentence = sentence_of(page)
        assert sentence.startswith("layer 1, head 8: “street” gives")
        assert abs(number_in(sentence) - float(weights[1, 8, 8, 9])) < 6e-5
        assert grid.evaluate(LIT, [10, 8, 9]) == grid.evaluate(LIT, [71, 8, 9]) == [True, False, True], "in every map"

    assert sent_while(page, point) == [], "pointing costs no round trip"


def test_selection_is_restored_from_link(visit, new_page):
    page = visit()
    grid = grid_of(page)
    grid.locator(".thumb").nth(5 * 12 + 11).click()
    page.mouse.click(*place(grid, 6, 8))
    expect(grid.locator(".chip")).to_have_count(2)
    wait_run(page)
    expected = {"layer": "5", "head": "11", "query": "6", "key": "8"}
    assert expected.items() <= query_of(page).items()
    expect(page.get_by_text("Layer 5, head 11", exact=False).first).to_be_visible()

    second_page = new_page()
    second_page.goto(page.url)
    wait_run(second_page)
    again = grid_of(second_page)
    assert again.locator(".thumb.chosen").get_attribute("aria-label") == "layer 5, head 11"
    assert abs(number_in(sentence_of(second_page)) - float(layer(5).weights[11, 6, 8])) < 6e-5

    page.mouse.click(*place(grid, 6, 8))  # the same cell again unlocks
    expect(grid.locator(".chip")).to_have_count(0)
    wait_run(page)
    assert query_of(page).get("query") == "-1"


def test_keys_walk_lock_and_unlock(see):
    page = see()
    grid = grid_of(page)
    grid.locator(".large").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    weight = float(layer(3).weights[1, 9, 2])
    assert sentence_of(page).startswith("“because” gives")
    assert abs(number_in(grid.locator(".live").inner_text()) - weight) < 6e-5, "a screen reader hears the sentence"
    page.keyboard.press("Enter")
    expect(grid.locator(".chip")).to_have_text(["locked: query “because” ✕", "locked: key “animal” ✕"])
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowLeft")
    expect(grid.locator(".title")).to_have_text("layer 4, head 0")
    page.keyboard.press("Escape")
    expect(grid.locator(".chip")).to_have_count(0)
    grid.locator(".thumb.chosen").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    wait_run(page)
    assert {"head": "1", "query": "-1"}.items() <= (query_of(page) | {"head": query_of(page).get("head", "1")}).items()
    expect(grid.locator(".title")).to_have_text("layer 3, head 1")


@pytest.mark.fast("view0")
@pytest.mark.parametrize("view", [{}, {"merge": 1, "hide": 1}, {"mask": "causal"}])
def test_temperature_equals_torch_after_release(see, view):
    """The browser's weights equal torch's at every temperature; Python gets it on release."""
    page = see(**view)
    grid = grid_of(page)
    masked = layer(3, allowed=torch.ones(16, 16).tril().bool() if "mask" in view else None).masked[1]
    tokens = compute.read(source()).tokens
    for step in (-12, 0, 9):
        temperature = heat(grid, step, "input")
        sentence_of(page)
        want = torch.softmax(masked / temperature, -1)
        if "merge" in view:
            words, special = torch.tensor(tokens.words), torch.tensor(tokens.special)
            merged = map_statistics.merge_words(want, words, words)
            keep = ~(torch.zeros(len(merged)).index_add(0, words, special.float()) > 0)
            want = map_statistics.hide(merged, keep, keep)
        assert_close(values(grid), want.flatten(), atol=NEAR, rtol=0)  # at 1 the wall's u16, else float32
    assert sent_while(page, lambda: heat(grid, 9, "input")) == []
    heat(grid, 9, "change")
    page.wait_for_timeout(200)
    wait_run(page)
    assert query_of(page)["temperature"] == "2.82"


def test_long_text_is_pooled_in_wall(see):
    """A long text is pooled in the wall and whole in the large map."""
    page = see(text=LONG)
    grid = grid_of(page)
    weights = torch.cat([layer(i, LONG).weights for i in range(6)])
    n = weights.shape[-1]
    pool = grid.evaluate("(root) => root.headGrid.wall.pool")
    assert pool == 2
    pooled = max_pool2d(weights, pool, ceil_mode=True)
    assert_close(values(grid, "wall.values").view(pooled.shape) / 65535, pooled, atol=NEAR, rtol=0)
    expect(grid.locator(".left .note").first).to_contain_text(
        f"At {n} tokens each small map shows the largest of every 2 × 2"
    )
    assert_close(values(grid).view(n, n), weights[37], atol=1e-6, rtol=1e-5)
    # What is painted, opacity the root of the weight: a cell of a strong weight in the smallest picture
    alpha = grid.evaluate(
        """(root) => { const { canvas, columns, rows } = root.headGrid.thumbs.sheet;
            const data = canvas.getContext('2d').getImageData(2 * columns, 0, columns, rows).data;
            return {wide: columns, alpha: Array.from(data.filter((_, i) => i % 4 === 3))}; }"""
    )
    alphas = torch.tensor(alpha["alpha"]).view(-1, alpha["wide"]) / 255
    pooled_map = max_pool2d(pooled[2:3], -(-pooled.shape[-1] // alpha["wide"]), ceil_mode=True)[0]
    assert_close(alphas, pooled_map.sqrt(), atol=0.015, rtol=0)
    grid.get_by_role("radio", name="maximum").click()  # now Python has to put the heads together
    expect(grid.locator(".title")).to_have_text("Maximum of 12 heads")
    expect(grid.locator(".large")).not_to_have_class(re.compile("waiting"))
    assert_close(values(grid).view(n, n), weights[36:48].amax(0), atol=NEAR, rtol=0)


def test_maps_share_one_canvas(see):
    """The browser composes each canvas as a layer of its own in every frame."""
    grid = grid_of(see())
    assert grid.locator(".wall canvas").count() == 2, "all maps, and what is lit in them"
    read = """(root, index) => {
        const { buttons, maps, sheet } = root.headGrid.thumbs, { canvas, across, rows, columns } = sheet;
        const [left, top] = [(index % across) * columns, Math.floor(index / across) * rows], scale = devicePixelRatio;
        const of = canvas.getContext("2d").getImageData(left, top, columns, rows).data, found = [];
        const box = buttons[index].getBoundingClientRect(), all = maps.getBoundingClientRect();
        const drawn = maps.getContext("2d");
        for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
            const x = box.left - all.left + ((column + 0.5) / columns) * box.width;
            const y = box.top - all.top + ((row + 0.5) / rows) * box.height;
            const [wanted, pixel] = [4 * (row * columns + column), drawn.getImageData(x * scale, y * scale, 1, 1)];
            found.push([of[wanted + 3], pixel.data[3]]);
        }
        return found;
    }"""
    for index in (0, 17, 71):
        cells = grid.evaluate(read, index)
        assert max(expected for expected, _ in cells) > 150
        assert all(abs(expected - actual) <= 1 for expected, actual in cells)
    place = grid.evaluate("""({ headGrid: { thumbs, choice, data, wall, palette } }) => {
        thumbs.show(wall, { ...choice, sort: wall.order[0] }, data.words, palette, null);
        return thumbs.buttons.findIndex(({ index }) => index === 17);
    }""")
    assert place != 17, "in another order"
    assert all(abs(expected - actual) <= 1 for expected, actual in grid.evaluate(read, place)), "and so is its map"


def test_longest_text(see):
    page = see(text=LONGEST)
    grid = grid_of(page)
    scores = layer(3, LONGEST).masked[1]
    assert scores.shape == (512, 512)
    for step in (-6, 0, 6):
        temperature = heat(grid, step, "input")
        sentence_of(page)
        assert_close(values(grid).view(512, 512), torch.softmax(scores / temperature, -1), atol=5e-5, rtol=0)
    zoom = grid.get_by_role("button", name="Zoom in")
    for _ in range(6):
        zoom.click()
    assert grid.evaluate("(root) => root.headGrid.maps.zoom") > 11
    grid.locator(".window").first.evaluate("(box) => { box.scrollTop = 900; box.scrollLeft = 300; }")
    heat(grid, 0, "change")
    page.locator(".st-key-hide label").click()
    page.wait_for_timeout(300)
    wait_run(page)
    counts = grid.evaluate(
        "(root) => [root.headGrid.maps.zoom, root.querySelector('.window').scrollTop, root.headGrid.map.rows]"
    )
    assert counts[0] > 11
    assert counts[1] == 900
    assert counts[2] == 510


def test_scores_equal_torch(see):
    """Scores equal torch's, and masked cells are described as such."""
    page = see(what="scores", mask="causal")
    grid = grid_of(page)
    want = layer(3, allowed=torch.ones(16, 16).tril().bool()).masked[1]
    assert_close(values(grid).view(16, 16), want, atol=1e-5, rtol=1e-5)
    page.mouse.move(*place(grid, 2, 9))
    assert sentence_of(page) == "“animal” may not look at “because”: masked."
    page.mouse.move(*place(grid, 9, 2))
    assert f"{want[9, 2]:.4f}".replace("-", "−") in sentence_of(page)
    expect(grid.locator(".temperature")).to_be_hidden()


def test_heads_sorted_and_combined(see):
    page = see(key=2)
    grid = grid_of(page)
    weights = torch.cat([layer(i).weights for i in range(6)])
    tokens = compute.read(source()).tokens
    numbers = head_statistics(weights, torch.tensor(tokens.ids), torch.tensor(tokens.special))
    names = [f"layer {i // 12}, head {i % 12}" for i in range(72)]

    def order():
        labels = [thumb.get_attribute("aria-label") for thumb in grid.locator(".thumb").all()]
        return [next(i for i in range(72) if label.startswith(names[i] + " ")) for label in labels]

    for code, measure, descending in (("entropy", numbers.entropy, False), ("previous", numbers.previous, True)):
        grid.locator("select").select_option(code)
        assert order() == measure.sort(descending=descending, stable=True).indices.tolist()
    grid.locator("select").select_option("link")
    assert order()[0] == 37, "which head links it to animal? Layer 3, head 1"
    codes = (weights[:, 10, 2] * 65535).round()
    assert order() == codes.sort(descending=True, stable=True).indices.tolist()
    grid.locator("select").select_option("model")
    grid.get_by_role("radio", name="mean").click()
    assert_close(values(grid).view(16, 16), weights[36:48].mean(0), atol=NEAR, rtol=0)
    grid.locator(".thumb").nth(0).click()
    expect(grid.locator(".title")).to_have_text("Mean of 13 heads")
    assert_close(values(grid).view(16, 16), weights[[0, *range(36, 48)]].mean(0), atol=NEAR, rtol=0)
    grid.get_by_role("radio", name="maximum").click()
    together = weights[[*range(36, 48), 0]]
    assert_close(values(grid).view(16, 16), together.amax(0), atol=NEAR, rtol=0)
    strongest = together[:, 10, 2].amax()
    assert sentence_of(page).endswith(f"in layer 3, head 1: {strongest:.4f}")
    wait_run(page)
    assert query_of(page)["several"].split("-") == [str(i) for i in [*range(36, 48), 0]]


def test_lines_follow_pointer_in_both_directions(see):
    page = see(query=-1)
    grid = grid_of(page)
    weights = layer(3).weights[1]
    for name, corner in (
        ("lines", lambda box: (20, box["height"] * 0.02 + 24)),
        ("lines, across", lambda box: (30, 20)),
    ):
        grid.get_by_role("radio", name=name, exact=True).click()
        expect(grid).to_contain_text("weights from 0.01 up, the 3000 strongest")
        window = grid.locator(".window >> visible=true")
        window.scroll_into_view_if_needed()
        box = window.bounding_box()
        x, y = corner(box)
        page.mouse.move(box["x"] + x, box["y"] + y)
        assert sentence_of(page).startswith(f"“[CLS]” looks most at “[CLS]” {weights[0].max():.2f}, ")
        n_lines = grid.evaluate("(root) => root.headGrid.lines.drawn.length")
        assert n_lines == int(((weights * 65535).round() / 65535 >= 0.01).sum())
        page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.mark.fast
def test_touch_on_phone(new_page, app_url):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(address(app_url, "heads", lang="zh", text=TEXT))
    wait_run(page)
    grid = grid_of(page)
    assert grid.evaluate("(root) => root.getBoundingClientRect().right <= innerWidth")
    assert grid.evaluate(
        "(root) => { const box = root.querySelector('.window'); return box.scrollWidth <= box.clientWidth; }"
    )
    grid.locator(".thumb").nth(12 + 8).tap()
    expect(grid.locator(".title")).to_have_text("第 1 层第 8 头")
    wait_run(page)
    page.touchscreen.tap(*place(grid, 4, 5))
    expect(grid.locator(".chip")).to_have_count(2)
    assert abs(number_in(sentence_of(page)) - float(layer(1).weights[8, 4, 5])) < 6e-5


def test_theme_changes_without_server(see):
    page = see()
    grid = grid_of(page)
    colours = "(root) => root.headGrid.palette.theme.text"
    light = grid.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(500)
    assert grid.evaluate(colours) != light


def test_hundred_updates_leak_nothing(new_page, bare):
    page = new_page()
    page.goto(bare.url)
    wait_run(page)
    grid = grid_of(page)
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable")

    def used():
        cdp.send("HeapProfiler.collectGarbage")
        metrics = {metric["name"]: metric["value"] for metric in cdp.send("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"] / 1e6, metrics["Nodes"], metrics["JSEventListeners"]

    def update(times):
        for i in range(times):
            grid.locator(".thumb").nth((i * 29 + 1) % 72).evaluate("(button) => button.click()")
            n = grid.evaluate("(root) => root.headGrid.sent")
            page.wait_for_function("(n) => window.grid.next.sent === n && window.grid.head", arg=n)
            if i % 10 == 9:  # a new wall, too
                page.locator(".st-key-what button").nth((i // 10) % 2).click()
                wait_run(page)

    grid.evaluate("(root) => { window.grid = root.headGrid; }")
    update(20)
    before = used()
    update(100)
    after = used()
    assert after[0] - before[0] < 3, f"heap {before[0]:.1f} -> {after[0]:.1f} MB"
    assert after[1] - before[1] < 300, f"nodes {before[1]} -> {after[1]}"
    assert after[2] - before[2] < 50, f"listeners {before[2]} -> {after[2]}"
