"""Published architectures on every page and section: ``python -m tools.published`` prints a table.

``tools/published.json`` has configurations as they are published: their fields, options and ratios, with small widths,
few layers and short windows. Those without a ``transformers_version`` are no published file: their settings are the
defaults of transformers' classes, or written from reports, and the table marks them. Each is made with random weights
and opened as a folder, in its first layer and its last.
"""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from pages import PAGES
from tests.checkpoints import save, save_tokenizer
from tests.running import OpenApp, checked, opener, walk
from tests.sections import page_named, section_views
from viz.frame import available_models, compute, specs
from viz.models.registry import Entry
from viz.text import sentences, translator

PUBLISHED: Mapping[str, Mapping[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf8"))
TEXT = "The animal was too tired to go on."
"""Longer than every window, and short enough for each part of each page."""
WORKS, REFUSED, FAILED = "works", "refused", "fails"
_NUMBERS = count()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of opening one view: ``kind``, and the sentence or the traceback that explains it."""

    page: str
    view: str
    kind: str
    reason: str = ""


def is_published(name: str) -> bool:
    """Return whether a configuration was taken from a published file, which says what version wrote it."""
    config = PUBLISHED[name]["config"]
    return "transformers_version" in config


def make(name: str, folder: Path) -> Path:
    """Write a checkpoint of a published architecture: its configuration to the letter, small random weights."""
    about = PUBLISHED[name]
    config = dict(about["config"])
    quantized = config.pop("quantization_config", None)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model_config = transformers.AutoConfig.for_model(**config)
        # A wrapper of several parts is no causal model; its class is named as in the file.
        model = getattr(transformers, config["architectures"][0])._from_config(model_config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape), alpha=0.15)
    model.to(getattr(torch, config["torch_dtype"])).save_pretrained(folder)
    if quantized:
        _quantize(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(about["config"]), "utf8")
    save_tokenizer(about["tokenizer"], folder)
    return folder


def _quantize(file: Path) -> None:
    """Put MXFP4 in place of the experts' matrices: random values of four bits, 32 to a scale of a power of two."""
    tensors, generator = load_file(file), torch.Generator().manual_seed(0)
    for name in [name for name in tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        n_experts, n_in, n_out = tensors.pop(name).shape
        sizes = (n_experts, n_out, n_in // 32)
        tensors[f"{name}_blocks"] = torch.randint(256, (*sizes, 16), dtype=torch.uint8, generator=generator)
        tensors[f"{name}_scales"] = torch.randint(120, 124, sizes, dtype=torch.uint8, generator=generator)
    save_file(tensors, file, {"format": "pt"})


def offer(patch: pytest.MonkeyPatch, name: str, folder: Path) -> str:
    """Offer a made checkpoint, or a small one of a family, as ``--model`` does; return its id in links."""
    path = make(name, folder) if name in PUBLISHED else save(name, folder)
    entry = Entry(id=f"{name}-{next(_NUMBERS)}", path=path)
    for module in (specs, compute):
        patch.setattr(module, "local_entries", lambda: (entry,))
    available_models._on_this_machine.cache_clear()
    return entry.id


def open_page(open_app: OpenApp, page: str, link: Mapping[str, Any]) -> Iterator[Outcome]:
    """Open a page with all its sections; where one stops the others, open each alone."""
    views = [(section, view.name) for section in page_named(page).sections for view in section_views(section)]
    app = open_app(page, section="all", **link)
    if "model" in app.session_state and app.session_state["model"] != link["model"]:
        yield Outcome(page=page, view="", kind=FAILED, reason=f"{app.session_state['model']} is opened in its place")
    if not app.exception and all(_container(app, view) for _, view in views) and not _page_errors(app):
        yield from (_outcome(app, page, view) for _, view in views)
        return
    for section, view in views:
        view_parameters = {section.switch: view} if section.switch else {}
        yield _outcome(open_app(page, **{**link, "section": section.name, **view_parameters}), page, view)


def _container(app: AppTest, view: str) -> Any:
    """The container of a view; None if it was not drawn."""
    blocks = (block for block in walk(app.main) if hasattr(block, "children") and block.proto is not None)
    return next((block for block in blocks if getattr(block.proto, "id", "").endswith(f"-section_{view}")), None)


@cache
def _refusals() -> re.Pattern[str]:
    """The sentences of errors that are shown in place of a section, whatever is filled in."""
    error_texts = [text for key, text in sentences("en").items() if key.startswith("error.")]
    return re.compile("|".join(re.sub(r"\\\{.*?\\\}", ".*", re.escape(text)) for text in error_texts), re.DOTALL)


def _says_error(element: Any) -> bool:
    plain = re.sub(r"\\(.)", r"\1", str(element.value))
    return element.type == "error" or bool(_refusals().fullmatch(plain))


def _page_errors(app: AppTest) -> list[str]:
    """Sentences of errors anywhere on the page, but for a check that failed: that is of its section."""
    values = [element.value for element in (*app.error, *app.warning) if _says_error(element)]
    return [value for value in values if value != translator("en")("truth.failed")]


def _outcome(app: AppTest, page: str, view: str) -> Outcome:
    """Classify a view that was opened."""
    container = _container(app, view)
    inside = [*walk(container)] if container is not None else []
    n_passed, n = checked(app, view)
    if app.exception:
        trace = "\n".join(app.exception[0].stack_trace)
        return Outcome(page=page, view=view, kind=FAILED, reason=f"{app.exception[0].message}\n{trace}")
    if n_passed != n:
        wrong = [element.value for element in inside if element.type == "markdown" and element.value.startswith("✗")]
        return Outcome(page=page, view=view, kind=FAILED, reason="; ".join(wrong))
    if n:
        return Outcome(page=page, view=view, kind=WORKS)
    messages = [element.value for element in inside if element.type in ("info", "warning", "error")] or _page_errors(
        app
    )
    if messages:
        return Outcome(page=page, view=view, kind=REFUSED, reason=messages[0])
    has_picture = any(element.type in ("bidi_component", "plotly_chart", "table", "dataframe") for element in inside)
    return Outcome(
        page=page, view=view, kind=WORKS if has_picture else FAILED, reason="" if has_picture else "nothing is shown"
    )


def open_everywhere(
    open_app: OpenApp, model: str, pages: tuple[str, ...] = PAGES, report: Callable[[Outcome], None] = lambda _: None,
    **link: Any,
) -> Counter[str]:  # fmt: skip
    """Open a model on every page; count the views that work, are refused in a sentence, and fail."""
    counts = Counter[str]()
    for page in pages:
        for outcome in open_page(
            open_app, page, {"model": model, "text": TEXT, "source": "model", "atlas_corpus": "own", **link}
        ):
            counts[outcome.kind] += 1
            if outcome.kind != WORKS:
                report(outcome)
    return counts


def main(names: list[str]) -> None:
    """Print a row for each architecture, and below the table what is refused or fails, with its reason."""
    transformers.logging.set_verbosity_error()
    notes = Counter[tuple[str, str, str, str]]()
    head = f"{'architecture':<20}{'layer':>6}{WORKS:>9}{REFUSED:>9}{FAILED:>9}\n"
    sys.stdout.write(head)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        open_app = opener(patch)
        for name in names or PUBLISHED:
            model = offer(patch, name, Path(place) / name)
            config = PUBLISHED[name]["config"]
            for layer in (0, config.get("text_config", config)["num_hidden_layers"] - 1):
                outcomes: list[Outcome] = []
                counts = open_everywhere(open_app, model, report=outcomes.append, layer=layer, head=1)
                row = "".join(f"{counts[kind]:>9}" for kind in (WORKS, REFUSED, FAILED))
                sys.stdout.write(f"{name:<20}{layer:>6}{row}{'' if is_published(name) else '  *'}\n")
                sys.stdout.flush()
                for outcome in outcomes:
                    notes[
                        outcome.kind, f"{outcome.page}/{outcome.view}", outcome.reason.replace(model, name), name
                    ] += 1
    sys.stdout.write("\n* settings are class defaults of transformers or from reports, not a published config.json\n")
    for (kind, place_of, reason, name), _ in sorted(notes.items()):
        sys.stdout.write(f"\n{kind}: {name}, {place_of}: {reason}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
