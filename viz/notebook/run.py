"""Run a model of transformers on a text, and take away what its heads looked at; the model is left as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from viz.models.tokens import labels
from viz.notebook.maps import Labels

WRITTEN = 48
"""Tokens that an encoder-decoder writes at most where no target is given."""

Attentions = Any
"""A tuple with a tensor for each layer, (1, heads, queries, keys)."""


@contextmanager
def looking(model: Any) -> Iterator[None]:
    """The model keeps its weights, and drops nothing, as long as this lasts."""
    before, training = getattr(model.config, "_attn_implementation", None), model.training
    change = getattr(model, "set_attn_implementation", None)
    model.eval()
    if change and before != "eager":
        change("eager")
    try:
        with torch.inference_mode():
            yield
    finally:
        if change and before not in ("eager", None):
            change(before)
        model.train(training)


def _target(model: Any, tokenizer: Any, inputs: dict[str, Any], target: str | None) -> Any:
    """What a decoder reads: the target, or what the model writes itself, one place later."""
    start = model.config.decoder_start_token_id or 0
    if target is None:
        if not hasattr(model, "generate"):
            raise ValueError("This model has an encoder and a decoder: say target=..., what the decoder is to read.")
        return model.generate(**inputs, max_new_tokens=WRITTEN, do_sample=False, num_beams=1)[:, :-1]
    written = tokenizer(text_target=target, return_tensors="pt")["input_ids"]
    return torch.cat([torch.tensor([[start]]), written[:, :-1]], 1).to(inputs["input_ids"].device)


def _named(tokenizer: Any, ids: Any) -> Labels:
    """A label for each token; special ones as the tokenizer writes them."""
    return Labels(labels(tokenizer, ids[0].tolist()))


def read(model: Any, tokenizer: Any, text: str, target: str | None) -> tuple[dict[str, Attentions], list[Labels]]:
    """The attentions of every stack of the model on a text, and the tokens it reads, of two texts two lists.

    Raises:
        ValueError: a sentence, where a model hands out no weights.
    """
    inputs = dict(tokenizer(text, return_tensors="pt", truncation=True).to(model.device))
    two = bool(getattr(model.config, "is_encoder_decoder", False))
    if target is not None and not two:
        raise ValueError("This model has no decoder beside its encoder, so it can read no target.")
    with looking(model):
        tokens = [_named(tokenizer, inputs["input_ids"])]
        if two:
            inputs["decoder_input_ids"] = _target(model, tokenizer, inputs, target)
            tokens.append(_named(tokenizer, inputs["decoder_input_ids"]))
        output = model(**inputs, output_attentions=True, return_dict=True)
    return stacks_in(output), tokens


def name_of(model: Any) -> str:
    """What a model is called where it was published; of one from a folder the folder's name, for a path is private."""
    name = str(getattr(model.config, "name_or_path", "")) or type(model).__name__
    return Path(name).name if Path(name).is_absolute() or name.startswith(".") else name


def stacks_in(output: Any) -> dict[str, Attentions]:
    """The attentions in what a model gave, by the names of their stacks.

    Raises:
        ValueError: if there are none.
    """
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    found = {name: given for name, field in names.items() if (given := getattr(output, field, None))}
    if not found.keys() & {"encoder", "decoder"}:
        found = {"self": given} if (given := getattr(output, "attentions", None)) else {}
    if not found:
        raise ValueError(
            "The model gave no attentions. Ask it for output_attentions=True, and load it with attn_implementation="
            '"eager": other ways to compute attention keep no weights.'
        )
    return found
