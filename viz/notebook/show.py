"""``viz.show``: every head of a model, of what a model gave, or of attentions and tokens that are at hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from viz.components.one_file import Caption, grid_words
from viz.notebook import run
from viz.notebook.arguments import (
    adapters_of,
    check_choice,
    check_text,
    check_tokenizer,
    in_a_list,
    layer_numbers,
    name_of,
    open_encoding,
    open_model,
    open_tokenizer,
)
from viz.notebook.device import on_processor
from viz.notebook.forms.structure import by_name
from viz.notebook.inputs import name_tokens
from viz.notebook.maps import Maps, read_layers
from viz.notebook.stacks import stack_of
from viz.text import LANGUAGES, fill

if TYPE_CHECKING:
    from viz.notebook.widget import HeadGrid

Along = tuple[Any, Any]
"""The tokens along the rows and along the columns of a stack's maps."""


def _is_pair(tokens: Any) -> bool:
    """Return whether tokens are two lists, and not two tokens."""
    return isinstance(tokens, tuple | list) and len(tokens) == 2 and not any(map(_is_token, tokens))


def _is_token(part: Any) -> bool:
    return isinstance(part, str | bytes | int) or getattr(part, "ndim", None) == 0


def _along(maps: Mapping[str, Maps], tokens: Any) -> dict[str, Along]:
    """The tokens along the maps of each stack.

    Raises:
        ValueError: if there are not as many lists as the stacks need.
    """
    names, pair = set(maps), _is_pair(tokens)
    if names & {"encoder", "decoder", "cross"} and pair:
        source, target_tokens = tokens
        return {
            "encoder": (source, source),
            "decoder": (target_tokens, target_tokens),
            "cross": (target_tokens, source),
        }
    if "cross" in names or {"encoder", "decoder"} <= names:
        raise ValueError(
            "These are read as the layers of an encoder and a decoder, which have two texts: hand over two lists of "
            "tokens, (encoder_tokens, decoder_tokens). Of several texts of one model hand over one, attentions[0]."
        )
    for name, stack in maps.items():
        _, rows, columns = stack.shape
        if rows != columns and not pair:
            raise ValueError(
                f"The {name} maps are {rows} × {columns}: hand over two lists of tokens, "
                f"({rows} along the rows, {columns} along the columns)."
            )
    return dict.fromkeys(names, tuple(tokens) if pair else (tokens, tokens))


def _without_written(maps: Mapping[str, Maps], along: dict[str, Along]) -> tuple[dict[str, Along], bool]:
    """Leave out the last token of a text that ``generate()`` wrote: no layer has read it."""
    shortened = dict(along)
    for name, stack in maps.items():
        _, n_rows, n_columns = stack.shape
        rows, columns = along[name]
        shortened[name] = (_first(rows, n_rows), _first(columns, n_columns))
    return shortened, any(shortened[name][0] is not along[name][0] for name in maps)


def _first(tokens: Any, n: int) -> Any:
    """The first n of n + 1 tokens; others as they are."""
    token_list = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    if isinstance(token_list, list) and len(token_list) == 1 and isinstance(token_list[0], list):
        token_list = token_list[0]
    return token_list[:n] if not isinstance(token_list, str) and len(token_list) == n + 1 else tokens


def _widget() -> "tuple[type[HeadGrid], tuple[str, ...]]":
    """The widget's class, which needs a package of its own, and the names of what can be chosen in it.

    Raises:
        ImportError: if anywidget is not installed.
    """
    try:
        from viz.notebook.widget import CHOICE, HeadGrid
    except ModuleNotFoundError as error:
        raise ImportError(
            'A notebook shows the grid through anywidget: pip install "headlight-viz[notebook]".'
        ) from error
    return HeadGrid, CHOICE


@on_processor()
def show(
    model: Any,
    tokens: Any,
    text: Any = None,
    *,
    target: Any = None,
    layers: Iterable[int] | None = None,
    lang: str = "en",
    title: str = "",
    **choice: Any,
) -> "HeadGrid":
    """Show every head in a notebook: small maps of all, one of them large, all of it alive under the pointer.

    ``show(model, tokenizer, "a text")`` runs a model of transformers, and checks that the weights it gives are those it
    uses. ``show(attentions, tokens)`` takes what there is: a tuple with (1, heads, queries, keys) for each layer, torch
    or numpy, one matrix, or all that a model gave with ``output_attentions=True``, from ``generate()`` too. Of an
    encoder-decoder it is ``show((encoder, decoder, cross), (tokens, decoder_tokens))``; of maps with other tokens along
    the rows than along the columns, ``show(attentions, (row_tokens, column_tokens))``.

    Args:
        model: a model of transformers, or attentions.
        tokens: its tokenizer (also tiktoken's), or the tokens along the maps.
        text: a string, two strings that an encoder reads as a pair, token ids, or what the tokenizer gave.
        target: what the decoder of an encoder-decoder reads; without it, what it writes itself.
        layers: the numbers that handed-over layers have in their model, if these do not count from 0.
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
    grid, names = _widget()
    if lang not in LANGUAGES:
        raise ValueError(f"lang={lang!r} is none of {', '.join(LANGUAGES)}.")
    around = grid_words(lang)["around"]
    notes: list[run.Note] = []
    changes: list[run.Note] = []
    has_sinks = False
    numbers: Mapping[str, Sequence[int] | None]
    check_text(model, tokens, text)
    check_choice(choice, names)
    model, tokens, handed_numbers = in_a_list(model), in_a_list(tokens), layer_numbers(layers)
    tokens = type(tokens)(map(in_a_list, tokens)) if type(tokens) in (tuple, list) else tokens
    if text is None or not hasattr(model, "named_modules"):
        named_stacks = by_name(model, has_two_texts=_is_pair(tokens))
        stacks, numbers, is_generated = (
            named_stacks.stacks,
            dict.fromkeys(named_stacks.stacks, handed_numbers),
            named_stacks.is_generated,
        )
        if (shape := named_stacks.first_axis) is not None:
            notes.append(("first_axis", {"size": " × ".join(map(str, shape)), "n": shape[0]}))
        tokens = tokens if text is None else name_tokens(tokens, _ids_of(tokens, text))
    else:
        model, tokens = open_model(model), open_tokenizer(tokens)
        reading = run.read(model, tokens, text, target)
        stacks, numbers, is_generated = reading.stacks, dict(reading.numbers), False
        notes, changes, has_sinks = reading.notes, reading.changes, reading.has_sinks
        tokens = reading.tokens if len(reading.tokens) == 2 else reading.tokens[0]
        title = title or fill(around["title"], model=_title_of(model, around))
    maps = {name: read_layers(stack_layers, name, numbers[name]) for name, stack_layers in stacks.items()}
    along = _along(maps, tokens)
    if is_generated:
        along, is_shorter = _without_written(maps, along)
        notes += [("written", {})] if is_shorter else []
    packed_stacks = [
        stack_of(
            name, stack, *along[name], nobody=around["nobody"], same=name != "cross" and not _is_pair_of(along[name])
        )
        for name, stack in maps.items()
    ]
    notes += [note for stack in maps.values() for note in _notes_on(stack, has_sinks, around)]
    notes += changes
    notes += [("opened", {})] if any(stack.small for stack in maps.values()) else []
    sentences = list(dict.fromkeys(fill(around[f"note_{name}"], **values) for name, values in notes))
    return grid(
        packed_stacks,
        maps,
        lang=lang,
        caption=Caption(title=title or around["heads"], text=_shown_text(text), facts=sentences),
        **choice,
    )


def _is_pair_of(along: Along) -> bool:
    rows, columns = along
    return rows is not columns and list(map(str, rows)) != list(map(str, columns))


def _title_of(model: Any, around: Mapping[str, str]) -> str:
    """A model's name, and those of the adapters that take part in it."""
    name, adapters = name_of(model), ", ".join(adapters_of(model))
    return fill(around["adapted"], model=name, adapters=adapters) if adapters else name


def _ids_of(tokenizer: Any, text: Any) -> list[int]:
    """The token ids of a text, or those that were handed over in its stead."""
    texts = (text,) if isinstance(text, str) else text
    if isinstance(texts, tuple | list) and len(texts) in (1, 2) and all(isinstance(part, str) for part in texts):
        check_tokenizer(tokenizer)
        ids = tokenizer(*texts)["input_ids"] if callable(tokenizer) else tokenizer.encode(*texts)
        return list(getattr(ids, "ids", ids))
    text = open_encoding(text)
    if not isinstance(text, Mapping | Iterable):
        raise ValueError(
            f"Beside attentions and tokens stands {type(text).__name__} as the text: viz.show(attentions, tokens), or "
            "viz.show(attentions, tokenizer, text)."
        )
    id_values = text["input_ids"] if isinstance(text, Mapping) else text
    id_list = id_values.tolist() if hasattr(id_values, "tolist") else list(id_values)
    return id_list[0] if id_list and isinstance(id_list[0], list) else id_list


def _shown_text(text: Any) -> str:
    if isinstance(text, str):
        return text
    strings = isinstance(text, tuple | list) and all(isinstance(part, str) for part in text)
    return "\n".join(text) if strings and text else ""


def _notes_on(stack: Maps, has_sinks: bool, around: Mapping[str, str]) -> list[run.Note]:
    """Return what is to be said of a stack's maps."""
    notes: list[run.Note] = []
    numbers = list(stack.layers)
    if numbers != list(range(len(numbers))):
        notes.append(("layers", {"numbers": ", ".join(map(str, numbers))}))
    if stack.nobody:
        low, high = (f"{total:.3f}" for total in stack.sums)
        sums = low if low == high else fill(around["sums"], low=low, high=high)
        notes.append(("sinks" if has_sinks else "nobody", {"sums": sums}))
    if stack.heads_assumed:
        notes.append(("heads", {"n": stack.heads_assumed}))
    return notes
