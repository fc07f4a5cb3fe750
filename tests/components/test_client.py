"""The browser's pure modules, run by node against torch: ``node --test tests/components/client``."""

import base64
import json
import math
import os
import re
import shutil
import subprocess

import pytest
import torch

from tests import SAFETY_NET
from tests.contrast import ENOUGH, THEMES, contrast, over
from viz import ROOT
from viz.components.comparison import pack_differences, pack_two
from viz.components.head_grid import SHARPNESS, log_codes, pack, pack_head
from viz.core.analysis.map_statistics import hide, merge_words
from viz.core.attention import row_softmax, softmax_with_sink
from viz.core.comparison.alignment import align
from viz.core.comparison.maps import place_on_slots, row_change
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.frame.mask_code import to_code

NODE = shutil.which("node")
CLIENT = ROOT / "viz" / "components" / "client"
DOM = re.compile(
    r"\b(document|window|location|devicePixelRatio|getComputedStyle|element|event|canvas|context)\b(?!\.js)"
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
SCORES = torch.randn(7, 11, generator=torch.Generator().manual_seed(0)) * 3
WORDS = torch.tensor([0, 1, 1, 2, 3, 3, 3])
SPECIAL = torch.tensor([True, False, False, False])


def as_list(values: torch.Tensor) -> list[float | None]:
    """Numbers as JSON holds them: -inf is null."""
    return [None if value == -torch.inf else value for value in values.flatten().tolist()]


def softmax_case() -> dict[str, object]:
    scores = SCORES.masked_fill(SCORES < -2, -torch.inf)
    scores[3] = -torch.inf
    temperatures = [0.3, 1.0, 7.0]
    weights = [as_list(row_softmax(scores / temperature)) for temperature in temperatures]
    return {"rows": 7, "columns": 11, "scores": as_list(scores), "temperatures": temperatures, "weights": weights}


def sink_cases() -> list[dict[str, object]]:
    """Two heads with a sink, one packed exactly and one in codes."""
    cases: list[dict[str, object]] = []
    for scores, sink in ((SCORES, 0.7), (SCORES.repeat(150, 150)[:1050], 9.0)):
        packed = pack_head(scores, layer=2, head=5, channel="grid", sink=sink)
        weights = [
            as_list(softmax_with_sink(scores[None] / temperature, torch.tensor([sink / temperature])))
            for temperature in (0.3, 1.0, 7.0)
        ]
        cases.append({"bytes": base64.b64encode(packed.data).decode(), "weights": weights})
    return cases


def regroup_case() -> dict[str, object]:
    weights = torch.softmax(SCORES[:, :7], -1)
    merged = hide(merge_words(weights, WORDS, WORDS), ~SPECIAL, ~SPECIAL)
    axis = {"of": [-1, 0, 0, 1, 2, 2, 2], "count": 3}
    return {"weights": as_list(weights), "queries": axis, "keys": axis, "merged": as_list(merged)}


def head_case() -> dict[str, object]:
    packed = pack_head(SCORES, layer=2, head=5, channel="grid")
    return {"bytes": base64.b64encode(packed.data).decode(), "scores": as_list(SCORES), "tolerance": 1e-6}


def coded_case() -> dict[str, object]:
    """A head that is too large to be sent as it is."""
    scores = SCORES.masked_fill(SCORES < -2, -torch.inf)
    scores[3] = -torch.inf
    codes, tops, reach = log_codes(scores)
    about = {"rows": 7, "columns": 11, "codec": "log", "reach": reach, "sharpness": SHARPNESS}
    return {"bytes": base64.b64encode(pack(about, {"codes": codes, "tops": tops}).data).decode()}


def masks_case() -> list[dict[str, object]]:
    masks = [torch.eye(3).bool(), torch.arange(25).view(5, 5) % 3 == 0, torch.ones(11, 11).tril().bool()]
    return [{"n": len(mask), "cells": mask.int().flatten().tolist(), "code": to_code(mask)} for mask in masks]


def comparison_case() -> dict[str, object]:
    """Two heads on texts of 5 and 7 tokens; the second changes more."""
    alignment = align(["a", "b", "c", "d", "e"], ["a", "x", "y", "c", "d", "e", "f"])
    a, b = (torch.softmax(SCORES[:size, :size], -1) for size in (5, 7))
    a, b = place_on_slots(a, alignment.a), place_on_slots(b, alignment.b)
    heads, both = torch.stack([(b - a) / 9, b - a]), row_change(a, b)
    wall = pack_differences([(heads, torch.tensor([0.1, 0.2]))], n_layers=1, order="change")
    return {
        "two": base64.b64encode(pack_two(a, b, what="weights").data).decode(),
        "wall": base64.b64encode(wall.data).decode(),
        "a": without_nan(a),
        "b": without_nan(b),
        "differences": without_nan(b - a),
        "changes": without_nan(both),
    }


def without_nan(values: torch.Tensor) -> list[float | None]:
    """Numbers as JSON holds them: NaN is null."""
    return [None if math.isnan(value) else value for value in values.flatten().tolist()]


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests compare the same numbers")
def test_browser_numbers_equal_torch(tmp_path):
    cases = {
        "softmax": softmax_case(),
        "sinks": sink_cases(),
        "regroup": regroup_case(),
        "head": head_case(),
        "coded": coded_case(),
        "masks": masks_case(),
        "comparison": comparison_case(),
    }
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases), "utf8")
    command = [str(NODE), "--test", "--test-reporter=tap", *map(str, (ROOT / "tests/components/client").glob("*.mjs"))]
    process = subprocess.run(
        command, capture_output=True, text=True, timeout=SAFETY_NET, check=False, env=os.environ | {"CASES": str(file)}
    )
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr[-2000:]
    assert "# pass 42" in process.stdout


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests look at what is drawn")
def test_number_is_readable_on_every_colour(tmp_path):
    """Every hue, at every opacity, on both pages: the page's own ink where it is enough, else black or white."""
    cells = [(hue, step / 50) for hue in (*HEADS, BLUE, ORANGE) for step in range(51)]
    pages = {
        name: {part: f"rgb{getattr(theme, part)}" for part in ("text", "background")} for name, theme in THEMES.items()
    }
    (tmp_path / "ink.mjs").write_bytes((CLIENT / "lib/contrast.js").read_bytes())
    run = """
        const { inks, ofPixel, parts } = await import("./ink.mjs"), { cells, pages } = JSON.parse(process.argv[1]);
        const ink = (page) => cells.map(([hue, opacity]) => parts(inks(page)(hue, opacity)));
        const written = Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, ink(page)]));
        console.log(JSON.stringify({ written, pixel: ofPixel(0xff0a141e), hex: [parts("#0e1117"), parts("#0af")] }));
    """
    request = json.dumps({"cells": cells, "pages": pages})
    command = [str(NODE), "--input-type=module", "--eval", run, "--", request]
    contrasts = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout)
    for name, theme in THEMES.items():
        for (hue, opacity), ink in zip(cells, contrasts["written"][name], strict=True):
            assert contrast(ink, over(hue, opacity, theme.background)) >= ENOUGH
        assert tuple(contrasts["written"][name][0]) == theme.text, "an empty cell is the page itself"
    assert contrasts["pixel"] == [[30, 20, 10], 1]
    assert contrasts["hex"] == [[14, 17, 23], [0, 170, 255]]


def pure() -> list[str]:
    """Client modules that touch no page: they name nothing of the DOM."""
    modules = sorted(CLIENT.rglob("*.js"))
    return [
        str(file.relative_to(CLIENT)) for file in modules if not DOM.search(COMMENT.sub("", file.read_text("utf-8")))
    ]


def test_pure_modules_are_checked_strictly():
    """``just client`` checks modules that say ``@ts-check`` strictly; all that touch no page say so."""
    assert {"lib/numbers.js", "lib/bytes.js", "head_grid/large_map_model.js", "positions/sinusoid_numbers.js"} <= set(
        pure()
    )
    for name in pure():
        assert (CLIENT / name).read_text("utf-8").startswith("// @ts-check\n"), name


FAULTS = {
    "format": "export  function area(side) {\n  return side * side;\n}\n",
    "lint": "export function area(side) {\n  const unused = side;\n  return side * side;\n}\n",
    "types": "export function area(side) {\n  return side.toFixed(2) * [].size;\n}\n",
    "strict types": "// @ts-check\nexport function area(side) {\n  return side * side;\n}\n",
}


@pytest.mark.skipif(not (ROOT / "node_modules").is_dir(), reason="`just client` has not installed its tools yet")
@pytest.mark.parametrize("code", [*FAULTS.values(), None], ids=[*FAULTS, "no fault"])
def test_client_check_finds_faults(tmp_path, code):
    """``npm run check``, which ``just client`` and CI run, fails for each kind of fault and for no other code."""
    for name in ("package.json", "biome.jsonc", "tests/components/client"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    shutil.copytree(CLIENT, tmp_path / CLIENT.relative_to(ROOT))
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    if code:
        (tmp_path / "viz/components/client/lib/area.js").write_text(code, "utf-8")
    process = subprocess.run(["npm", "run", "check"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (process.returncode == 0) == (code is None), process.stdout + process.stderr
