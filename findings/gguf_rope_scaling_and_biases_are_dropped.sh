#!/usr/bin/env bash
# transformers reads a GGUF file of a Llama without its scaling of RoPE and without its biases, and reports nothing.
#
# Versions: transformers 5.24.0, gguf 0.19.0, torch 2.13.0.
# Guessed: llama.rope.scaling.* becomes rope_parameters, as rope.freq_base does, and tensors that the model has no place
# for are in the loading report's unexpected keys, as they are for a safetensors file.
# Seen: rope_type is "default" beside a file that says linear with factor 8; attn_q.bias, attn_k.bias and attn_v.bias are
# read (15 tensors) and dropped, the model has 12 weights, and all four parts of the report are empty.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0 transformers==5.24.0 gguf==0.19.0 \
  accelerate==1.15.0 2>/dev/null
cd "$folder"
venv/bin/python - 2>/dev/null <<'PYTHON'
import gguf
import torch
import transformers
from transformers import AutoModelForCausalLM

D, FF, HEADS, WORDS = 32, 48, 4, 17
random = torch.Generator().manual_seed(0)
writer = gguf.GGUFWriter("model.gguf", "llama")
writer.add_context_length(512)
writer.add_embedding_length(D)
writer.add_block_count(1)
writer.add_feed_forward_length(FF)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(WORDS)
writer.add_rope_freq_base(50_000.0)
writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
writer.add_rope_scaling_factor(8.0)
writer.add_tokenizer_model("llama")
writer.add_token_list([f"w{i}" for i in range(WORDS)])
writer.add_token_scores([0.0] * WORDS)
writer.add_token_types([1] * WORDS)
block = {"attn_norm": (D,), "ffn_norm": (D,), "ffn_gate": (FF, D), "ffn_up": (FF, D), "ffn_down": (D, FF)}
block |= {f"attn_{name}": (D, D) for name in ("q", "k", "v", "output")}
shapes = {f"blk.0.{name}.weight": shape for name, shape in block.items()}
shapes |= {f"blk.0.attn_{name}.bias": (D,) for name in "qkv"}
shapes |= {"token_embd.weight": (WORDS, D), "output_norm.weight": (D,), "output.weight": (WORDS, D)}
for name, shape in shapes.items():
    writer.add_tensor(name, torch.randn(shape, generator=random).numpy())
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()

model, report = AutoModelForCausalLM.from_pretrained(".", gguf_file="model.gguf", output_loading_info=True)
rope, names = model.config.rope_parameters, [name for name, _ in model.named_parameters()]
print("transformers", transformers.__version__, "torch", torch.__version__.partition("+")[0])
print("in the file:", len(shapes), "tensors, linear scaling of RoPE by 8")
print("opened:", len(names), "weights,", sum("bias" in name for name in names), "biases, RoPE", rope)
print("the report:", {part: list(found) for part, found in report.items()})
assert rope == {"rope_theta": 50_000.0, "rope_type": "default"}
assert len(shapes) == 15 and len(names) == 12 and not any("bias" in name for name in names)
assert not any(report.values())
PYTHON
echo "as described"
