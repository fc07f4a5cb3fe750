"""Copying scores of a decoder's heads: whether a head writes the word it looks at, as far as W_V and W_O go."""

import torch
from torch import Tensor, nn

from viz.core.analysis.atlas.scores import copying_scores
from viz.core.heads import share_kv, split_heads
from viz.errors import ModelError
from viz.models.blocks import BlockLayout, find_block_layout
from viz.models.capture import capture
from viz.models.layout import LoadedModel, linear
from viz.models.stream import blocks_of, has_words, normalize

WORDS, SEED = 300, 0
"""Words drawn from the vocabulary, and the seed they are drawn with."""


def sample_words(model: LoadedModel) -> Tensor:
    """The numbers of some words of the vocabulary, none of them special."""
    special = set(model.tokenizer.all_special_ids)
    valid_ids = torch.tensor([i for i in range(len(model.tokenizer)) if i not in special])
    return valid_ids[torch.randperm(len(valid_ids), generator=torch.Generator().manual_seed(SEED))[:WORDS]]


def read_by_heads(block: nn.Module, layout: BlockLayout, vectors: Tensor) -> Tensor:
    """Return vectors as a block's heads read them: behind the norm in front of them, where there is one (OLMo)."""
    normed: Tensor = block.get_submodule(layout.attention_norm)(vectors[None])[0] if layout.attention_norm else vectors
    return normed


def score_copying(model: LoadedModel) -> dict[str, Tensor]:
    """Score each head's copying, word by word: {"copying": (words, L, H)}; nothing for a model without words.

    A word's vector goes through the norm in front of the head, W_V and W_O, the final norm and the vocabulary head.
    Whatever earlier layers would have made of the vector is left out.
    """
    if not has_words(model):
        return {}
    try:
        layout, blocks = find_block_layout(model, "decoder", of_stream=True), blocks_of(model)
    # The norms of some families are not known.
    except ModelError:
        return {}
    words = sample_words(model)
    vectors = model.embeddings(words.tolist())
    w_u = linear(model.model.get_output_embeddings())[0][:, words]
    layers = []
    with torch.inference_mode():
        for block, call in zip(blocks, capture(model, "a").calls, strict=True):
            spec, weights = call.projections.spec, call.projections
            # Latent values are made of another vector than the word's.
            if call.latent is not None:
                return {}
            normed = read_by_heads(block, layout, vectors)
            values = share_kv(split_heads(normed @ weights.w_v, spec.G), spec.H)
            contributions = values @ weights.w_o.unflatten(0, (spec.H, -1))
            layers.append(copying_scores(torch.stack([normalize(model, head) for head in contributions]) @ w_u))
    return {"copying": torch.stack(layers, 1)}
