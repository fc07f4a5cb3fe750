"""Models write, one token after another: an encoder-decoder with every row of attention kept, a decoder on and on."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from viz.cancellation import check
from viz.core.analysis.lens import chances
from viz.errors import ModelError
from viz.models.attention_interface import Recorder, recording
from viz.models.layout import LoadedModel
from viz.models.tokens import Tokens, labels, read_text


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Generated tokens, and the attention rows of every step, stacked.

    ``tokens`` is the text, ``target`` what was written, the end mark included if it came. ``rows`` has, for the
    stacks "decoder" and "cross", the weights of each layer: (H, steps, steps), 0 where a token was not there yet,
    and (H, steps, K). ``text`` is all of it as a text.
    """

    tokens: Tokens
    target: Tokens
    rows: Mapping[str, tuple[Tensor, ...]]
    text: str


def _last_weights(model: LoadedModel, recorder: Recorder) -> dict[str, list[Tensor]]:
    """The weights (H, 1, keys) of every decoder layer in the step just run."""
    weights_by_stack: dict[str, list[Tensor]] = {"decoder": [], "cross": []}
    for layer in model.layers:
        if layer.layout.stack in weights_by_stack:
            weights_by_stack[layer.layout.stack].append(recorder.weights[id(layer.attention)][0])
    return weights_by_stack


def _stitch(rows: list[Tensor], stack: str) -> Tensor:
    """Rows (H, 1, keys) under each other; a decoder's row t ends with key t, and is 0 beyond it and before a window."""
    if stack == "cross":
        return torch.cat(rows, dim=1)
    ends = enumerate(rows, start=1)
    return torch.cat([nn.functional.pad(row, (t - row.shape[-1], len(rows) - t)) for t, row in ends], dim=1)


def _ends(model: LoadedModel) -> set[int]:
    end = model.model.generation_config.eos_token_id
    return set(end) if isinstance(end, list) else {end}


def _cache_name(model: LoadedModel) -> str:
    """Return by which name a model takes the keys and values of earlier tokens; transformers 5.24 renames it."""
    return "cache" if "cache" in signature(model.model.forward).parameters else "past_key_values"


def _cache_of(result: Mapping[str, Any]) -> Any:
    """Return the keys and values that a model has added to, by the name that it gives them."""
    return next(result[name] for name in ("cache", "past_key_values") if name in result)


def _cut(model: LoadedModel, ids: list[int]) -> Tokens:
    special = set(model.tokenizer.all_special_ids)
    return Tokens(
        ids=tuple(ids),
        labels=labels(model.tokenizer, ids),
        special=tuple(i in special for i in ids),
        words=tuple(range(len(ids))),
    )


def write(model: LoadedModel, text: str, *, max_new: int, max_tokens: int | None = None) -> Writing:
    """Let an encoder-decoder write: the likeliest token at each step (greedy), until its end mark.

    Keys and values of earlier steps are kept, as in real use: each step asks with one query only. The text that it
    reads has ``max_tokens`` at most, special tokens included; None is the model's own limit.

    Raises:
        ModelError: if the text has no token, or the model has nothing to write with.
    """
    tokens = read_text(model.tokenizer, text, min(max_tokens or model.max_tokens, model.max_tokens))
    ids = [model.model.config.decoder_start_token_id or 0]
    rows: list[dict[str, list[Tensor]]] = []
    inputs: dict[str, Any] = {"use_cache": True, "return_dict": True}
    cache = _cache_name(model)
    with torch.inference_mode(), recording({}, maps=True) as recorder:
        inputs["encoder_outputs"] = model.model.get_encoder()(torch.tensor([tokens.ids]), return_dict=True)
        while len(rows) < min(max_new, model.max_tokens):
            result = model.model(**inputs, decoder_input_ids=torch.tensor([ids[-1:]]))
            if getattr(result, "logits", None) is None:
                raise ModelError("silent", model=model.entry.id)
            inputs[cache] = _cache_of(result)
            rows.append(_last_weights(model, recorder))
            ids.append(int(result.logits[0, -1].argmax()))
            if ids[-1] in _ends(model):
                break
    stitched = {
        stack: tuple(_stitch([step[stack][i] for step in rows], stack) for i in range(len(rows[0][stack])))
        for stack in rows[0]
    }
    output_text = model.tokenizer.decode(ids[1:], skip_special_tokens=True)
    return Writing(tokens=tokens, target=_cut(model, ids[1:]), rows=stitched, text=output_text)


def _pick(logits: Tensor, temperature: float, seed: int, place: int) -> int:
    """The likeliest token, or one drawn; each place has a generator of its own, so that pieces of a text fit together.

    A generator reads the low 32 bits of its seed only: both numbers must go into them.
    """
    if not temperature:
        return int(logits.argmax())
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {place}".encode()))
    return int(torch.multinomial(chances(logits / temperature), 1, generator=generator))


def continue_text(
    model: LoadedModel, ids: tuple[int, ...], *, steps: int, temperature: float = 0.0, seed: int = 0
) -> tuple[int, ...]:
    """Let a decoder write on: the tokens it adds, fewer where it ends its text or has no positions left.

    Keys and values of earlier tokens are kept, as in real use: after the text each step asks with one query only. The
    mark by which it ends its text is no step. A temperature of 0 takes the likeliest token (greedy); else tokens are
    drawn, from softmax(logits / temperature): a token depends on the seed and on its place, not on how many are written
    at a time.
    """
    output_ids, past, cache = list(ids), None, _cache_name(model)
    with torch.inference_mode():
        while len(output_ids) < min(len(ids) + steps, model.max_tokens):
            check()
            fed = output_ids if past is None else output_ids[-1:]
            options = {cache: past, "use_cache": True, "return_dict": True}
            result = model.model(input_ids=torch.tensor([fed]), **options)
            past = _cache_of(result)
            token = _pick(result.logits[0, -1], temperature, seed, len(output_ids))
            if token in _ends(model):
                break
            output_ids.append(token)
    return tuple(output_ids[len(ids) :])
