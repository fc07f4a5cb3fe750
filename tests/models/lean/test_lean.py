"""What loading a model does without, and that it is all there for whoever asks for it."""

import json
import subprocess
import sys
from pathlib import Path

from viz import ROOT
from viz.models.lean import _below, _Marks, lean_transformers

LEFT_OUT = {"scipy", "sympy", "triton", "torch._dynamo", "torch._inductor", "torch.distributed.tensor"}
LOAD = """
import json, sys
from viz.models import capture, load, registry
torch = sorted(sys.modules)
for model in (registry.entries()[0].id, "twin-g8"):
    capture(load(model), "The cat sat.")
print(json.dumps([torch, sorted(sys.modules)]))
"""
COMPILE = """
import sys, torch
from viz.models.lean import DYNAMO, lean_transformers
lean_transformers()
from transformers import BertConfig, BertModel, masking_utils
from transformers.generation.continuous_batching import PagedAttentionCache
from transformers.integrations import deepgemm
assert DYNAMO not in sys.modules and "_dynamo" not in vars(torch)
model = BertModel(BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)).eval()
ids = torch.tensor([[5, 7, 11]])
with torch.inference_mode():
    torch.testing.assert_close(torch.compile(model, backend="eager")(ids)[0], model(ids)[0])
assert sys.modules[DYNAMO] is torch._dynamo and torch._dynamo.optimize
with masking_utils.TransformGetItemToIndex() as real:
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    assert isinstance(real, TransformGetItemToIndex)
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_models_are_loaded_without_what_they_do_not_need():
    """If this fails after an update, something new is imported: see which, and whether it can be left out."""
    at_first, known = (set(names) for names in json.loads(run(LOAD).splitlines()[-1]))
    families = {f"transformers.models.{name}.modeling_{name}" for name in ("bert", "llama")}
    assert families <= known, "the test sees what is imported"
    assert not (known - at_first) & LEFT_OUT


def test_who_compiles_a_model_of_transformers_has_the_compiler():
    run(COMPILE)


def test_a_model_is_loaded_while_another_page_counts():
    run("""
import sys, torch
from viz.core.cost.counting import compiler_aside
from viz.models.lean import DYNAMO, _compiler_later, lean_transformers
with compiler_aside():
    lean_transformers()
with _compiler_later(), compiler_aside():
    torch.ones(3, device="meta") * 2.0
assert DYNAMO not in sys.modules and "_dynamo" not in vars(torch)
""")


def test_the_marks_are_those_of_the_compiler():
    from torch import _dynamo as real

    def one() -> None: ...

    def other() -> None: ...

    assert vars(_Marks.assume_constant_result(one)) == vars(real.assume_constant_result(other)) != {}
    assert _Marks("marks").optimize is real.optimize, "whatever else is asked for is the compiler's own"
    assert not hasattr(_Marks("marks"), "__wrapped__")


def test_the_index_of_models_is_what_transformers_reads():
    from transformers.utils import import_utils

    folder = Path(lean_transformers().__file__).parent / "models"
    known = _below(import_utils.define_import_structure(folder, prefix="models"), "models.")
    assert known == import_utils.define_import_structure(str(folder / "__init__.py"))
