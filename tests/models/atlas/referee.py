"""Recorded scores of TransformerLens' head detector for a small random GPT-2 and the twins.

``python -m tests.models.atlas.referee`` in an environment that has transformer_lens (4.3 was used) writes
``transformer_lens.json`` beside this file: it brings wandb, datasets and more, which the tests do without.
"""

import json
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import torch
import transformers

from tests.checkpoints import VOCABULARY, save_tokenizer
from viz import ASSETS

FILE = Path(__file__).with_name("transformer_lens.json")
TWINS = ("twin-g8", "twin-g2", "twin-g1")
DETECTORS = {
    "previous": "previous_token_head",
    "duplicate": "duplicate_token_head",
    "induction": "induction_head",
}
"""Our names of the scores that both define, and theirs."""


def save_gpt2(folder: Path) -> Path:
    """Save a GPT-2 with weights from one seed, the same on every machine."""
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_embd=35, n_layer=2, n_head=5, n_positions=61, bos_token_id=None, eos_token_id=None
    )
    model = transformers.GPT2LMHeadModel(config)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))
    model.save_pretrained(folder)
    save_tokenizer("bytes", folder)
    return folder


def texts(n_words: int) -> list[list[int]]:
    """Return three texts with repeated tokens: random, repeated in full, repeated and cut."""
    generator = torch.Generator().manual_seed(12)
    draws = [torch.randint(5, n_words, (length,), generator=generator).tolist() for length in (23, 11, 13)]
    return [[*draws[0], *draws[0][:3]], draws[1] * 2, (draws[2] * 3)[:31]]


def detect_heads(folder: Path, ids: list[int]) -> dict[str, list[list[float]]]:
    """Return every head's scores by TransformerLens with default options."""
    # Imported by name: only this command needs the package, and no requirements file lists it.
    detect_head = import_module("transformer_lens.head_detector").detect_head
    bridges = import_module("transformer_lens.model_bridge").TransformerBridge
    hf_model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    bridge = bridges.boot_transformers(str(folder), hf_model=hf_model.eval(), tokenizer=tokenizer)
    bridge.to_tokens = lambda *_, **__: torch.tensor([ids])
    return {name: detect_head(bridge, "", theirs).tolist() for name, theirs in DETECTORS.items()}


def main() -> None:
    """Record the scores of every model and text."""
    with tempfile.TemporaryDirectory() as folder_name:
        folders = {"gpt2": save_gpt2(Path(folder_name)), **{twin: ASSETS / "twins" / twin for twin in TWINS}}
        scores = {
            name: [{"ids": ids, **detect_heads(folder, ids)} for ids in texts(VOCABULARY if name == "gpt2" else 256)]
            for name, folder in folders.items()
        }
    FILE.write_text(json.dumps({"transformer_lens": version("transformer_lens"), "models": scores}) + "\n", "utf-8")


if __name__ == "__main__":
    main()
