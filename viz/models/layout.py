"""A loaded model, and where its family keeps W_Q, W_K, W_V and W_O."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from viz.errors import ModelError
from viz.models.registry import Entry

NORMS = ("q_norm", "q_layernorm", "query_layernorm", "qk_norm")
"""Names of the norm that q goes through, in the families that have one."""

PIECE_BYTES = 1_050
"""Of each piece of a unigram tokenizer: 262 MB for the 250,002 of multilingual-e5-small."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Paths of the projections of one stack of attention layers in a family of models (``layouts.toml``)."""

    family: str
    stack: str
    attention: str
    output: str
    projections: tuple[str, ...] = ()
    latent: bool = False
    rotary: bool = False
    partial: bool = False
    local_only: bool = False
    norm_last: bool = False
    scaled: bool = False
    interleaved: bool = False
    hybrid: bool = False
    gate: str = ""
    gate_activation: str = "sigmoid"
    doubled: bool = False
    per_layer: tuple[str, ...] = ()
    per_block: int = 1
    factors: Mapping[str, str] = field(default_factory=dict)
    value_norm: str = ""
    shares_kv: bool = False
    positions: str = ""
    when: Mapping[str, Any] = field(default_factory=dict)
    clip: str = ""
    maps_only: bool = False

    def fits(self, config: Any) -> bool:
        """Return whether the layout describes models with this configuration."""
        return self.family == config.model_type and all(getattr(config, name) == v for name, v in self.when.items())

    def place(self, path: str, index: int) -> str:
        """Return the path of an attention layer, by its number: its block {i}, and its place {j} in it."""
        return path.format(i=index // self.per_block, j=index % self.per_block)


@cache
def layouts() -> tuple[Layout, ...]:
    """Every stack of every family known."""
    rows: list[Layout] = []
    for table in _tables()["layout"]:
        stack = dict(table) | {name: tuple(table.get(name, ())) for name in ("projections", "per_layer")}
        names = stack.pop("families", None) or [stack.pop("family")]
        rows += (Layout(family=family, **stack) for family in names)
    return tuple(rows)


@cache
def _tables() -> Any:
    return tomllib.loads((Path(__file__).parent / "layouts.toml").read_text("utf-8"))


def families(*, maps_only: bool = False) -> tuple[str, ...]:
    """The families that can be opened from a folder; ``maps_only``: those whose own code hands out its maps alone."""
    return tuple(sorted({layout.family for layout in layouts() if layout.maps_only == maps_only}))


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One attention layer of a loaded model: its module, and the modules that hold W_Q, W_K, W_V and W_O.

    ``source``: the earlier layer whose keys and values it reads, W_K and W_V included, where it has none.
    """

    layout: Layout
    index: int
    attention: nn.Module
    projections: tuple[nn.Module, ...]
    output: nn.Module
    source: "Layer | None" = None

    @property
    def block(self) -> int:
        """The number of its block, which is its own where a block has one attention layer."""
        return self.index // self.layout.per_block

    @property
    def block_path(self) -> str:
        """The path of its block, below the base model."""
        return self.layout.attention.partition("{i}")[0] + str(self.block)

    @property
    def can_run_alone(self) -> bool:
        """True if it reads nothing but the state between two blocks."""
        return self.source is None and self.layout.per_block == 1

    def changes(self, *, has_positions: bool = True) -> str:
        """Return the changes to q and k between the projection and the scores, by the names of ``Call.rotation``.

        Without positions, if the layer was called with none to turn q and k by.
        """
        layout, attention = self.layout, self.attention
        normed = any(getattr(attention, name, None) is not None for name in NORMS)
        if not (layout.rotary and has_positions and _is_rotated(attention, layout)):
            return "only_normed" if normed else ""
        if normed:
            return "turned_normed" if layout.norm_last else "normed"
        return "part" if layout.partial else "whole"


def _is_rotated(attention: Any, layout: Layout) -> bool:
    """Return whether a layer of a family with RoPE turns q and k: some do not in every fourth layer."""
    if not layout.local_only:
        return bool(getattr(attention, "use_rope", True))
    window, local = attention.sliding_window, getattr(attention, "is_sliding", None)
    return window is not None if local is None else window is None or local


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A pretrained model ready to be captured; shared by all users and never changed.

    ``is_packaged`` says that its weights are those of its package's file, which are rounded to few bits.
    """

    entry: Entry
    model: Any
    tokenizer: Any
    layers: tuple[Layer, ...]
    is_packaged: bool = False

    @property
    def max_tokens(self) -> int:
        """The longest text the model has positions for, in tokens; XLNet's are relative, and it names -1 of them."""
        limit = max(0, getattr(self.model.config, "max_position_embeddings", None) or 0)
        limit, rows = limit or self.tokenizer.model_max_length, self._rows()
        return int(min(limit, self.tokenizer.model_max_length, limit if rows is None else len(rows)))

    @property
    def n_layers(self) -> int:
        """Layers of the first stack."""
        return len(self.numbers)

    @property
    def n_heads(self) -> int:
        """Query heads of the first layer; a model of several parts has their number in each part's configuration."""
        return int(getattr(self.layers[0].attention, "config", self.model.config).num_attention_heads)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The model's own numbers of the first stack's attention layers, which skip its layers of other kinds."""
        return tuple(layer.index for layer in self.layers if layer.layout.stack == self.layers[0].layout.stack)

    @property
    def n_blocks(self) -> int:
        """Layers of the first stack, of whatever kind."""
        hybrid, config = self.layers[0].layout.hybrid, self.model.config
        return int(config.num_hidden_layers) if hybrid else self.n_layers

    @property
    def other_layers(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the layers that do not attend, by their kind as the configuration calls it."""
        config = self.model.config
        kinds: Sequence[str] = getattr(config, "layers_block_type", None) or getattr(config, "layer_types", None) or ()
        by_kind: dict[str, tuple[int, ...]] = {}
        for i in sorted(set(range(self.n_blocks)).difference(self.numbers)):
            kind = str(kinds[i]) if i < len(kinds) else ""
            by_kind[kind] = (*by_kind.get(kind, ()), i)
        return by_kind

    @property
    def n_unread_layers(self) -> int:
        """Layers that stand in the model's files behind the last that its configuration asks for."""
        return int(getattr(self.model, "n_unread_layers", 0))

    @property
    def held_bytes(self) -> int:
        """Bytes beside the weights, where they are many: SentencePiece's pieces stand in a tree, 1 kB each."""
        backend = getattr(getattr(self.tokenizer, "backend_tokenizer", None), "model", None)
        return len(self.tokenizer) * PIECE_BYTES if type(backend).__name__ == "Unigram" else 0

    @property
    def width(self) -> int:
        """Of the vectors in the embedding table; ALBERT and some ELECTRAs widen them before the first layer."""
        return int(self.model.get_input_embeddings().embedding_dim)

    def embeddings(self, ids: list[int]) -> Tensor:
        """The rows of the model's own embedding table for these tokens, (T, d_model), without positions."""
        # Marian scales behind its table.
        scale = getattr(getattr(self.model.base_model, "encoder", None), "embed_scale", 1.0)
        with torch.inference_mode():
            return self.model.get_input_embeddings()(torch.tensor(ids)).float() * scale

    def positions(self) -> Tensor | None:
        """The model's own table of positions, (places, d_model), one row added to each token; None if it has none.

        Raises:
            ModelError: "wide_positions", if it is added behind a projection of the tokens' vectors (OPT-350m, RoCBert).
        """
        rows = self._rows()
        projection = getattr(getattr(self.model.base_model, "embeddings", None), "map_inputs_layer", None)
        if rows is not None and (projection is not None or rows.shape[1] != self.width):
            raise ModelError("wide_positions", model=self.entry.id, wide=rows.shape[1], narrow=self.width)
        return rows

    def _rows(self) -> Tensor | None:
        from viz.models.layers.tables import position_rows

        path = self.layers[0].layout.positions
        return position_rows(self.model.base_model, path, self.width) if path else None


def linear(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """A projection's W, as in X W, and its b. ``nn.Linear`` keeps W transposed, GPT-2's Conv1D does not."""
    weight, bias = module.weight, module.bias
    assert isinstance(weight, Tensor)
    weight = weight.detach()
    b = bias.detach() if isinstance(bias, Tensor) else None
    return (weight.T if isinstance(module, nn.Linear) else weight), b


def different_families() -> Mapping[str, list[str]]:
    """The families that cannot be shown, by what is different about them."""
    return dict(_tables()["different"])


def refused_kind(family: str) -> str:
    """Return what is different about a family that cannot be shown; "" for others."""
    return next((kind for kind, different in different_families().items() if family in different), "")


def model_class(family: str) -> str:
    """Return the name of the class of a family for which transformers has no automatic one; "" for others."""
    return str(_tables()["classes"].get(family, ""))


def first_versions() -> Mapping[str, str]:
    """The first version of transformers with each family that not all versions in the requirements know."""
    return {family: version for version, names in _tables()["since"].items() for family in names}


def check_family(entry: Entry, family: str) -> None:
    """Refuse a family of models whose layout is not known, or that the installed transformers does not know yet.

    Raises:
        ModelError: "family_" and what is different about it, "family_newer", or "family", which names known ones of a
            name like it.
    """
    if kind := refused_kind(family):
        raise ModelError(f"family_{kind}", model=entry.id, family=family)
    if family not in (*families(), *families(maps_only=True)):
        alike = get_close_matches(family, families(), n=5, cutoff=0)
        raise ModelError("family", model=entry.id, family=family, n=len(families()), known=", ".join(alike))
    if needed := first_versions().get(family):
        import transformers

        if family not in transformers.CONFIG_MAPPING:
            installed = transformers.__version__
            raise ModelError("family_newer", model=entry.id, family=family, needed=needed, installed=installed)


def check_settings(entry: Entry, config: Any) -> None:
    """Refuse a model that does what others of its family do not.

    Raises:
        ModelError: "family_clipped" or "family_uneven".
    """
    for layout in (layout for layout in layouts() if layout.fits(config)):
        if layout.clip and getattr(config, layout.clip) is not None:
            raise ModelError("family_clipped", model=entry.id, family=layout.family)
        if set(layout.per_layer) & (getattr(config, "per_layer_attributes", None) or set()):
            raise ModelError("family_uneven", model=entry.id, family=layout.family)
        counts = [getattr(config, name) for name in layout.per_layer]
        if len({n for count in counts for n in (count if isinstance(count, list) else [count])}) > 1:
            raise ModelError("family_uneven", model=entry.id, family=layout.family)


def family_without_attention(family: str) -> str:
    """Return the kind of a family that is known to keep no whole map of weights; "" for others."""
    kind = refused_kind(family)
    return kind if kind in ("recurrent", "pattern", "approximate", "fourier", "latents") else ""
