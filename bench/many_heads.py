"""A thousand heads in a notebook, beside BertViz and CircuitsVis: seconds to HTML, its bytes, peak of memory.

    python -m bench.many_heads [32x32x1024 12x12x128] [--tools TOOL ...] [--python INTERPRETER] [--memory GB]

A case is layers x heads x tokens. Each tool is a process of its own with one thread, which is given the same causal
weights in float32 and at most so much memory and time. Processor seconds are printed beside those of the clock, which
others on the machine stretch. INTERPRETER is one that has the other two (``pip install bertviz circuitsvis``).
``headlight model`` runs a small Llama with as many heads itself, and has no weights at hand: its seconds are those
beyond one pass of that model as it was loaded. ``maps alone`` is what transformers takes beyond that for the weights,
without a picture. Linux alone tells the peak of a process.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.take_away import has

_BEGIN = """
import resource, sys, time
layers, heads, tokens, memory = map(int, sys.argv[1:5])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
import torch
torch.set_num_threads(1)
words = [f"w{i}" for i in range(tokens)]
mask = torch.ones(tokens, tokens).triu(1).bool()
generator = torch.Generator().manual_seed(0)
def build_layer():
    scores = torch.randn(1, heads, tokens, tokens, generator=generator).mul_(2)
    return torch.softmax(scores.masked_fill_(mask, -torch.inf), -1, out=scores)
def begin():
    global begun, busy, before
    before = peak()
    begun, busy = time.perf_counter(), time.process_time()
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
"""
_END = """
seconds, busy = time.perf_counter() - begun, time.process_time() - busy
with open(sys.argv[5], "w", encoding="utf8") as file:
    file.write(made)
print(seconds, busy, peak() - before)
"""
_MAPS = "attentions = tuple(build_layer() for _ in range(layers))\nbegin()\n"
_MODEL = f"""{_BEGIN}
import transformers
import viz.notebook.widget
from viz import show
from tests import checkpoints
sizes = dict(hidden_size=16 * heads, intermediate_size=16 * heads, num_hidden_layers=layers, num_attention_heads=heads)
config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, max_position_embeddings=tokens, **sizes)
model = transformers.LlamaForCausalLM(config).eval()
tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=checkpoints.MAKERS["bytes"]())
ids = torch.randint(5, checkpoints.VOCABULARY, (1, tokens), generator=generator)
for _ in range(2):
    begin()
    with torch.inference_mode():
        model(input_ids=ids)
    plain = time.perf_counter() - begun, time.process_time() - busy
begin()
begun, busy = begun + plain[0], busy + plain[1]
"""
SCRIPTS: Mapping[str, str] = {
    "headlight": f"""{_BEGIN}
import viz.notebook.widget
from viz import show
{_MAPS}
grid = show(attentions, words)
made = grid.data.hex()[::2]
{_END}""",
    "headlight file": f"""{_BEGIN}
import viz.notebook.widget, pathlib
from viz import show
{_MAPS}
made = show(attentions, words).save_html(sys.argv[5]).read_text("utf8")
{_END}""",
    "headlight model": f"""{_MODEL}
made = show(model, tokenizer, dict(input_ids=ids)).data.hex()[::2]
{_END}""",
    "maps alone": f"""{_MODEL}
model.set_attn_implementation("eager")
with torch.inference_mode():
    attentions = model(input_ids=ids, output_attentions=True).attentions
made = ""
{_END}""",
    "bertviz": f"""{_BEGIN}
from bertviz import model_view
{_MAPS}
made = model_view(attentions, words, html_action="return").data
{_END}""",
    "circuitsvis": f"""{_BEGIN}
from circuitsvis.attention import attention_heads
{_MAPS}
made = attention_heads(tokens=words, attention=torch.cat(attentions).flatten(0, 1)).local_src
{_END}""",
}
"""A script for each tool, in which ``made`` has as many characters as what goes to the browser has bytes."""
PEERS = ("bertviz", "circuitsvis")


def measure(tool: str, case: str, python: str, memory: int, seconds: float) -> str:
    """Return what a tool needed, or how it ended."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "made.html"
        command = [python, "-c", SCRIPTS[tool], *case.split("x"), str(memory), str(file)]
        try:
            process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"given up after {seconds:.0f} s"
        if process.returncode:
            return f"ended: {(process.stderr.strip().splitlines() or ['killed'])[-1][:120]}"
        took, busy, peak = map(float, process.stdout.split()[-3:])
        size = file.stat().st_size / 1e6
    return f"{took:8.2f} s, {busy:8.2f} s of one processor, {size:9.2f} MB, {peak:9.0f} MB of memory more"


def main() -> None:
    """One line for each case and tool."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=["32x32x1024", "12x12x128"])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tools", nargs="*", default=list(SCRIPTS))
    parser.add_argument("--memory", type=float, default=12.0)
    parser.add_argument("--seconds", type=float, default=600.0)
    options = parser.parse_args()
    tools = [tool for tool in options.tools if tool not in PEERS or has(options.python, tool)]
    for case in options.cases:
        for tool in tools:
            python = options.python if tool in PEERS else sys.executable
            line = measure(tool, case, python, int(options.memory * 1e9), options.seconds)
            sys.stdout.write(f"{case:12} {tool:16} {line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
