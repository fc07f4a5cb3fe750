"""``viz.show``: every head of a model, of what a model gave, or of attentions and tokens that are at hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viz.components.one_file import Caption, grid_words
from viz.components.take_away import Stack
from viz.notebook import run
from viz.notebook.arguments import (
    check_choice,
    check_text,
    check_tokenizer,
    layer_numbers,
    name_of,
    open_model,
    open_tokenizer,
)
from viz.notebook.device import on_processor
from viz.notebook.forms.arrays import as_maps
from viz.notebook.forms.mistakes import scale_note
from viz.notebook.forms.structure import by_name
from viz.notebook.inputs import name_tokens
from viz.notebook.maps import Maps, read_layers
from viz.notebook.stacks import stack_of
from viz.notebook.survey import PLAIN
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
        n_heads, rows, columns = stack.shape
        if rows != columns == n_heads and not pair:
            raise ValueError(
                f"The {name} maps are {n_heads} heads of {rows} × {columns}: as many heads as keys. Of {columns} "
                f"tokens heads and queries are exchanged, and layer.transpose(-3, -2) has {rows} heads. Of other "
                "tokens along the rows hand over two lists, (row_tokens, column_tokens)."
            )
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


def open_widget() -> "tuple[type[HeadGrid], tuple[str, ...]]":
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
    q: Any = None,
    k: Any = None,
    lang: str = "en",
    title: str = "",
    **choice: Any,
) -> "HeadGrid":
    """Show every head in a notebook: small maps of all, one of them large, all of it alive under the pointer.

    ``show(model, tokenizer, "a text")`` runs a model of transformers, and checks that the weights it gives are those it
    uses. ``show(attentions, tokens)`` takes what there is: a tuple, a list or an array with (1, heads, queries, keys)
    for each layer, one matrix, all that a model or ``generate()`` gave with ``output_attentions=True``, or a cache of
    TransformerLens. Of an
    encoder-decoder it is ``show((encoder, decoder, cross), (tokens, decoder_tokens))``; of maps with other tokens along
    the rows than along the columns, ``show(attentions, (row_tokens, column_tokens))``.

    Args:
        model: a model of transformers, or attentions.
        tokens: its tokenizer, of transformers, or the tokens along the maps.
        text: a string, two strings that an encoder reads as a pair, token ids, or what the tokenizer gave.
        target: what the decoder of an encoder-decoder reads; without it, what it writes itself.
        layers: the numbers that handed-over layers have in their model, if these do not count from 0.
        q: queries (heads, tokens, d) of the first layer with maps, to find what its scores were multiplied by.
        k: its keys.
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
    grid, names = open_widget()
    check_choice(choice, names)
    picture = read_picture(model, tokens, text, target=target, layers=layers, q=q, k=k, lang=lang, title=title)
    return grid(picture.stacks, picture.maps, lang=lang, caption=picture.caption, **choice)


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """A grid's stacks as they are packed for a browser, their maps, and the words above and below them."""

    stacks: Sequence[Stack]
    maps: Mapping[str, Maps]
    caption: Caption


@on_processor()
def read_picture(
    model: Any, tokens: Any, text: Any, *, target: Any, layers: Any, q: Any, k: Any, lang: str, title: str
) -> Picture:
    """Read what :func:`show` is handed, for any place that a grid is drawn in; its errors are those of ``show``."""
    if lang not in LANGUAGES:
        raise ValueError(f"lang={lang!r} is none of {', '.join(LANGUAGES)}.")
    around = grid_words(lang)["around"]
    check_text(model, tokens, text)
    if text is None or not hasattr(model, "named_modules"):
        stacks = _of_attentions(model, tokens, text, layer_numbers(layers))
    else:
        model = open_model(model)
        stacks = _of_model(model, open_tokenizer(tokens), text, target)
        title = title or fill(around["title"], model=name_of(model))
    column = around["nobody" if stacks.has_sinks else "missing"]
    packed_stacks = [
        stack_of(name, maps, *stacks.along[name], nobody=column, same=stacks.has_same_words(name))
        for name, maps in stacks.maps.items()
    ]
    notes = [*stacks.notes, *(note for maps in stacks.maps.values() for note in _notes_on(maps, stacks, around))]
    if q is not None and k is not None:
        first = next(iter(stacks.maps.values()))
        notes.append(scale_note(first.layers[next(iter(first.layers))], as_maps(q, "q", 2), as_maps(k, "k", 2)))
    notes += stacks.changes
    notes += [("opened", {})] if any(maps.small for maps in stacks.maps.values()) else []
    facts = list(dict.fromkeys(fill(around[f"note_{name}"], **values) for name, values in notes))
    caption = Caption(title=title or around["heads"], text=_shown_text(text), facts=facts)
    return Picture(stacks=packed_stacks, maps=stacks.maps, caption=caption)


@dataclass(frozen=True, kw_only=True)
class _Stacks:
    """The maps of every stack, the tokens along them, and notes; ``changes`` stand behind those on the maps."""

    maps: Mapping[str, Maps]
    along: Mapping[str, Along]
    notes: Sequence[run.Note]
    changes: Sequence[run.Note] = ()
    has_sinks: bool = False

    @property
    def is_together(self) -> bool:
        """True if each row of the decoder's own maps and of the cross maps sum to 1 together."""
        decoder, cross = (self.maps[name].nobody if name in self.maps else {} for name in ("decoder", "cross"))
        rests = [decoder[i] + cross[i] for i in decoder if i in cross and decoder[i].shape == cross[i].shape]
        return bool(rests) and all(bool(((rest - 1).abs() < PLAIN).all()) for rest in rests)

    def has_same_words(self, name: str) -> bool:
        """Return whether the words along a stack's rows are those along its columns."""
        rows, columns = self.along[name]
        return name != "cross" and (rows is columns or list(map(str, rows)) == list(map(str, columns)))


def _of_model(model: Any, tokenizer: Any, text: Any, target: Any) -> _Stacks:
    """Run a model on a text."""
    reading = run.read(model, tokenizer, text, target)
    maps = {name: read_layers(layers, name, reading.numbers[name]) for name, layers in reading.stacks.items()}
    tokens = reading.tokens if len(reading.tokens) == 2 else reading.tokens[0]
    return _Stacks(
        maps=maps, along=_along(maps, tokens), notes=reading.notes, changes=reading.changes, has_sinks=reading.has_sinks
    )


def _of_attentions(attentions: Any, tokens: Any, text: Any, numbers: Sequence[int] | None) -> _Stacks:
    """Read attentions that were handed over, with their tokens, or with a tokenizer and a text."""
    named_stacks, notes = by_name(attentions), list[run.Note]()
    if (shape := named_stacks.first_axis) is not None:
        notes.append(("first_axis", {"size": " × ".join(map(str, shape)), "n": shape[0]}))
    tokens = tokens if text is None else name_tokens(tokens, _ids_of(tokens, text))
    maps = {name: read_layers(layers, name, numbers) for name, layers in named_stacks.stacks.items()}
    along = _along(maps, tokens)
    if named_stacks.is_generated:
        along, is_shorter = _without_written(maps, along)
        notes += [("written", {})] if is_shorter else []
    return _Stacks(maps=maps, along=along, notes=notes)


def _ids_of(tokenizer: Any, text: Any) -> list[int]:
    """The token ids of a text, or those that were handed over in its stead."""
    check_tokenizer(tokenizer)
    texts = (text,) if isinstance(text, str) else text
    if isinstance(texts, tuple | list) and len(texts) in (1, 2) and all(isinstance(part, str) for part in texts):
        return list(tokenizer(*texts)["input_ids"])
    ids = text["input_ids"] if isinstance(text, Mapping) else text
    id_list = ids.tolist() if hasattr(ids, "tolist") else ids
    id_list = (
        id_list[0] if isinstance(id_list, list) and len(id_list) == 1 and isinstance(id_list[0], list) else id_list
    )
    if not isinstance(id_list, list) or not all(isinstance(number, int) for number in id_list):
        raise ValueError(
            f"Beside attentions and a tokenizer stands {type(text).__name__} as the text: a string or its token ids, "
            "viz.show(attentions, tokenizer, text)."
        )
    return id_list


def _shown_text(text: Any) -> str:
    if isinstance(text, str):
        return text
    strings = isinstance(text, tuple | list) and all(isinstance(part, str) for part in text)
    return "\n".join(text) if strings and text else ""


def _notes_on(stack: Maps, stacks: _Stacks, around: Mapping[str, str]) -> list[run.Note]:
    """Return what is to be said of a stack's maps."""
    notes: list[run.Note] = []
    numbers = list(stack.layers)
    if numbers != list(range(len(numbers))):
        notes.append(("layers", {"numbers": ", ".join(map(str, numbers))}))
    if stack.mask_note and not (stacks.has_sinks or stacks.is_together):
        notes.append((stack.mask_note, {}))
    if stack.nobody:
        low, high = (f"{total:.3f}" for total in stack.sums)
        sums = low if low == high else fill(around["sums"], low=low, high=high)
        name = "together" if stacks.is_together else "sinks" if stacks.has_sinks else "nobody"
        notes.append((name, {"sums": sums}))
    if stack.heads_assumed:
        notes.append(("heads", {"n": stack.heads_assumed}))
    return notes
