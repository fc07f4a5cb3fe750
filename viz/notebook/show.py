"""``viz.show``: every head of a model, of what a model gave, or of attentions and tokens that are at hand."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from viz.components.one_file import Caption, grid_words
from viz.notebook import run
from viz.notebook.maps import stack_of
from viz.text import LANGUAGES, fill

if TYPE_CHECKING:
    from viz.notebook.widget import HeadGrid

STACKS = ("encoder", "decoder", "cross")


def _by_name(attentions: Any) -> Mapping[str, Any]:
    """Attentions by their stack: of a model's output, of a tuple of layers, or of (encoder, decoder, cross)."""
    fields = ("attentions", "encoder_attentions", "decoder_attentions")
    if any(hasattr(attentions, field) for field in fields):
        return run.stacks_in(attentions)
    is_triple = isinstance(attentions, tuple | list) and len(attentions) == 3
    if is_triple and all(part is None or isinstance(part, tuple | list) for part in attentions):
        return {name: part for name, part in zip(STACKS, attentions, strict=True) if part is not None}
    return {"self": attentions}


def _along(names: Sequence[str], tokens: Any) -> dict[str, tuple[Any, Any]]:
    """The tokens along the rows and the columns of each stack's maps.

    Raises:
        ValueError: if there are not as many lists as the stacks need.
    """
    pair = isinstance(tokens, tuple | list) and len(tokens) == 2 and not any(isinstance(part, str) for part in tokens)
    if "decoder" in names or "cross" in names:
        if not pair:
            raise ValueError(
                "An encoder and a decoder read two texts: hand over two lists of tokens, "
                "(encoder_tokens, decoder_tokens)."
            )
        source, written = tokens
        return {"encoder": (source, source), "decoder": (written, written), "cross": (written, source)}
    read = tokens[0] if pair and len(names) == 1 else tokens
    return dict.fromkeys(names, (read, read))


def _widget() -> "type[HeadGrid]":
    """The widget's class, which needs a package of its own.

    Raises:
        ImportError: if anywidget is not installed.
    """
    try:
        from viz.notebook.widget import HeadGrid
    except ModuleNotFoundError as error:
        raise ImportError(
            'A notebook shows the grid through anywidget: pip install "headlight-viz[notebook]".'
        ) from error
    return HeadGrid


def show(
    model: Any,
    tokens: Any,
    text: str | None = None,
    *,
    target: str | None = None,
    lang: str = "en",
    title: str = "",
    **choice: Any,
) -> "HeadGrid":
    """Show every head in a notebook: small maps of all, one of them large, all of it alive under the pointer.

    ``show(model, tokenizer, "a text")`` runs a model of transformers; ``show(attentions, tokens)`` takes what there is:
    a tuple with (1, heads, queries, keys) for each layer, torch or numpy, or all that a model gave with
    ``output_attentions=True``; of an encoder-decoder ``show((encoder, decoder, cross), (tokens, decoder_tokens))``.

    Args:
        model: a model of transformers, or attentions.
        tokens: its tokenizer, or the tokens along the maps.
        text: what the model reads.
        target: what the decoder of an encoder-decoder reads; without it, what it writes itself.
        lang: of the words around the maps, "en" or "zh".
        title: above a saved file.
        choice: what is chosen at first: ``layer=3, head=1, query=9, look="lines"`` and the other traits of the grid.

    Raises:
        ValueError: a sentence on what is wrong with what was handed over, and what would be right.
        ImportError: if anywidget is not installed.

    Returns:
        the widget: ``.layer``, ``.head`` and ``.query`` say what is chosen in it, ``.weights`` is that head's map,
        ``.save_html(path)`` writes it as one file.
    """
    grid = _widget()
    if lang not in LANGUAGES:
        raise ValueError(f"lang={lang!r} is none of {', '.join(LANGUAGES)}.")
    around = grid_words(lang)["around"]
    if text is None:
        attentions = _by_name(model)
    else:
        attentions, read = run.read(model, tokens, text, target)
        tokens = read if len(read) == 2 else read[0]
        title = title or fill(around["title"], model=run.name_of(model))
    along = _along(list(attentions), tokens)
    made = {name: stack_of(name, given, *along[name]) for name, given in attentions.items()}
    return grid(
        [stack for stack, _ in made.values()],
        {name: maps for name, (_, maps) in made.items()},
        lang=lang,
        caption=Caption(title=title or around["heads"], text=text or ""),
        **choice,
    )
