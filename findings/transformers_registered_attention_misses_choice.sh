#!/usr/bin/env bash
# Sparse attention of transformers chooses keys for "eager" and "sdpa" alone: a registered function sees them all.
#
# Versions: transformers 5.24.0, torch 2.13.0.
# Guessed: the mask that a layer hands to the attention function is the mask it attends by, whatever the function's name,
# so that DeepSeek V3.2's own eager function, registered under another name with eager's masks, gives its eager maps.
# Seen: the largest scores of the scorer become part of the mask only where the configuration says "eager" or "sdpa". Any
# other function gets the causal mask, and the choice beside it as `indices`, which eager attention does not read: every
# earlier token has a weight, and no error is raised.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check transformers==5.24.0 torch==2.13.0 2>/dev/null
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import torch
import transformers
from transformers import AttentionInterface, AutoModelForCausalLM, DeepseekV32Config
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.models.deepseek_v32.modeling_deepseek_v32 import eager_attention_forward

torch.manual_seed(0)
config = DeepseekV32Config(
    vocab_size=31, hidden_size=24, intermediate_size=16, moe_intermediate_size=16, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, n_routed_experts=2, num_experts_per_tok=1, n_group=1, topk_group=1,
    q_lora_rank=8, kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=6, head_dim=4,
    index_topk=3, index_n_heads=4, index_head_dim=8,
)
model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
AttentionInterface.register("same", eager_attention_forward)
AttentionMaskInterface.register("same", eager_mask)
seen = {}
for name in ("eager", "same"):
    model.set_attn_implementation(name)
    with torch.no_grad():
        weights = model(input_ids=torch.arange(9)[None], output_attentions=True).attentions[0]
    seen[name] = (weights[0, 0, -1] > 0).sum().item()
    print("transformers", transformers.__version__, f"{name}: the last of 9 tokens looks at", seen[name])
assert seen == {"eager": 3, "same": 9}
print("as described")
PYTHON
