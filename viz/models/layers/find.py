"""Find the attention layers of a model, where its family keeps them."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import count
from typing import Any

from torch import nn

from viz.errors import ModelError
from viz.models.layout import Layer, Layout, layouts


def separate_shared_layers(model: Any) -> None:
    """Give each layer of ALBERT a module of its own, with the weights that all layers share: what a layer sees is noted
    by its module.

    Raises:
        ModelError: "attention", if a group has several layers.
    """
    config = model.config
    if config.model_type == "albert" and config.inner_group_num != 1:
        raise ModelError("attention", model="ALBERT", option="inner_group_num")
    if config.model_type == "albert" and config.num_hidden_groups < config.num_hidden_layers:
        groups = model.base_model.encoder.albert_layer_groups
        size = config.num_hidden_layers / config.num_hidden_groups
        of_layer = [groups[int(i / size)] for i in range(config.num_hidden_layers)]
        shared = {id(tensor): tensor for group in groups for tensor in group.parameters()} | {id(config): config}
        model.base_model.encoder.albert_layer_groups = nn.ModuleList(
            deepcopy(group, dict(shared)) for group in of_layer
        )
        config.num_hidden_groups = config.num_hidden_layers


def name_base(model: Any) -> None:
    """Have ``base_model`` be the model without its head where its class calls that by another name (Llama 4)."""
    if model.base_model is model and isinstance(getattr(model, "model", None), nn.Module):
        model.base_model_prefix = "model"


def _projections(attention: nn.Module, layout: Layout) -> tuple[nn.Module, ...]:
    """The modules that hold W_Q, W_K and W_V; of latent attention, those that make q, and k and v."""
    if layout.latent:
        q_up = "q_proj" if getattr(attention, "q_b_proj", None) is None else "q_b_proj"
        return attention.get_submodule(q_up), attention.get_submodule("kv_b_proj")
    modules = [getattr(attention, name) for name in layout.projections]
    # Gemma 4 may use W_K as W_V.
    return tuple(module if module is not None else modules[1] for module in modules)


def _source_of(attention: Any, earlier: Sequence[Layer]) -> Layer | None:
    """Return the layer whose keys and values a layer reads: the last of its kind that makes them; None if it does."""
    if not attention.is_kv_shared_layer:
        return None
    alike = [layer for layer in earlier if layer.source is None and _kind(layer.attention) == _kind(attention)]
    return alike[-1]


def _kind(attention: Any) -> str:
    return str(attention.layer_type)


def find_layers(model: Any) -> Iterator[Layer]:
    """Every attention layer of a model, stack by stack."""
    modules = dict(model.base_model.named_modules())
    n_layers = getattr(model.config, "num_hidden_layers", None)
    for layout in (layout for layout in layouts() if layout.fits(model.config)):
        earlier: list[Layer] = []
        for i in range(n_layers) if layout.hybrid and n_layers else count():
            attention = modules.get(layout.place(layout.attention, i))
            if layout.hybrid and not all(hasattr(attention, name) for name in layout.projections or ("kv_b_proj",)):
                continue
            if attention is None:
                break
            source = _source_of(attention, earlier) if layout.shares_kv else None
            earlier.append(
                Layer(
                    layout=layout,
                    index=i,
                    attention=attention,
                    projections=_projections(attention, layout)
                    if source is None
                    else (attention.get_submodule(layout.projections[0]), *source.projections[1:]),
                    output=modules[layout.place(layout.output, i)],
                    source=source,
                )
            )
            yield earlier[-1]
