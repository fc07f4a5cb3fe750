"""Right numbers in the wrong place, and files read wrongly, put in on purpose: the page's own live check turns red.

Faults of whole formulas stand in ``test_faults.py``. Here the sums stay right: a neighbour's layer, head or token, an
order reversed, a file's bytes taken from somewhere else.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import torch

from pages.atlas import head as atlas_head
from pages.attention_today import nobody
from pages.next_word import compute as next_word
from pages.next_word.context import NextWordContext
from pages.positions import today as today_positions
from pages.positions.context import PositionsContext
from pages.share_kv import compute as share_kv
from pages.share_kv import mla
from tests.faults import Wrong
from tests.pages.faults.fault import Fault, failure_to_notice, forget_all, open_correct
from viz.components import head_grid as packed_grid
from viz.components import maps as strip
from viz.core.analysis import attribution, map_statistics
from viz.core.analysis.atlas import evidence
from viz.core.long import shapes
from viz.core.variants.today import gates, sinks
from viz.frame import compute
from viz.frame import show as frame_show
from viz.frame.compute import head_grid
from viz.models import LoadedModel, attention_interface, tokens
from viz.models import published as mixed_models
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
    "nibbles exchanged": Fault(
        quantised._nibbles,
        lambda right, codes, *a: right((codes << 4) | (codes >> 4), *a),
        (HEADS_SMALL, f"next_word/next_word?model={SMALL}&{SENTENCE}"),
        SMALL,
    ),
    "nibbles exchanged in e5": Fault(
        quantised._nibbles, lambda right, codes, *a: right((codes << 4) | (codes >> 4), *a), (HEADS_E5,), E5
    ),
    "the scale of the block before": Fault(quantised._blocks, _other_blocks, (HEADS_SMALL,), SMALL),
    "the scale of the block before in e5": Fault(quantised._blocks, _other_blocks, (HEADS_E5,), E5),
    "tensors a block late": Fault(parts.Cursor.tensor, _tensor_late, (HEADS_SMALL,), SMALL),
    "RoPE's pairs left side by side": Fault(gguf.turn_back, lambda _, weight, n: weight, (HEADS_SMALL,), SMALL),
    "another base of RoPE": Fault(
        gguf._config,
        _config(rope_parameters={"rope_type": "default", "rope_theta": 10_000.0}),
        (HEADS_SMALL,),
        SMALL,
    ),
    "another epsilon": Fault(gguf._config, _config(rms_norm_eps=1e-6), (HEADS_SMALL,), SMALL),
    "K and V exchanged": Fault(gguf._name, _exchanged, (HEADS_SMALL,), SMALL),
    # The next word
    "the lens a layer late": Fault(next_word.by_layer, _late_lens, (LENS,)),
    "the table's words a token on": Fault(
        NextWordContext.words,
        lambda right, context, numbers: right(context, [*numbers[5:], *numbers[:5]]),
        (TABLE,),
    ),
    "attribution with its heads in reverse": Fault(attribution.attribute, _reversed_heads, (WROTE,)),
    "feed-forward parts one on": Fault(attribution.attribute, _next_ff, (WROTE,)),
    "the diagonal for the token before": Fault(
        map_statistics.weight_at_offset, lambda right, weights, offset: right(weights, 0), (CUT,)
    ),
    "the heads of one layer of the swap exchanged": Fault(next_word.swap_heads, _one_layer_still, (SWAP,)),
    # Heads
    "labels a token on": Fault(head_grid.axis, _axis, (HEADS,)),
    "the layer below": Fault(
        Capture.multi_head,
        lambda right, seen, i, **o: right(seen, max(0, i - 1), **o),
        (f"{HEADS}&layer=3", f"step_by_step/steps?{SENTENCE}&layer=3"),
    ),
    "a scale that is halved in every model": Fault(
        attention_interface._attention,
        lambda right, module, q, k, v, mask, scaling=None, **o: right(
            module, q, k, v, mask, scaling=(scaling or q.shape[-1] ** -0.5) / 2, **o
        ),
        (HEADS, f"heads/all_heads?{TWIN}", TABLE, f"block/diagram?{SENTENCE}"),
    ),
    "the next head is switched off": Fault(
        attention_interface.silence,
        lambda right, numbers: right([(head + 1) % 8 for head in numbers]),
        (f"heads/switched_off?{SENTENCE}&off=2", f"heads/switched_off?{TWIN}&layer=1&off=3"),
    ),
    # A long text, the atlas
    "a shape that explains less is named": Fault(shapes.name_of, _name_of(0.2, 0.05), (LONG,)),
    "a shape that is nearly as good comes first": Fault(shapes.name_of, _name_of(0.5, 0.3), (LONG,)),
    "an interval half as wide": Fault(
        atlas_head.interval, lambda right, name, mean, half: right(name, mean, half / 2), ("atlas/map",)
    ),
    "a label for a mean above the hurdle": Fault(
        evidence.clears, lambda _, mean, half, least: mean > least, ("atlas/map?atlas_score=first",)
    ),
    "a hurdle without the heads of random weights": Fault(
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


DIFFER = "many_heads/differ"
IN_ALL = ("masks/editor", "step_by_step/steps", "stacking/gradient", DIFFER, "share_kv/who_shares",
          "positions/encodings", "block/diagram", "convolution/likeness", "long_text/map", "heads/numbers")  # fmt: skip
OF_A_LAYER = ("heads/numbers", "masks/editor", DIFFER, "share_kv/who_shares", "convolution/likeness")
CROSS = f"two_sequences/cross_attention?{SENTENCE}"

SIBLINGS = {
    # Right numbers in the wrong place
    "the heads of the small maps reversed": Fault(
        packed_grid.pack_wall, _each_map(lambda maps: maps.flip(0)), (HEADS, f"heads/all_heads?{WORDS}")
    ),
    "the small maps turned over their diagonal": Fault(
        packed_grid.pack_wall, _each_map(lambda maps: maps.mT.contiguous()), (HEADS, f"heads/all_heads?{TWIN}")
    ),
    "the small maps a layer late": Fault(
        head_grid._steps, lambda right, source, layer, *rest: right(source, max(0, layer - 1), *rest), (HEADS,)
    ),
    "the large map of the next head": Fault(
        head_grid.head_scores,
        lambda right, source, layer, head, *rest: right(source, layer, (head + 1) % 4, *rest),
        (HEADS,),
    ),
    "columns of the grid one on": Fault(packed_grid.Axis.sent, _sent_one_on, (HEADS, f"{HEADS}&merge=1", CROSS)),
    "the row of the next token": Fault(
        head_grid.layer_maps,
        _with_fields(values=lambda values: values.roll(1, 1)),
        (f"heads/row?{SENTENCE}",),
    ),
    "merged words one on": Fault(
        map_statistics.merge_words,
        lambda right, *a: right(*a).roll(1, -1),
        ("heads/row?merge=1&text=unbelievable+tokenization+works",),
    ),
    "every label one on": Fault(
        pieces.spell,
        lambda right, parts: _one_on(right(parts)),
        (*_with_sentence(*IN_ALL), CROSS, f"atlas/map?{SENTENCE}", CUT),
    ),
    "q and k of the next head": Fault(
        capturing._call,
        _with_fields(q=_one_on, k=_one_on),
        _with_sentence(*OF_A_LAYER),
    ),
    "values of the next token": Fault(
        capturing._call,
        _with_fields(v=lambda v: v.roll(1, 1)),
        (f"heads/arrivals?{SENTENCE}", f"step_by_step/steps?step=8&every_term=1&{SENTENCE}"),
    ),
    "k for v and v for k": Fault(
        capturing._call,
        lambda right, *a: replace(call := right(*a), k=call.v, v=call.k),
        (f"heads/numbers?{SENTENCE}", f"many_heads/inputs?{SENTENCE}"),
    ),
    "W_O of the next head": Fault(
        capturing.read_weights,
        lambda right, *a: replace(found := right(*a), w_o=found.w_o.roll(found.spec.d_v, 0)),
        (f"heads/joined?{SENTENCE}", f"many_heads/rank?{SENTENCE}"),
    ),
    "the vector of the next word": Fault(
        tokens.seeded_embeddings,
        lambda right, ids, *a: right(_one_on(ids), *a),
        (f"heads/numbers?{WORDS}", f"step_by_step/steps?step=8&every_term=1&{WORDS}", f"masks/editor?costs=1&{WORDS}"),
    ),
    "the next token's row of the embedding table": Fault(
        LoadedModel.embeddings,
        lambda right, model, ids: right(model, [*ids[1:], ids[0]]),
        (f"heads/numbers?source=embeddings&{SENTENCE}",),
    ),
    "words numbered from the end": Fault(
        tokens.split_words,
        _with_fields(ids=lambda ids: ids[::-1]),
        (f"masks/editor?{WORDS}", f"long_text/map?{WORDS}"),
    ),
    "the table's rows named after the next token": Fault(
        vars(NextWordContext)["labels"].fget, lambda right, context: _one_on(right(context)), (TABLE,)
    ),
    "the lens at the next token": Fault(next_word.by_layer, _lens_at_next_token, (LENS,)),
    "attribution with its layers reversed": Fault(
        attribution.attribute, _with_fields(heads=lambda values: values.flip(0)), (WROTE,)
    ),
    "the layers of a long text reversed": Fault(
        long_capture.long_capture,
        _with_fields(layers=lambda layers: layers[::-1]),
        (f"long_text/map?{SENTENCE}&layer=1", f"long_text/map?{TWIN}&layer=0"),
    ),
    # A file read wrongly
    "the layers of an atlas reversed": Fault(
        atlas_file._score, _with_fields(mean=lambda values: values.flip(0)), ("atlas/map",)
    ),
    "the random heads of an atlas reversed": Fault(
        atlas_file._score, _with_fields(random=lambda values: values.flip(1)), ("atlas/scatter",)
    ),
    "W_Q of two layers exchanged": Fault(
        loading.read_checkpoint, _other_w_q, (f"{HEADS}&layer=2", f"block/diagram?{SENTENCE}&layer=3"), MINILM
    ),
    "e5's vocabulary one on": Fault(
        e5._pieces,
        _with_fields(scored_pieces=lambda pieces: [*pieces[:4], *pieces[5:], pieces[4]]),
        (HEADS_E5,),
        E5,
    ),
    "e5's K and V exchanged": Fault(e5._name, _exchanged_e5, (HEADS_E5,), E5),
    "the next row of e5's packed table": Fault(
        parts.PackedTable.forward, lambda right, table, ids: right(table, ids + 1), (HEADS_E5,), E5
    ),
    "the bytes of a scale in the other order": Fault(quantised._blocks, _big_endian_scale, (HEADS_E5,), E5),
}
"""More of the same two kinds, over all pages."""


def _heads_one_on(right: Any, *args: Any, **options: Any) -> Any:
    """Return the next head's numbers."""
    return right(*args, **options).roll(1, 0)


def _next_head(right: Any, *args: Any, **options: Any) -> Any:
    """The maps of the next head, whose output stays."""
    trace = right(*args, **options)
    return replace(trace, attention=replace(trace.attention, weights=trace.attention.weights.roll(1, 0)))


def _last_numbers(right: Any, weights: Any, width: int) -> Any:
    """The last numbers of a latent vector, which matter least."""
    reversed_weights = replace(
        weights, w_down=weights.w_down.flip(1), w_up_k=weights.w_up_k.flip(0), w_up_v=weights.w_up_v.flip(0)
    )
    return right(reversed_weights, width)


def _kinds_exchanged(right: Any, **entry: Any) -> Any:
    """A model of the table with as many layers of each kind as it has of the other."""
    model = right(**entry)
    kinds = model.sizes["layers"]
    return replace(model, sizes={**model.sizes, "layers": dict(zip(kinds, reversed(kinds.values()), strict=True))})


def _only_full(right: Any, **entry: Any) -> Any:
    model = right(**entry)
    return replace(model, sizes={**model.sizes, "layers": {"full": sum(model.sizes["layers"].values())}})


def _levels_from_the_top(right: Any, t: Any, matrix: Any, **options: Any) -> Any:
    return right(t, replace(matrix, values=matrix.values.flip(0)), **options)


TODAY = f"{WORDS}&mask=causal"
HALF_TURNS = f"positions/today?{WORDS}&d_model=64&today_share=0.5&today_length=64"
STRIPS = (
    f"attention_today/nobody?{TODAY}", f"attention_today/tamed?{TODAY}", f"attention_today/difference?{TODAY}",
    f"share_kv/latent?{TODAY}&n_kv_heads=2&mla_width=6", HALF_TURNS,
)  # fmt: skip
"""Sections of today's attention that show one map beside another."""

NEWEST = {
    # Right numbers in the wrong place
    "the share that goes to nobody in the next head": Fault(
        nobody.share_of_nobody, _heads_one_on, (f"attention_today/nobody?{TODAY}",)
    ),
    "the first token's share in the next head": Fault(
        sinks.first_token_share, _heads_one_on, (f"attention_today/nobody?{TODAY}&head=1",)
    ),
    "the maps of a strip exchanged": Fault(
        strip.pack_maps, lambda right, panels, values, **options: right(panels, values.flip(0), **options), STRIPS
    ),
    "gates of the next word": Fault(
        gates.output_gate, lambda right, *a, **o: right(*a, **o).roll(1, 1), (f"attention_today/gate?{TODAY}",)
    ),
    "gates of the next head": Fault(
        gates.output_gate, _heads_one_on, (f"attention_today/gate?{TODAY}&gated=dimension",)
    ),
    "the map of the next head behind a latent vector": Fault(
        mla.LatentLayer.with_width, _next_head, (f"share_kv/latent?{TODAY}&n_kv_heads=2",)
    ),
    "numbers of MLA beside those of MHA": Fault(
        mla.ways,
        lambda right, *a: dict(zip(ways := right(*a), reversed(ways.values()), strict=True)),
        (f"share_kv/latent?{TODAY}",),
    ),
    "q and k of the next head, unturned": Fault(
        today_positions.head_vectors,
        lambda right, context: right(replace(context, head=(context.head + 1) % context.spec.H)),
        (HALF_TURNS, f"positions/today?{SENTENCE}"),
    ),
    "wavelengths of the next pair": Fault(
        today_positions.wavelengths,
        lambda right, omega: right(omega).roll(1),
        (HALF_TURNS, f"{HALF_TURNS}&today_factor=1"),
    ),
    "scores without positions of the next head": Fault(
        PositionsContext.scores,
        lambda right, context, *a: right(replace(context, head=(context.head + 1) % context.spec.H), *a),
        (f"positions/no_positions?{WORDS}",),
    ),
    "levels drawn from the top": Fault(
        frame_show.show_matrix, _levels_from_the_top, (f"masks/layers?{WORDS}&pattern=three&near_size=2&stack=4",)
    ),
    "the rows of the k largest one on": Fault(
        frame_show.show_matrix,
        lambda right, t, matrix, **options: right(t, replace(matrix, values=matrix.values.roll(1, 0)), **options),
        (f"masks/top_k?{TODAY}&keep=2", f"attention_today/gate?{TODAY}"),
    ),
    # A file read wrongly
    "a latent vector of its last numbers": Fault(
        mla.narrow, _last_numbers, (f"share_kv/latent?{TODAY}&n_kv_heads=2&mla_width=6",)
    ),
    "W_K and W_V of the layer below behind a latent vector": Fault(
        share_kv.latent_layer,
        lambda right, source, layer: right(source, max(0, layer - 1)),
        (f"share_kv/latent?{SENTENCE}&layer=3",),
    ),
    "as many full layers as there are others": Fault(mixed_models._of_config, _kinds_exchanged, ("cost/mixes",)),
    "windows of a preset read as full layers": Fault(mixed_models._of_preset, _only_full, ("cost/mixes",)),
}
"""The same two kinds on the newest sections."""
ALL = FAULTS | SIBLINGS | NEWEST


READ_ANEW = {name for name, fault in ALL.items() if fault.model} - {"nibbles exchanged", "e5's K and V exchanged"}
"""Faults of the long suite: for each a packed file of a hundred million weights is read anew, which takes seconds."""


@pytest.fixture
def read_anew() -> Iterator[Any]:
    """Forget models, atlases and tables, so that files are read with a fault in it, and once more after the test."""
    used: list[str] = []

    def forget(name: str) -> None:
        atlas_file._shipped.cache_clear()
        mixed_models.models.cache_clear()
        if name:
            used.append(name)
            compute.model.clear()

    yield forget
    atlas_file._shipped.cache_clear()
    mixed_models.models.cache_clear()
    if used:
        compute.model.clear()
    forget_all()


@pytest.mark.parametrize(
    ("name", "link"),
    [
        pytest.param(name, link, marks=pytest.mark.long if link != fault.places[0] or name in READ_ANEW else ())
        for name, fault in ALL.items()
        for link in fault.places
    ],
)
def test_misplaced_number_turns_check_red(open_app, read_anew, name, link):
    """The page's own check is green as it is, and red with the fault in it."""
    app, section = open_correct(open_app, link)
    assert failure_to_notice(app, section, ALL[name], read_anew) == ""
