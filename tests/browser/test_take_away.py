"""Heads outside the app, in a real browser: a file that asks for nothing, and two widgets in one notebook."""

import pytest
import torch
from torch.nn.functional import max_pool2d, softmax
from torch.testing import assert_close

import viz
from tests.browser.contrast import assert_choices_differ
from tests.browser.drive import PATIENCE, PHONE, Watch, frame
from viz.components import bundle, head_grid
from viz.components.head_grid import weight_codes
from viz.components.one_file import VIEW
from viz.notebook import maps as maps_module
from viz.notebook import widget as widget_module
from viz.notebook.answers import answer_request
from viz.notebook.widget import CHOICE, RENDER

HOSTILE = ["</script>", "<!--", "\u2028", "<img/src=x/onerror=alert(1)>", "{q}", "猫", "ا"]
COMBINE_VALUES = {"one": "undefined", "mean": "'mean'", "max": "'max'"}
READY = "() => document.querySelector('.head-grid')?.headGrid?.map"

WHITE = """() => {
    const canvas = document.querySelector('.large canvas'), { width, height } = canvas;
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
    return pixels.filter((pixel) => pixel === 0xffffffff).length;
}"""
"""Pixels of the large map that are white, as the letters beside it are on a black theme."""


def maps(n=2, heads=3, tokens=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return tuple((3 * torch.randn(1, heads, tokens, tokens, generator=generator)).softmax(-1) for _ in range(n))


@pytest.fixture(scope="module")
def blank(browser):
    """Pages whose requests and console errors are recorded."""
    contexts, watch = [], Watch()

    def open_blank(viewport=(1280, 800), scheme="light", is_watched=True):
        size = {"width": viewport[0], "height": viewport[1]}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        if is_watched:
            watch.follow(context)
        contexts.append(context)
        page = context.new_page()
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        return page

    yield open_blank
    for context in contexts:
        context.close()
    assert watch.errors == []


def numbers(page, what):
    return torch.tensor(page.evaluate(f"() => Array.from(document.querySelector('.head-grid').headGrid.{what})"))


def test_saved_file_under_contrast_theme(blank, tmp_path):
    """Selection is visible in a file, too."""
    page = blank()
    page.goto(viz.show(maps(), HOSTILE, layer=1, head=2, query=3).save_html(tmp_path / "heads.html").as_uri())
    page.wait_for_function(READY)
    assert_choices_differ(page)
    page.emulate_media(forced_colors="active", color_scheme="dark")
    page.reload()
    page.wait_for_function(READY)
    frame(page)
    assert page.evaluate(WHITE) > 50


@pytest.mark.fast
def test_a_file_stands_alone(blank, tmp_path):
    """From the disk: no request but for itself, the app's own values, every token as it is spelled; also on a phone."""
    heads = maps()
    grid = viz.show(heads, HOSTILE, layer=1, head=2, query=3, title="</title><b>x")
    file = grid.save_html(tmp_path / "heads.html", link="https://example.org/?lang=zh")
    page = blank(PHONE, "dark")
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    assert page.requests == [file.as_uri()]
    expected = numbers(page, "wall.values").view(2, 3, 7, 7)
    assert torch.equal(expected, weight_codes(torch.cat(heads)).long()), "the codes that the app sends"
    assert_close(numbers(page, "map.values").view(7, 7), heads[1][0, 2], atol=7.7e-6, rtol=0)
    assert page.locator(".token").all_inner_texts() == ["</script>", "<!--", "⟨2028⟩", *HOSTILE[3:]]
    assert page.locator("h1").inner_text() == page.title() == "</title><b>x"
    assert page.locator(".chip").inner_text().startswith(f"locked: query “{HOSTILE[3]}”")
    assert page.locator(".facts a").get_attribute("href") == "https://example.org/?lang=zh"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.locator(".thumb").nth(1).click()
    page.wait_for_function("() => document.querySelector('.head-grid').headGrid.head?.head === 1")
    page.locator(".temperature input").fill("6")  # T = 10^(6/20), to two decimals
    frame(page)
    scores = heads[0][0, 1].double().log()
    assert_close(numbers(page, "map.values").view(7, 7).double(), softmax(scores / 2, -1), atol=1e-3, rtol=0)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (
        page.locator(".take-away").evaluate("(root) => getComputedStyle(root).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert not page.locator(".temperature").is_visible()


def test_many_tokens_every_head_is_whole(blank, tmp_path, monkeypatch):
    """If the small maps are pooled, the page does itself what Python does for the app."""
    monkeypatch.setattr(head_grid, "EXACT_BYTES", 500)
    monkeypatch.setattr(head_grid, "POOLED_BYTES", 300)
    heads = torch.cat(maps())
    page = blank()
    page.goto(viz.show(maps(), HOSTILE, layer=1, combine="mean").save_html(tmp_path / "heads.html").as_uri())
    page.wait_for_function(READY)
    assert numbers(page, "wall.values").numel() == 6 * 4 * 4
    for how, want in (("mean", heads[1].mean(0)), ("max", heads[1].amax(0)), ("one", heads[1, 0])):
        page.locator(f"[data-code={how}]").click()
        page.wait_for_function(
            f"() => document.querySelector('.head-grid').headGrid.map.combined === {COMBINE_VALUES[how]}"
        )
        assert_close(numbers(page, "map.values").view(7, 7), want, atol=1.6e-5, rtol=0)
    grid = page.locator(".head-grid")
    grid.evaluate("(root) => root.headGrid.lock({ query: 5, key: 2 })")
    page.locator(".dropdown select").select_option("link")
    page.wait_for_function("() => document.querySelector('.heads.sorted')")
    order = page.locator(".thumb").evaluate_all("(all) => all.map((thumb) => thumb.index)")
    assert order == heads.flatten(0, 1)[:, 5, 2].argsort(descending=True).tolist()


def make_many_small(monkeypatch):
    """The limits of many heads, so small that these are many."""
    monkeypatch.setattr(maps_module, "SENT_BYTES", 400)
    monkeypatch.setattr(head_grid, "EXACT_BYTES", 500)
    monkeypatch.setattr(head_grid, "POOLED_BYTES", 300)


def test_pooled_file_says_its_blocks(blank, tmp_path, monkeypatch):
    """A head that is not whole in a file shows its blocks, and says so; one that is, its numbers."""
    make_many_small(monkeypatch)
    monkeypatch.setattr(widget_module, "MOST_FILE_BYTES", 100)
    heads = torch.cat(maps())
    page = blank()
    page.goto(viz.show(maps(), HOSTILE, layer=1, head=2).save_html(tmp_path / "heads.html").as_uri())
    page.wait_for_function(READY)
    page.wait_for_function("() => !document.querySelector('.head-grid').headGrid.map.pooled")
    assert_close(numbers(page, "map.values").view(7, 7), heads[1, 2], atol=1.6e-5, rtol=0)
    assert page.locator(".take-away .pooled").inner_text() == ""
    assert "Exact: 1·2" in page.locator(".facts").inner_text()
    page.locator(".thumb").first.click()
    page.wait_for_function("() => document.querySelector('.head-grid').headGrid.map.pooled")
    blocks = max_pool2d(heads[:1, 0][None], 2, ceil_mode=True)[0, 0]
    want = blocks.repeat_interleave(2, 0).repeat_interleave(2, 1)[:7, :7]
    assert_close(numbers(page, "map.values").view(7, 7), want, atol=7.7e-6, rtol=0)
    assert "the largest of every 2 × 2 cells" in page.locator(".take-away .pooled").inner_text()
    page.locator(".head-grid").evaluate("(root) => root.headGrid.lock({ query: 5, key: 2 })")
    frame(page)
    assert "the largest in this block is" in page.locator(".says").inner_text()
    assert "The large map is whole" not in page.locator(".head-grid").inner_text()
    page.locator("[data-code=max]").click()
    page.wait_for_function("() => document.querySelector('.head-grid').headGrid.map.combined === 'max'")
    assert "the largest of every 2 × 2 cells" in page.locator(".take-away .pooled").inner_text()


def test_opened_head_is_asked_of_python(blank, monkeypatch):
    """A widget has the blocks of a head until Python has answered, and asks once for each."""
    make_many_small(monkeypatch)
    heads, grid = torch.cat(maps()), viz.show(maps(), HOSTILE)
    page = blank()
    page.goto("about:blank")
    states = [grid.get_state(("words", *CHOICE)) | {"data": list(grid.data)}]
    page.evaluate(WIDGETS, {"code": bundle.dressed(VIEW) + RENDER, "models": states})
    page.wait_for_function("() => models[0].grid()?.map?.pooled === undefined && models[0].grid()?.map")

    def of(what):
        return page.evaluate(f"() => {{ const model = models[0], grid = model.grid(); return {what}; }}")

    def answer():
        """Answer what was asked for, with Python's bytes."""
        for content in of("model.requests.splice(0)"):
            stack = grid._stacks[0]
            fields, buffers = answer_request(stack, content["request"])
            page.evaluate(
                "([answer, bytes]) => models[0].hear(answer, bytes && [new DataView(Uint8Array.from(bytes).buffer)])",
                [{**content, **fields}, list(buffers[0]) if buffers else None],
            )

    of("grid.thumbs.buttons[4].click()")
    page.wait_for_function("() => models[0].grid().map.pooled && models[0].requests.length === 1")
    assert of("model.requests") == [{"request": {"stack": "self", "head": 4}}]
    answer()
    page.wait_for_function("() => !models[0].grid().map.pooled")
    assert_close(torch.tensor(of("Array.from(grid.map.values)")).view(7, 7), heads[1, 1], atol=1.6e-5, rtol=0)
    of("grid.change({ combine: 'mean' })")
    page.wait_for_function("() => models[0].requests.length === 1")
    answer()
    page.wait_for_function("() => models[0].grid().map.combined === 'mean' && !models[0].grid().map.pooled")
    assert_close(torch.tensor(of("Array.from(grid.map.values)")).view(7, 7), heads[1].mean(0), atol=1.6e-5, rtol=0)
    of("grid.change({ sort: 'link', query: 5, key: 2 })")
    page.wait_for_function("() => models[0].requests.length === 1")
    answer()
    page.wait_for_function("() => models[0].grid().data.links")
    assert_close(torch.tensor(of("grid.data.links")), heads.flatten(0, 1)[:, 5, 2])


def test_layers_and_missing_weights_are_shown(blank, tmp_path):
    """Layers carry their model's numbers; what a row gives to no token has a column of its own."""
    first, second = (layer * 0.75 for layer in maps())
    page = blank()
    file = viz.show([first, second], HOSTILE, layers=[2, 5], layer=5, head=1).save_html(tmp_path / "heads.html")
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    want = torch.cat([second[0, 1], torch.full((7, 1), 0.25)], 1)
    assert_close(numbers(page, "map.values").view(7, 8), want, atol=7.7e-6, rtol=0)
    assert "layer 5" in page.locator(".head-grid").evaluate("(root) => root.headGrid.panel.name.textContent")
    assert page.locator(".heads .name").all_inner_texts() == ["0", "1", "2", "2", "5"]
    assert "numbered as in the model" in page.locator(".facts").inner_text()
    page.locator(".thumb").first.click()
    page.wait_for_function("() => document.querySelector('.head-grid').headGrid.head?.layer === 0")
    assert "layer 2" in page.locator(".head-grid").evaluate("(root) => root.headGrid.panel.name.textContent")


def test_nothing_can_leave_a_file(blank, tmp_path):
    """Its policy stops a request even of a script that is let in by a flaw."""
    page, blocked_requests = blank(is_watched=False), []
    page.on("requestfailed", lambda request: blocked_requests.append((request.url, request.failure)))
    file = viz.show(maps(), HOSTILE).save_html(tmp_path / "heads.html")
    flaw = "<img src='http://127.0.0.1:9/seen'><script>document.title = 'run'</script><main"
    file.write_text(file.read_text("utf8").replace("<main", flaw), "utf8")
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    assert page.title() != "run"
    assert blocked_requests == [("http://127.0.0.1:9/seen", "csp")]
    assert page.requests == [file.as_uri(), "http://127.0.0.1:9/seen"]


WIDGETS = """async ({ code, models }) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  document.body.style.background = "rgb(20, 24, 30)";
  document.body.style.color = "rgb(240, 240, 240)";
  window.models = models.map((state) => {
    const heard = {}, bytes = Uint8Array.from(state.data);
    state.data = new DataView(bytes.buffer);
    state.saved = 0;
    const model = {
      state,
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; (heard[`change:${name}`] ?? []).forEach((f) => f()); },
      save_changes: () => state.saved++,
      requests: [],
      send: (content) => model.requests.push(content),
      hear: (answer, buffers) => (heard["msg:custom"] ?? []).forEach((f) => f(answer, buffers)),
      on: (event, f) => (heard[event] ??= []).push(f),
      off: (event, f) => (heard[event] = (heard[event] ?? []).filter((other) => other !== f)),
    };
    const el = document.createElement("div");
    model.close = widget.render({ model, el });
    document.body.append(el); // JupyterLab finds a place for it afterwards
    model.grid = () => el.firstChild.shadowRoot.querySelector(".head-grid")?.headGrid;
    return model;
  });
}"""


def test_two_widgets_in_one_notebook(blank):
    """As anywidget runs them: each has its own heads and words, says what is chosen, and does what Python says."""
    source, target = list("abcdefg"), list("vwxyz")
    cross = tuple(torch.softmax(torch.arange(2 * 35.0).view(1, 2, 5, 7) % 11, -1) for _ in range(2))
    grids = [
        viz.show(maps(), HOSTILE, layer=1),
        viz.show((maps(), maps(tokens=5, heads=2), cross), (source, target), stack="cross", lang="zh"),
    ]
    states = [grid.get_state(("words", *CHOICE)) | {"data": list(grid.data)} for grid in grids]
    page = blank()
    page.goto("about:blank")
    page.evaluate(WIDGETS, {"code": bundle.dressed(VIEW) + RENDER, "models": states})
    page.wait_for_function("() => models.every((model) => model.grid()?.map)")

    def of(which, what):
        return page.evaluate(f"() => {{ const model = models[{which}], grid = model.grid(); return {what}; }}")

    values = torch.tensor(of(1, "Array.from(grid.map.values)")).view(5, 7)
    assert_close(values, cross[0][0, 0], atol=7.7e-6, rtol=0)
    assert of(0, "grid.labels.rows") == ["</script>", "<!--", "⟨2028⟩", *HOSTILE[3:]]
    assert "层" in of(1, "grid.panel.name.textContent") and "layer 1" in of(0, "grid.panel.name.textContent")
    # what is around is dark, and so are they
    assert of(0, "grid.palette.theme.background") == "rgb(20, 24, 30)"
    # a click in the first is known to Python, and nothing to the second
    of(0, "grid.thumbs.buttons[2].click()")
    of(0, "grid.lock({ query: 4, key: null })")
    page.wait_for_function("() => models[0].state.saved > 0 && models[0].state.query === 4")
    assert of(0, "[model.state.layer, model.state.head, model.state.query, model.state.key]") == [0, 2, 4, None]
    assert of(1, "[model.state.layer, model.state.head, model.state.query, model.state.saved]") == [0, 0, None, 0]
    # Python chooses another head in the second, then another stack
    of(1, "(model.set('layer', 1), model.set('head', 1), model.set('key', 6))")
    page.wait_for_function("() => models[1].grid().head?.layer === 1 && models[1].grid().locked.key === 6")
    of(1, "model.set('stack', 'decoder')")
    page.wait_for_function("() => models[1].grid()?.map?.columns === 5")
    assert of(1, "grid.labels.rows") == target
    assert of(1, "model.close() ?? model.grid() ?? null") is None
    assert of(0, "grid.map.columns") == 7
