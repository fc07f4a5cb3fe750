"""Line charts on a page: values by pointer and keyboard, lines hidden by the legend, axes as set."""

import pytest
from playwright.sync_api import expect

from viz.text import translator

T = translator("en")

AT = "({ lines: { place: { x, y } } }, [at, value]) => ({ x: x(at), y: y(value) })"
VISIBLE_SERIES = "({ lines: { seen } }) => seen.map(({ name }) => name)"
PLACE = "({ lines: { place: { x, y } } }) => [x(1), x(10), x(100), y(1e4), y(1e6), y(1e8)]"


@pytest.fixture
def growth(visit):
    """Five series over the length of a text, on two logarithmic axes, at the sizes of the 2017 paper."""
    page = visit("cost", section="growth", viewport=(1280, 900))
    chart = page.locator(".st-key-growth .lines")
    expect(chart).to_be_visible()
    return chart


def test_power_is_straight_on_logarithmic_axes(growth):
    x1, x10, x100, y4, y6, y8 = growth.evaluate(PLACE)
    assert x100 - x10 == pytest.approx(x10 - x1)
    assert y8 - y6 == pytest.approx(y6 - y4)
    assert y6 < y4, "more is higher"
    assert growth.evaluate("({ lines: { place: { xs, ys } } }) => [xs.names[1], ys.names[1]]") == ["10", "10⁴"]


@pytest.mark.fast
def test_place_tooltip_by_pointer_and_keys(growth):
    """A place is read off by the pointer and by the arrow keys."""
    lines = growth.evaluate("({ lines: { data } }) => data.lines")
    attention = lines[0]
    assert attention["x"][:3] == [1, 2, 4] and attention["y"][:3] == [512, 2048, 8192], "n²d"
    growth.locator(".picture canvas").hover(position=growth.evaluate(AT, [4, 8192]))
    tip = growth.locator(".tip")
    expect(tip).to_contain_text(f"{attention['name']}: n = 4: 8,192")
    assert len(tip.inner_text().splitlines()) == 4, "the dots have nothing there"
    growth.page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    growth.locator(".picture").focus()
    for _ in range(2):
        growth.page.keyboard.press("ArrowRight")
    expect(growth.locator(".live")).to_contain_text(f"{attention['name']}: n = 2: 2,048")


def test_bytes_are_named_as_in_sentence(visit):
    """On an axis of bytes, and under the pointer, they have the units of the sentence below it."""
    chart = visit("cost", section="growth", cost_n=1024, cost_h=8, view="memory").locator(".st-key-memory .lines")
    expect(chart).to_be_visible()
    names = chart.evaluate("({ lines: { place: { ys } } }) => ys.names")
    assert {"1 MiB", "1 GiB"} <= {*names} and not [name for name in names if not name.endswith("B")]
    chart.locator(".picture canvas").hover(position=chart.evaluate(AT, [1024, 2**25]))
    expect(chart.locator(".tip")).to_contain_text("n = 1,024: 32 MiB")


def test_legend_hides_and_shows_line(growth):
    """A name in the legend hides its line and shows it again; the axes stay."""
    names, place = growth.evaluate(VISIBLE_SERIES), growth.evaluate(PLACE)
    key = growth.locator(".legend").get_by_role("button", name=T("cost.self_attention"), exact=True)
    expect(key).to_have_attribute("aria-pressed", "true")
    key.click()
    expect(key).to_have_attribute("aria-pressed", "false")
    assert growth.evaluate(VISIBLE_SERIES) == names[1:]
    assert growth.evaluate(PLACE) == place
    key.press("Enter")
    assert growth.evaluate(VISIBLE_SERIES) == names


def test_legend_hides_bars(visit):
    bars = visit("stacking", section="layer_sharing").locator(".bars").first
    keys = bars.locator(".legend button")
    keys.first.click()
    bars.locator(".picture").focus()
    bars.page.keyboard.press("ArrowRight")
    expect(bars.locator(".live")).to_contain_text(keys.last.inner_text())
    expect(bars.locator(".live")).not_to_contain_text(keys.first.inner_text())


def test_vector_plane_is_undistorted(visit):
    """Vectors lie on a plane whose circle is round, and are read off at their tips."""
    plane = visit("positions", section="rope").locator(".st-key-plane .lines")
    expect(plane).to_be_visible()
    x0, x1, y0, y1 = plane.evaluate("({ lines: { place: { x, y } } }) => [x(0), x(1), y(0), y(1)]")
    assert x1 - x0 == pytest.approx(y0 - y1)
    name, x, y = plane.evaluate("({ lines: { seen: [, { name, x, y }] } }) => [name, x[0], y[0]]")
    plane.locator("canvas").last.hover(position={"x": x0 + x * (x1 - x0), "y": y0 + y * (y1 - y0)})
    expect(plane.locator(".tip")).to_contain_text(f"{name}: ({x:.4g}, {y:.4g})".replace("-", "−"))
