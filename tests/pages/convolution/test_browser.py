"""The live views of the Convolution page in a browser: their numbers are torch's, and Python hears of a release."""

from io import BytesIO

import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect
from torch.testing import assert_close

from pages.convolution.images import kernels, picture
from pages.convolution.link_numbers import write_reals
from tests.browser.drive import frame, query_of, wait_run
from viz.core.variants.relative import value_heads
from viz.frame import compute, specs
from viz.text import translator

TEXT = "The animal didn't cross the street because it was too tired."
NEAR = 1e-5  # scores and pictures travel in float32


def view(page: Page, kind: str):
    """The view on a sequence (it has a row of bars) or on a picture (it has a plane)."""
    result = page.locator(".quadratic").filter(has=page.locator(f".{'row' if kind == 'sequence' else 'plane'}"))
    expect(result.locator(".says").last).not_to_be_empty()
    return result


def slide_live(view, name: str, value: float, *, release: bool = False) -> None:
    view.locator(f"input[data-name={name}]").evaluate(
        """(input, [value, release]) => {
            input.value = value;
            input.dispatchEvent(new Event("input"));
            if (release) input.dispatchEvent(new Event("change"));
        }""",
        [value, release],
    )


@pytest.mark.fast
def test_the_windows_are_torchs(visit):
    mix = 0.6
    alphas, deltas = [7.0, 0.0, 0.13], [-2.0, 3.5, 0.7]
    page = visit("convolution", w_alpha=write_reals(alphas), w_delta=write_reals(deltas), mix=mix, layer=1, text=TEXT)
    client = view(page, "sequence").evaluate("(root) => root.heads.weights.map((cells) => Array.from(cells))")
    source = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
    scores = compute.read(source).layer(1).masked[:3]
    n = scores.shape[-1]
    delta = torch.arange(n) - torch.arange(n)[:, None]
    window = torch.tensor(alphas)[:, None, None] * (delta - torch.tensor(deltas)[:, None, None]).square()
    assert_close(torch.tensor(client).reshape(3, n, n), torch.softmax(mix * scores - window, -1), rtol=0, atol=NEAR)


@pytest.mark.parametrize(
    ("link", "key", "values"),
    [
        ({"w_alpha": "0_1_1"}, "says", {"query": "d", "key": "a", "shift": "−3", "value": "0.17"}),
        ({"w_alpha": "50_1_1"}, "says", {"query": "d", "key": "c", "shift": "−1", "value": "1"}),
        ({"mask": "both", "pad_left": 1, "asks": 0}, "says_nowhere", {"query": "a"}),
        (
            {"w_alpha": "50_1_1", "asks": 1, "text": "a b a"},
            "says",
            {"query": "b", "key": "0 · a", "shift": "−1", "value": "1"},
        ),
    ],
)
def test_ties_and_masked_rows_sentence(visit, link, key, values):
    """Name the first of several that tie, none where the row is fully masked, and repeated words by place."""
    page = visit("convolution", **{"source": "words", "text": "a b c d e f"} | link)
    sentences = translator("en")(f"convolution.view.{key}", **values)
    expect(view(page, "sequence").locator(".row + .says")).to_have_text(sentences)


def test_scores_of_shifts_are_read(visit):
    """The score of a shift, by the arrow keys: at the far left, and at the next one."""
    page = visit("convolution", source="words", w_alpha="2_1_1", w_delta="1_0_0")
    curve = view(page, "sequence").locator(".curve")
    curve.locator(".picture").focus()
    page.keyboard.press("ArrowRight")
    expect(curve.locator(".live")).to_have_text(f"v · r: δ = −6: −{2 * 7**2 - 2}")
    page.keyboard.press("ArrowRight")
    expect(curve.locator(".tip")).to_have_text(f"v · r: δ = −5: −{2 * 6**2 - 2}")


def test_drag_updates_link_on_release(visit):
    page = visit("convolution", source="words")
    windows = view(page, "sequence")
    before, frames = page.url, windows.evaluate("(root) => root.heads.frames")
    for value in (-3, -1, 4):
        slide_live(windows, "delta", value)
        frame(page)
    assert windows.evaluate("(root) => root.heads.choice.deltas[0]") == 4
    assert windows.evaluate("(root) => root.heads.frames") >= frames + 3
    assert page.url == before
    slide_live(windows, "delta", 5, release=True)
    wait_run(page)
    assert query_of(page)["w_delta"] == "5_0_3"


def test_dragged_centre_output_equals_torch(visit):
    page = visit("convolution", source="words", picture="texture", kernel="emboss", section="picture")
    plane = view(page, "picture")
    plane.locator(".plane").scroll_into_view_if_needed()
    box = plane.locator(".plane").bounding_box()
    assert box
    cell = box["width"] / 9
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.mouse.move(middle[0] + cell, middle[1])  # head 5 looks one to the right
    page.mouse.down()
    page.mouse.move(middle[0] + 2 * cell, middle[1] - 0.5 * cell, steps=5)
    page.mouse.up()
    wait_run(page)
    state = plane.evaluate("(root) => ({...root.heads.choice, output: Array.from(root.heads.output)})")
    assert state["head"] == 5
    assert_close(torch.tensor(state["offsets"][5]), torch.tensor([-0.5, 2.0]), rtol=0, atol=0.05)
    assert query_of(page)["centres9"].split("_")[10:12] == [f"{element:.4g}" for element in state["offsets"][5]]
    image = picture("texture")
    heads = value_heads(
        torch.tensor(state["offsets"]),
        torch.tensor(state["alphas"]).float(),
        kernels()["emboss"].flatten()[:, None, None],
    )
    assert_close(torch.tensor(state["output"]), heads.layer(image)[0].flatten(), rtol=0, atol=NEAR)


def test_keys_and_clicks_move_centre(visit):
    """Keys choose a head and move its centre; clicks set the centre and the query pixel."""
    page = visit("convolution", source="words", picture="digit", section="picture")
    plane = view(page, "picture")
    plane.locator(".plane").focus()
    page.keyboard.press("ArrowRight")
    wait_run(page)
    assert plane.evaluate("(root) => root.heads.choice.offsets[4]") == [0, 0.1]
    for key in ("7", "ArrowUp"):  # the head of that number, instead of taking hold of its centre
        page.keyboard.press(key)
    wait_run(page)
    assert plane.evaluate("(root) => [root.heads.choice.head, root.heads.choice.offsets[7]]") == [7, [0.9, 0]]
    expect(plane.locator(".says").first).to_contain_text("Head 7")
    box = plane.locator(".plane").bounding_box()
    size = box["width"]
    at = {"x": round(box["x"] + 8.0 * size / 9) - box["x"], "y": round(box["y"] + 1.5 * size / 9) - box["y"]}
    plane.locator(".plane").click(position=at)  # far from all centres; a click is on a whole pixel
    wait_run(page)
    assert plane.evaluate("(root) => root.heads.choice.offsets[7]") == pytest.approx([-3, 3.5], abs=0.02)
    plane.locator(".asks").click(position={"x": 2, "y": 2})
    wait_run(page)
    assert (query_of(page)["row"], query_of(page)["column"]) == ("0", "0")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    wait_run(page)
    assert (query_of(page)["row"], query_of(page)["column"]) == ("0", "2")


def test_keys_and_clicks_choose_row(visit):
    page = visit("convolution", source="words", text="a b c d e f", asks=2)
    windows = view(page, "sequence")
    windows.locator(".map").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    wait_run(page)
    assert query_of(page).get("asks", "3") == "3"
    box = windows.locator(".map").bounding_box()
    assert box
    windows.locator(".map").click(position={"x": 100, "y": box["height"] - 5})
    wait_run(page)
    assert query_of(page)["asks"] == "5"


def test_training_runs_and_enters_link(visit):
    page = visit("convolution", source="words", lesson_heads=2, section="training")
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(page.get_by_text("Step 600: loss")).to_be_visible(timeout=120_000)
    wait_run(page)
    assert query_of(page)["learned"] == "600"


def test_uploaded_picture_stays_between_views(visit):
    page = visit("convolution", section="picture", source="words", picture="upload")
    png = BytesIO()
    Image.new("RGB", (9, 7), (200, 100, 50)).save(png, "PNG")
    page.locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": png.getvalue()}
    )
    wait_run(page)
    assert view(page, "picture").evaluate("(root) => [root.heads.data.rows, root.heads.data.columns]") == [7, 9]
    views = page.locator(".st-key-view")
    views.get_by_role("radio", name="Where they differ").click()
    wait_run(page)
    assert (query_of(page)["section"], query_of(page)["view"]) == ("picture", "difference")
    none_yet = page.get_by_text(translator("en")("convolution.upload_none"))
    expect(none_yet).to_have_count(0)
    views.get_by_role("radio", name="On a picture").click()
    wait_run(page)
    expect(none_yet).to_have_count(0)
    assert view(page, "picture").evaluate("(root) => [root.heads.data.rows, root.heads.data.columns]") == [7, 9]


@pytest.mark.parametrize(("name", "sentence"), [("a.png", "not a PNG or JPEG"), ("b.svg", "")])
def test_hostile_upload_shows_error(visit, name, sentence):
    page = visit("convolution", section="picture", source="words", picture="upload")
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "image/png", "buffer": svg})
    wait_run(page)
    if sentence:
        expect(page.get_by_text(sentence)).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    view(page, "picture")
