#!/usr/bin/env bash
# MiniMax hands out the states of its linear layers among the attention maps: d x d, and no row sums to 1.
#
# Versions: transformers 5.24.0, torch 2.13.0.
# Guessed: with output_attentions=True a hybrid model gives maps (batch, heads, queries, keys) of its softmax layers, and
# of its linear layers, which have no map, nothing or None.
# Seen: the tuple has one entry a layer. That of a linear layer is its state after the last token, head_dim x head_dim,
# with negative numbers, whatever the length of the text is. With as many tokens as head_dim its shape is that of a map.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 torch==2.13.0 2>/dev/null
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import torch
import transformers
from transformers import AutoModelForCausalLM, MiniMaxConfig

torch.manual_seed(0)
config = MiniMaxConfig(
    vocab_size=31, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, head_dim=12, num_local_experts=2, num_experts_per_tok=1,
    layer_types=["linear_attention", "full_attention"],
)
model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
with torch.no_grad():
    for n in (7, 12):
        maps = model(input_ids=torch.arange(n)[None], output_attentions=True).attentions
        print("transformers", transformers.__version__, n, "tokens:", [tuple(layer.shape) for layer in maps])
        state, softmax = maps
        assert state.shape == (1, 2, 12, 12) and softmax.shape == (1, 2, n, n)
        assert (softmax.sum(-1) - 1).abs().max() < 1e-6
        assert state.min() < 0 and (state.sum(-1) - 1).abs().min() > 0.5
print("as described")
PYTHON
