"""The sections on a trained vision model: their numbers are the model's, for any digit and any folder."""

import re
from itertools import count

import pytest
import torch
from torch.testing import assert_close

from tests.models.pictures.test_vision import save_vision
from tests.running import checked, sentences_of
from viz.components.unpack import unpack
from viz.core.analysis.plane_fit import fit_planes, plane_weights
from viz.frame import compute, specs
from viz.models import registry
from viz.models.pictures.vision import judged, load_vision
from viz.models.trained import digits
from viz.text import LANGUAGES, translator

T = translator("en")
NUMBERS = count()
"""A folder has a name of its own: what was loaded is kept by it."""


def view_payload(app):
    """View data of the heads."""
    (view,) = [
        element for element in app.get("bidi_component") if element.proto.component_name.endswith(".patch_heads")
    ]
    return unpack(view.proto.bytes)


def page_sentences(app):
    return " ".join([*sentences_of(app), *(text.value for text in app.text)])


def project_model():
    return load_vision(registry.picture_entries()[0])


def held_out(name, nth=0):
    known_note = digits.held_out()
    return known_note.levels[(known_note.names == name).nonzero()[nth, 0]]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("link", [{"digit": 7, "nth": 3, "patch": 9}, {"digit": 0}])
def test_heads_and_answer_equal_model(open_app, link, lang):
    """Against transformers' own attention, with the class token's share taken out by hand."""
    app = open_app("convolution", section="vision", lang=lang, **link)
    assert not app.exception and not app.error
    assert checked(app, "vision") == (3, 3)
    levels = held_out(link["digit"], link.get("nth", 0))
    weights, logits = judged(project_model(), levels.float()[None] / digits.LEVELS)
    best, p = int(logits.argmax()), float(logits.softmax(-1).max())
    assert translator(lang)("convolution.vision.answer", name=str(best), p=f"{p:.1%}") in page_sentences(app)
    header, blocks = view_payload(app)
    patch = link.get("patch", 36)
    assert header["choice"]["query"] == [patch // 8, patch % 8] and len(header["heads"]) == 12
    rows = torch.stack(weights)[:, :, 1 + patch, 1:]
    rows = (rows / rows.sum(-1, keepdim=True)).flatten()
    assert_close(torch.tensor(blocks["seen"]), rows, atol=1e-5, rtol=0)
    assert_close(torch.tensor(blocks["image"]).reshape(8, 8), 1 - levels / digits.LEVELS, atol=1e-6, rtol=0)


def test_each_card_describes_its_window(open_app):
    """The share of the window closest to a head is on its card, and the centre of the window in its description."""
    weights, _ = judged(project_model(), held_out(2).float()[None] / digits.LEVELS)
    among = torch.cat([layer[:, 1:, 1:] / layer[:, 1:, 1:].sum(-1, keepdim=True) for layer in weights])
    fit = fit_planes(among, (8, 8))
    cards = view_payload(open_app("convolution", section="vision", digit=2))[0]["heads"]
    for card, share in zip(cards, fit.explained_share.tolist(), strict=True):
        assert card["share"] in ("<0.01", ">0.99") or float(card["share"]) == pytest.approx(share, abs=0.0051)
    stated = [re.findall(r"Δ = \((.+?), (.+?)\) down and right", card["alt"].replace("−", "-"))[0] for card in cards]
    centres = torch.tensor([[float(part) for part in centre] for centre in stated])
    errors = [(among - plane_weights(at, fit.alpha, (8, 8))).square().sum((1, 2)) for at in (fit.offset, centres)]
    # Two centres may be as close, so that rounding chooses: the stated one has to be as close, or the same.
    is_same = (centres - fit.offset).abs().amax(-1) < 0.06
    assert (is_same | (errors[1] < 1.001 * errors[0])).all() and is_same.sum() > 9


class TestAFolder:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        names = {i: f"<b>{i}</b> $x$ :red[w]" for i in range(13)}
        folder = save_vision("vit", tmp_path / f"vit-{next(NUMBERS)}", id2label=names, label2id={})
        monkeypatch.setattr("sys.argv", ["app.py", "--model", str(folder)])
        for name in (specs._folders, specs.local_entries, specs.local_picture_entries):
            name.cache_clear()
        yield folder
        monkeypatch.undo()
        for name in (specs._folders, specs.local_entries, specs.local_picture_entries):
            name.cache_clear()

    @pytest.mark.parametrize("picture", ["scene", "digit"])
    def test_folder_opens_with_its_sizes(self, open_app, folder, picture):
        app = open_app("convolution", section="vision", picture=picture, patch=76)
        assert not app.exception and not app.error
        assert checked(app, "vision") == (3, 3)
        header, _ = view_payload(app)
        assert (header["rows"], header["columns"], header["size"]) == (7, 11, [14, 22])
        assert len(header["heads"]) == 15 and header["choice"]["query"] == [6, 10]
        assert T("convolution.vision.says") not in page_sentences(app), "nobody knows what a folder was trained on"
        assert T("convolution.vision.scaled", side=64, rows=14, columns=22, n=77) in [
            line.value for line in app.caption
        ]
        assert not any("<b>" in line.value for line in [*app.markdown, *app.caption])
        app = open_app("convolution", section="vision", picture=picture, view="vision_training")
        assert not app.exception and checked(app, "vision_training") == (2, 2)
        assert T("convolution.vision_training.other_start") in page_sentences(app)

    def test_text_pages_note_picture_models(self, open_app, folder):
        app = open_app("heads")
        assert not app.exception and app.session_state["model"] == compute.DEFAULT_MODEL
        sentence = T("choice.reads_pictures", models=folder.name)
        assert sentence in [line.value for line in app.caption]
        assert folder.name not in app.selectbox(key="model").options

    def test_link_as_text_model_rejected(self, open_app, folder):
        app = open_app("heads", model=folder.name)
        assert not app.exception and any("model" in box.value for box in app.info)

    def test_this_projects_own_is_still_there(self, open_app, folder):
        app = open_app("convolution", section="vision", vision="digits")
        assert not app.exception and view_payload(app)[0]["rows"] == 8

    def test_damaged_folder_shows_error(self, open_app, folder):
        (folder / "model.safetensors").write_bytes(b"x")
        app = open_app("convolution", section="vision")
        assert not app.exception and len(app.error) == 1
        assert str(folder.parent) not in app.error[0].value
