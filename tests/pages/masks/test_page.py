"""The Masks page without a browser: its checks hold, its tables are the core's, its state is its link."""

import pytest
import torch
from torch.testing import assert_close

from pages.masks.editor import CODE
from tests.running import checked
from viz import limits
from viz.components.unpack import unpack
from viz.core.cost.attention import attention_flops
from viz.core.masks import causal
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.mask_code import from_code, to_code
from viz.frame.sidebar import file_of
from viz.text import translator

T = translator("en")
REAL = specs.Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)
NOTHING = to_code(torch.zeros(32, 32).bool())
BLOCKS_NOTHING = {"mask": "painted", "painted": to_code(torch.ones(16, 16).bool())}
HAND = to_code(torch.arange(256).view(16, 16) % 3 == 0)


def maps_of(app, at):
    """View data of the maps at this index, from 0."""
    return unpack(
        [element.proto for element in app.get("bidi_component") if element.proto.component_name.endswith(".maps")][
            at
        ].bytes
    )


def view(app, name):
    """Header and numbers of the view data of this name."""
    result = [
        element.proto for element in app.get("bidi_component") if element.proto.component_name.endswith(f".{name}")
    ]
    return unpack(result[0].bytes)


def costs(app):
    return app.dataframe[0].value


def test_costs_table_counts_cells(open_app):
    app = open_app("masks", mask="causal", section="editor", costs=1)
    rows = costs(app)
    at = list(rows["mask"]).index(f"→ {T('masks.name_causal')}")
    assert rows["cells kept"][at] == "136 / 256"
    assert rows[T("masks.t_share")][at] == "53.1%"
    spec = compute.trace(REAL, 3, specs.Mask()).projections.spec
    total, retained = (attention_flops(spec, n_queries=16, n_keys=16, n_pairs=pairs).total for pairs in (None, 136))
    assert rows["of the layer's work"][at] == f"{100 * retained / total:.1f}%"
    (small, in_small), (header, blocks) = maps_of(app, 0), maps_of(app, 1)
    assert small["thumbnails"] and header["chosen"] == small["chosen"] == "causal"
    assert (in_small["values"] == blocks["values"]).all()
    assert [panel["code"] for panel in header["maps"]] == [kind for kind in specs.MASKS if kind != "painted"]
    maps = torch.tensor(blocks["values"]).view(-1, 16, 16)
    expected = compute.read(REAL).layer(3, allowed=causal(16, 16)).weights[1]
    assert_close(maps[1], expected, atol=1e-6, rtol=0)


def test_late_mask_loss_reported(open_app):
    app = open_app("masks", mask="causal", mask_late=1, section="mistakes")
    lost = compute.read(REAL).layer(3).weights[1].tril().sum(-1)
    result = T("masks.late_found", n=int((lost < 0.99).sum()), all=16)
    assert result in [element.value for element in app.warning]
    assert T("masks.late_nothing") in [
        element.value for element in open_app("masks", mask_late=1, **BLOCKS_NOTHING, section="mistakes").info
    ]


@pytest.mark.parametrize("mistake", ["mistakes", "polarity"])
def test_no_mask_shows_causal_instead(open_app, mistake):
    app, causal = (open_app("masks", section="mistakes", mistake=mistake, mask=mask) for mask in ("own", "causal"))
    sentences = [{element.value for element in visible.markdown} for visible in (app, causal)]
    assert sentences[0] >= {text for text in sentences[1] if "0." in text}, "the same findings, to the last number"
    assert T("masks.instead") in [element.value for element in app.caption]
    assert T("masks.instead") not in [element.value for element in causal.caption]
    assert not app.info


def test_late_mask_with_tiny_loss(open_app):
    """A head of previous tokens gives the future almost no weight: that no row lost 1 % is not that rows do not sum."""
    app = open_app("masks", mask="causal", mask_late=1, layer=0, head=2, section="mistakes")
    lost = float(compute.read(REAL).layer(0).weights[2].triu(1).sum(-1).max())
    assert 1e-6 < lost < 1e-4
    assert T("masks.late_found", n=0, all=16) in [element.value for element in app.warning]
    assert any("lost <0.1%" in element.value for element in app.text)


def test_all_blocked_offers_diagonal(open_app):
    app = open_app("masks", source="words", text="one two three", mask="painted", painted=NOTHING)
    assert [element.value for element in app.warning] == [T("masks.blocks_all")]
    header, blocks = view(app, "mask_painter")
    assert (header["n"], blocks["allowed"].any()) == (3, False)
    next(element for element in app.button if element.label == T("masks.open_diagonal")).click()
    app.run()
    assert not app.error
    assert torch.equal(from_code(app.session_state["painted"]), torch.eye(3).bool())
    assert app.query_params["painted"] == app.session_state["painted"]


def test_painting_starts_from_current_mask(open_app):
    app = open_app("masks", mask="window", width=1, section="mistakes")
    app.button_group(key="mask").set_value("painted").run()
    assert torch.equal(from_code(app.session_state["painted"]), specs.Mask(kind="window", width=1).allowed(16, 16))


def test_painted_mask_kept_across_pages(open_app):
    app = open_app("masks", mask="painted", painted=HAND)
    assert not [box for box in app.selectbox if box.key == "mask"], "the page has its own control"
    app.switch_page(file_of("heads")).run()
    assert next(box for box in app.selectbox if box.key == "mask").value == "painted"
    assert app.query_params["painted"] == HAND
    app.text_area(key="text").set_value("A shorter text").run()
    assert not app.exception
    mask = specs.Mask(kind="painted", painted=HAND).allowed(5, 20)
    assert torch.equal(mask[:, :16], from_code(HAND)[:5])
    assert mask[:, 16:].all()


@pytest.mark.parametrize("code", ["<b>", "16.AAAA", to_code(causal(33, 33))])
def test_invalid_painted_link_rejected(open_app, code):
    app = open_app(mask="painted", painted=code)
    assert T("note.refused", names="painted") in [element.value for element in app.info]
    assert app.session_state["painted"] == ""


@pytest.mark.parametrize("code", [None, 7, {}, "2.!", to_code(causal(33, 33))])
def test_painted_other_than_small_mask_misfits(code):
    """The painter's message is a mask as a link holds it, of at most 32 tokens."""
    assert limits.PAINTED_TOKENS == 32
    with pytest.raises(ValueError):
        CODE(code)
    assert CODE("2.8A") == "2.8A"


def test_a_decoders_own_mask_stays(open_app):
    app = open_app("masks", model="twin-g2", layer=0, text="repeat repeat repeat", mask="window", width=1)
    assert not app.exception
    n_passed, n = checked(app, "editor")
    assert n_passed == n > 0
    header, blocks = view(app, "mask_painter")
    n = header["n"]
    assert torch.equal(torch.tensor(blocks["own"].astype(int)).view(n, n).bool(), causal(n, n))
    assert any(caption.value.startswith("The model itself blocks") for caption in app.caption)
