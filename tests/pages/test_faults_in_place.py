"""Right numbers in the wrong place, and files read wrongly, put in on purpose: the page's own live check turns red.

Faults of whole formulas stand in ``test_faults.py``. Here the sums stay right: a neighbour's layer, head or token, an
order reversed, a file's bytes taken from somewhere else.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch

from pages.atlas import head as atlas_head
from pages.next_word import compute as next_word
from pages.next_word.context import NextWordContext
from tests.faults import Wrong, put_in
from tests.pages.test_faults import forget_all
from tests.running import checked
from viz.components import head_grid as packed_grid
from viz.components import take_away
from viz.core.analysis import attribution, map_statistics
from viz.core.analysis.atlas import evidence
from viz.core.long import shapes
from viz.frame import compute
from viz.frame.compute import head_grid
from viz.models import LoadedModel, attention_interface, tokens
from viz.models.atlas import file as atlas_file
from viz.models.capture import Capture
from viz.models.long import capture as long_capture
from viz.models.packaged import e5, gguf, parts, quantised
from viz.models.spelling import pieces

# The package names two functions after their modules.
capturing, loading = import_module("viz.models.capture"), import_module("viz.models.load")

SMALL, E5, MINILM = "SmolLM2-135M-Instruct", "multilingual-e5-small", "all-MiniLM-L6-v2"
SENTENCE = "text=the+old+cat+sees+a+small+red+bird"
TWIN = "model=twin-g8&text=red+blue+red+green+red+blue"
WORDS = f"source=words&n_heads=4&{SENTENCE}"


@dataclass(frozen=True)
class Misplaced:
    """A fault: the function, what it does instead, and the links that must notice; ``model`` is read anew with it."""

    function: Any
    wrong: Wrong
    places: tuple[str, ...]
    model: str = ""


def _late_lens(right: Any, *args: Any) -> Any:
    result, late = right(*args), {}
    for name, values in vars(result).items():
        late[name] = torch.cat([values[1:-1], values[-2:-1], values[-1:]])
    return replace(result, **late)


def _reversed_heads(right: Any, *args: Any, **options: Any) -> Any:
    result = right(*args, **options)
    return replace(result, heads=result.heads.flip(1))


def _next_ff(right: Any, *args: Any, **options: Any) -> Any:
    result = right(*args, **options)
    return replace(result, feed_forward=result.feed_forward.roll(1))


def _axis(right: Any, side: Any, view: Any) -> Any:
    result = right(side, view)
    return replace(result, labels=(*result.labels[1:], result.labels[0]))


def _config(**changes: Any) -> Wrong:
    def wrong(right: Any, *args: Any, **options: Any) -> Any:
        config = right(*args, **options)
        for name, value in changes.items():
            setattr(config, name, value)
        return config

    return wrong


def _exchanged(right: Any, name: str) -> str:
    """K under V's name, and V under K's."""
    return {"k": right(name.replace("attn_k", "attn_v")), "v": right(name.replace("attn_v", "attn_k"))}.get(
        "k" if "attn_k" in name else "v" if "attn_v" in name else "", right(name)
    )


def _exchanged_e5(right: Any, name: str) -> str:
    """K under V's name, and V under K's."""
    for own_value, second in ((".k.", ".v."), (".v.", ".k.")):
        if own_value in name:
            return str(right(name.replace(own_value, second)))
    return str(right(name))


def _other_blocks(right: Any, data: Any, *sizes: int) -> Any:
    scale, codes = right(data, *sizes)
    return scale.roll(1, 0), codes


def _one_layer_still(right: Any, source: Any, second: Any, layer: int, at: int) -> Any:
    result = right(source, second, layer, at)
    return result.roll(1, 0) if layer == 0 else result


def _tensor_late(right: Any, cursor: Any, n_bytes: int) -> Any:
    """W_Q and W_O, which have this size, begin a block of 20 bytes too late."""
    if n_bytes == 576 * 576 // 32 * 20:
        cursor.at += 20
    return right(cursor, n_bytes)


def _big_endian_scale(right: Any, data: Any, *sizes: int) -> Any:
    scale, codes = right(data, *sizes)
    return scale.half().view(torch.uint8).view(-1, 2).flip(1).contiguous().view(torch.float16).float().view(
        scale.shape
    ).nan_to_num(0.0), codes


def _name_of(half: float, close: float) -> Wrong:
    """The rule for the name of a shape with other thresholds."""

    def wrong(_: Any, shares: dict[str, float], even: float) -> str:
        best = max(shares.values())
        name = next(name for name in shapes.SHAPES if shares[name] >= best - close)
        return name if shares[name] - even >= half * (1 - even) and even < 1 else ""

    return wrong


HEADS, HEADS_SMALL = f"heads/all_heads?{SENTENCE}", f"heads/all_heads?model={SMALL}&{SENTENCE}&layer=7"
HEADS_E5 = f"heads/all_heads?model={E5}&{SENTENCE}&layer=4"
LENS, TABLE = f"next_word/logit_lens?{TWIN}", f"next_word/next_word?{TWIN}"
WROTE, CUT = f"next_word/attribution?{TWIN}", f"next_word/switch_off?{TWIN}"
SWAP = f"next_word/swap?{TWIN}&swap_with=red+blue+red+green+red+red"
LONG = f"long_text/wall?model={MINILM}&text={'the+cat+saw+a+dog+and+' * 60}"

FAULTS = {
    # A packed file read wrongly
    "nibbles exchanged": Misplaced(
        quantised._nibbles,
        lambda right, codes, *a: right((codes << 4) | (codes >> 4), *a),
        (HEADS_SMALL, f"next_word/next_word?model={SMALL}&{SENTENCE}"),
        SMALL,
    ),
    "nibbles exchanged in e5": Misplaced(
        quantised._nibbles, lambda right, codes, *a: right((codes << 4) | (codes >> 4), *a), (HEADS_E5,), E5
    ),
    "the scale of the block before": Misplaced(quantised._blocks, _other_blocks, (HEADS_SMALL,), SMALL),
    "the scale of the block before in e5": Misplaced(quantised._blocks, _other_blocks, (HEADS_E5,), E5),
    "tensors a block late": Misplaced(parts.Cursor.tensor, _tensor_late, (HEADS_SMALL,), SMALL),
    "RoPE's pairs left side by side": Misplaced(gguf.turn_back, lambda _, weight, n: weight, (HEADS_SMALL,), SMALL),
    "another base of RoPE": Misplaced(
        gguf._config,
        _config(rope_parameters={"rope_type": "default", "rope_theta": 10_000.0}),
        (HEADS_SMALL,),
        SMALL,
    ),
    "another epsilon": Misplaced(gguf._config, _config(rms_norm_eps=1e-6), (HEADS_SMALL,), SMALL),
    "K and V exchanged": Misplaced(gguf._name, _exchanged, (HEADS_SMALL,), SMALL),
    # The next word
    "the lens a layer late": Misplaced(next_word.by_layer, _late_lens, (LENS,)),
    "the table's words a token on": Misplaced(
        NextWordContext.words,
        lambda right, context, numbers: right(context, [*numbers[5:], *numbers[:5]]),
        (TABLE,),
    ),
    "attribution with its heads in reverse": Misplaced(attribution.attribute, _reversed_heads, (WROTE,)),
    "feed-forward parts one on": Misplaced(attribution.attribute, _next_ff, (WROTE,)),
    "the diagonal for the token before": Misplaced(
        map_statistics.weight_at_offset, lambda right, weights, offset: right(weights, 0), (CUT,)
    ),
    "the heads of one layer of the swap exchanged": Misplaced(next_word.swap_heads, _one_layer_still, (SWAP,)),
    # Heads
    "labels a token on": Misplaced(head_grid.axis, _axis, (HEADS,)),
    "the layer below": Misplaced(
        Capture.multi_head,
        lambda right, seen, i, **o: right(seen, max(0, i - 1), **o),
        (f"{HEADS}&layer=3", f"step_by_step/steps?{SENTENCE}&layer=3"),
    ),
    "a scale that is halved in every model": Misplaced(
        attention_interface._attention,
        lambda right, module, q, k, v, mask, scaling=None, **o: right(
            module, q, k, v, mask, scaling=(scaling or q.shape[-1] ** -0.5) / 2, **o
        ),
        (HEADS, f"heads/all_heads?{TWIN}", TABLE, f"block/diagram?{SENTENCE}"),
    ),
    "the next head is switched off": Misplaced(
        attention_interface.silence,
        lambda right, numbers: right([(head + 1) % 8 for head in numbers]),
        (f"heads/switched_off?{SENTENCE}&off=2", f"heads/switched_off?{TWIN}&layer=1&off=3"),
    ),
    # A long text, the atlas
    "a shape that explains less is named": Misplaced(shapes.name_of, _name_of(0.2, 0.05), (LONG,)),
    "a shape that is nearly as good comes first": Misplaced(shapes.name_of, _name_of(0.5, 0.3), (LONG,)),
    "an interval half as wide": Misplaced(
        atlas_head.interval, lambda right, name, mean, half: right(name, mean, half / 2), ("atlas/map",)
    ),
    "a label for a mean above the hurdle": Misplaced(
        evidence.clears, lambda _, mean, half, least: mean > least, ("atlas/map?atlas_score=first",)
    ),
    "a hurdle without the heads of random weights": Misplaced(
        evidence.hurdle,
        lambda right, name, even, random: right(name, even, random * 0) - 0.01,
        ("atlas/map?model=twin-g1&atlas_corpus=own&text=the+old+cat%0Athe+cat+sees+the+dog%0Aa+red+house",),
    ),
}
"""The faults that were once put in without any check turning red."""


def _with_fields(**change: Any) -> Wrong:
    """A result with some of its fields made into something else."""

    def wrong(right: Any, *args: Any, **options: Any) -> Any:
        result = right(*args, **options)
        return replace(result, **{name: make(getattr(result, name)) for name, make in change.items()})

    return wrong


def _one_on(values: Any) -> Any:
    """Each value at the place of the one before."""
    return values.roll(1, 0) if isinstance(values, torch.Tensor) else (*values[1:], values[0])


def _other_w_q(right: Any, *args: Any) -> Any:
    """W_Q of layer 2 read as that of layer 3, and the other way round."""
    model = right(*args)
    first, second = (model.base_model.encoder.layer[i].attention.self.query.weight for i in (2, 3))
    with torch.no_grad():
        retained = first.clone()
        first.copy_(second)
        second.copy_(retained)
    return model


def _sent_one_on(right: Any, side: Any) -> dict[str, Any]:
    payload: dict[str, Any] = right(side)
    return payload | {"of": [payload["of"][-1], *payload["of"][:-1]]}


def _each_map(change: Any) -> Wrong:
    """The wall with every layer's maps made into something else."""
    return lambda right, layers, **o: right(((change(maps), numbers) for maps, numbers in layers), **o)


def _lens_at_next_token(right: Any, *args: Any) -> Any:
    result = right(*args)
    return replace(result, **{name: torch.cat([v[:-1].roll(1, 1), v[-1:]]) for name, v in vars(result).items()})


def _with_sentence(*places: str) -> tuple[str, ...]:
    return tuple(f"{place}{'&' if '?' in place else '?'}{SENTENCE}" for place in places)


DIFFER = "many_heads/experts?experts_view=differ"
IN_ALL = ("masks/editor", "step_by_step/steps", "stacking/rollout", DIFFER, "share_kv/who_shares",
          "positions/encodings", "block/diagram", "convolution/likeness", "long_text/map", "heads/numbers")  # fmt: skip
OF_A_LAYER = ("heads/numbers", "masks/editor", DIFFER, "share_kv/who_shares", "convolution/likeness")
CROSS = f"two_sequences/cross_attention?{SENTENCE}"

SIBLINGS = {
    # Right numbers in the wrong place
    "the heads of the small maps reversed": Misplaced(
        packed_grid.pack_wall, _each_map(lambda maps: maps.flip(0)), (HEADS, f"heads/all_heads?{WORDS}")
    ),
    "the small maps turned over their diagonal": Misplaced(
        packed_grid.pack_wall, _each_map(lambda maps: maps.mT.contiguous()), (HEADS, f"heads/all_heads?{TWIN}")
    ),
    "the small maps a layer late": Misplaced(
        head_grid._steps, lambda right, source, layer, *rest: right(source, max(0, layer - 1), *rest), (HEADS,)
    ),
    "the large map of the next head": Misplaced(
        head_grid.head_scores,
        lambda right, source, layer, head, *rest: right(source, layer, (head + 1) % 4, *rest),
        (HEADS,),
    ),
    "columns of the grid one on": Misplaced(take_away.Axis.sent, _sent_one_on, (HEADS, f"{HEADS}&merge=1", CROSS)),
    "the row of the next token": Misplaced(
        head_grid.layer_maps,
        _with_fields(values=lambda values: values.roll(1, 1)),
        (f"heads/all_heads?heads_view=row&{SENTENCE}",),
    ),
    "merged words one on": Misplaced(
        map_statistics.merge_words,
        lambda right, *a: right(*a).roll(1, -1),
        ("heads/all_heads?heads_view=row&merge=1&text=unbelievable+tokenization+works",),
    ),
    "every label one on": Misplaced(
        pieces.spell,
        lambda right, parts: _one_on(right(parts)),
        (*_with_sentence(*IN_ALL), CROSS, f"atlas/map?{SENTENCE}", CUT),
    ),
    "q and k of the next head": Misplaced(
        capturing._call,
        _with_fields(q=_one_on, k=_one_on),
        _with_sentence(*OF_A_LAYER),
    ),
    "values of the next token": Misplaced(
        capturing._call,
        _with_fields(v=lambda v: v.roll(1, 1)),
        (f"heads/arrivals?{SENTENCE}", f"step_by_step/steps?step=8&every_term=1&{SENTENCE}"),
    ),
    "k for v and v for k": Misplaced(
        capturing._call,
        lambda right, *a: replace(call := right(*a), k=call.v, v=call.k),
        (f"heads/numbers?{SENTENCE}", f"many_heads/inputs?{SENTENCE}"),
    ),
    "W_O of the next head": Misplaced(
        capturing.read_weights,
        lambda right, *a: replace(found := right(*a), w_o=found.w_o.roll(found.spec.d_v, 0)),
        (f"heads/joined?{SENTENCE}", f"many_heads/inputs?inputs_view=rank&{SENTENCE}"),
    ),
    "the vector of the next word": Misplaced(
        tokens.seeded_embeddings,
        lambda right, ids, *a: right(_one_on(ids), *a),
        (f"heads/numbers?{WORDS}", f"step_by_step/steps?step=8&every_term=1&{WORDS}", f"masks/editor?costs=1&{WORDS}"),
    ),
    "the next token's row of the embedding table": Misplaced(
        LoadedModel.embeddings,
        lambda right, model, ids: right(model, [*ids[1:], ids[0]]),
        (f"heads/numbers?source=embeddings&{SENTENCE}",),
    ),
    "words numbered from the end": Misplaced(
        tokens.split_words,
        _with_fields(ids=lambda ids: ids[::-1]),
        (f"masks/editor?{WORDS}", f"long_text/map?{WORDS}"),
    ),
    "the table's rows named after the next token": Misplaced(
        vars(NextWordContext)["labels"].fget, lambda right, context: _one_on(right(context)), (TABLE,)
    ),
    "the lens at the next token": Misplaced(next_word.by_layer, _lens_at_next_token, (LENS,)),
    "attribution with its layers reversed": Misplaced(
        attribution.attribute, _with_fields(heads=lambda values: values.flip(0)), (WROTE,)
    ),
    "the layers of a long text reversed": Misplaced(
        long_capture.long_capture,
        _with_fields(layers=lambda layers: layers[::-1]),
        (f"long_text/map?{SENTENCE}&layer=1", f"long_text/map?{TWIN}&layer=0"),
    ),
    # A file read wrongly
    "the layers of an atlas reversed": Misplaced(
        atlas_file._score, _with_fields(mean=lambda values: values.flip(0)), ("atlas/map",)
    ),
    "the random heads of an atlas reversed": Misplaced(
        atlas_file._score, _with_fields(random=lambda values: values.flip(1)), ("atlas/scatter",)
    ),
    "W_Q of two layers exchanged": Misplaced(
        loading.read_checkpoint, _other_w_q, (f"{HEADS}&layer=2", f"block/diagram?{SENTENCE}&layer=3"), MINILM
    ),
    "e5's vocabulary one on": Misplaced(
        e5._pieces,
        _with_fields(scored_pieces=lambda pieces: [*pieces[:4], *pieces[5:], pieces[4]]),
        (HEADS_E5,),
        E5,
    ),
    "e5's K and V exchanged": Misplaced(e5._name, _exchanged_e5, (HEADS_E5,), E5),
    "the next row of e5's packed table": Misplaced(
        parts.PackedTable.forward, lambda right, table, ids: right(table, ids + 1), (HEADS_E5,), E5
    ),
    "the bytes of a scale in the other order": Misplaced(quantised._blocks, _big_endian_scale, (HEADS_E5,), E5),
}
"""More of the same two kinds, over all pages."""
ALL = FAULTS | SIBLINGS


@pytest.fixture
def read_anew() -> Iterator[Any]:
    """Forget models and atlases, so that their files are read with a fault in it, and once more after the test."""
    used: list[str] = []

    def forget(name: str) -> None:
        atlas_file._shipped.cache_clear()
        if name:
            used.append(name)
            compute.model.clear()

    yield forget
    atlas_file._shipped.cache_clear()
    if used:
        compute.model.clear()
    forget_all()


def open_checked(open_app: Any, link: str) -> tuple[Any, str]:
    """Open a link of the table."""
    path, _, query = link.partition("?")
    page, section = path.split("/")
    return open_app(page, section=section, **dict(parse_qsl(query))), section


@pytest.mark.parametrize(("name", "link"), [(name, link) for name, fault in ALL.items() for link in fault.places])
def test_misplaced_number_turns_check_red(open_app, read_anew, name, link):
    """The page's own check is green as it is, and red with the fault in it."""
    fault = ALL[name]
    forget_all()
    app, section = open_checked(open_app, link)
    assert not app.exception
    n_passed, n = checked(app, section)
    assert n_passed == n > 0
    with pytest.MonkeyPatch.context() as patch:
        put_in(patch, fault.function, fault.wrong)
        forget_all()
        read_anew(fault.model)
        app.run()
        n_passed, n = checked(app, section)
        failure = [str(error.value) for error in app.exception]
    forget_all()
    assert not failure
    assert n_passed < n
