#!/usr/bin/env bash
# transformers adds an adapter to a model that is opened from whole weights, as soon as the package peft is installed.
#
# Versions: transformers 5.24.0, peft 0.21.2, accelerate 1.15.0, torch 2.13.0.
# Guessed: a folder with config.json and model.safetensors opens as these say, and a LoRA adapter that somebody saved
# into the same folder is read by peft's own classes, or by load_adapter, alone.
# Seen: AutoModelForCausalLM.from_pretrained gives a model whose projection is a LoRA layer, and other logits than those
# of the weights, without a word. Whether peft is installed decides: without it the same folder gives the weights alone.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
install() { "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$@" 2>/dev/null; }
install torch==2.13.0 transformers==5.24.0
install peft==0.21.2 accelerate==1.15.0
cd "$folder"
cat >look.py <<'PYTHON'
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM
from transformers.utils import is_peft_available

ids = torch.arange(5)[None]
with torch.inference_mode():
    model = AutoModelForCausalLM.from_pretrained("both")
    off = float((model(input_ids=ids).logits - torch.load("logits.pt")).abs().max())
kind = type(model.model.layers[0].self_attn.q_proj)
print(sys.argv[1], "- peft is there:", is_peft_available(), "- q_proj:", kind.__module__, "- logits off by", round(off, 3))
expected = sys.argv[1] == "with peft"
assert is_peft_available() == expected == kind.__module__.startswith("peft") and (off > 0.01) == expected
PYTHON
venv/bin/python - 2>/dev/null <<'PYTHON'
import peft
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 29}
model = LlamaForCausalLM(LlamaConfig(**sizes, initializer_range=0.3)).eval()
model.save_pretrained("both")
with torch.inference_mode():
    torch.save(model(input_ids=torch.arange(5)[None]).logits, "logits.pt")
config = peft.LoraConfig(target_modules=["q_proj"], r=2, lora_alpha=64, init_lora_weights=False)
peft.get_peft_model(model, config).save_pretrained("both")
print("transformers", transformers.__version__, "peft", peft.__version__, "torch", torch.__version__.partition("+")[0])
PYTHON
ls both
venv/bin/python look.py "with peft" 2>/dev/null
venv/bin/pip uninstall --quiet --yes peft 2>/dev/null
venv/bin/python look.py "without peft" 2>/dev/null
echo "as described"
