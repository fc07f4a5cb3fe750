"""The large figure of a picture: valid and invalid messages of a browser."""

import base64
import copy
import json
import math
import shutil
import struct
import subprocess
from typing import Any

import numpy as np
import pytest

from viz import ROOT, limits
from viz.figures.table import Side
from viz.frame.large_figure.message import read_message
from viz.modes.share.panel import BESIDE, LIMITS

NODE = shutil.which("node")
CLIENT = ROOT / "viz" / "components" / "client"
AXIS = {"title": "n", "log": False, "reversed": False, "in_bytes": False}


def packed(numbers: list[float], size: int = 4) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}{'f' if size == 4 else 'd'}", *numbers)).decode()


TABLE: dict[str, Any] = {
    "kind": "map", "title": "", "x": AXIS, "y": AXIS, "dots": [], "scale": None,
    "names": [["a", 1], ["b", 1]], "notes": [["", 2]], "columns": ["c", "d"], "size": 4, "values": packed([0, 1, 2, 3]),
    "codes": "",
}  # fmt: skip
MESSAGE: dict[str, Any] = {"name": "headlight-map", "caption": "A map", "tables": [TABLE]}


def with_table(**changes: Any) -> dict[str, Any]:
    return MESSAGE | {"tables": [copy.deepcopy(TABLE) | changes]}


def from_browser(tmp_path, tables: list[dict[str, Any]]) -> Any:
    """Pack tables as the menu does."""
    (tmp_path / "large.mjs").write_bytes((CLIENT / "figure" / "large.js").read_bytes())
    code = """
        const { packTables } = await import("./large.mjs");
        console.log(JSON.stringify(packTables(JSON.parse(process.argv[1]))));
    """
    command = [str(NODE), "--input-type=module", "--eval", code, "--", json.dumps(tables)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    return json.loads(process.stdout)


def fit(tmp_path, tables: list[dict[str, Any]], most: dict[str, int], link: int) -> Any:
    """Choose the tables that fit, as the menu does."""
    (tmp_path / "large.mjs").write_bytes((CLIENT / "figure" / "large.js").read_bytes())
    (tmp_path / "tables.json").write_text(json.dumps([tables, most, link]))
    code = """
        const { fitting, packTables } = await import("./large.mjs"), { readFileSync } = await import("node:fs");
        const [tables, limits, link] = JSON.parse(readFileSync("tables.json"));
        console.log(JSON.stringify(fitting(packTables(tables), limits, link)));
    """
    command = [str(NODE), "--input-type=module", "--eval", code]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    return json.loads(process.stdout)


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
def test_packed_tables_arrive_exactly(tmp_path):
    """Numbers of 4 and of 8 bytes, cells without a number, and any name."""
    single, double = np.float32(0.1).item(), 0.1
    words = ["<b>", "\ud7ff猫", "a\n", ""]
    tables = [
        {"columns": ["", *words], "rows": [[name, single, None, "?", -single] for name in words], "title": "T"},
        {"kind": "lines", "columns": ["", "x", "y"], "rows": [["p", 1, double], ["p", 2, None], ["q", 1, 3]],
         "x": {"title": "n", "log": True}, "y": {"reversed": True, "in_bytes": True}, "dots": ["q"]},
        {"kind": "points", "columns": ["", "", "x", "y"], "rows": [["p", "one", 1, double], ["p", "two", 2, 3]]},
        {"columns": ["", "a", "b"], "rows": [["row", 1, 2]]},
        {"columns": ["", "", "share"], "rows": [[3, "word", 0.5], [3, "word", 0.25]]},
        {"columns": ["", ""], "rows": [["only", "words"]]},
    ]  # fmt: skip
    _, _, (cells, lines, points, row, shares) = read_message(MESSAGE | {"tables": from_browser(tmp_path, tables)})
    assert (cells.kind, cells.values.dtype, cells.title) == ("map", np.float32, "T")
    np.testing.assert_array_equal(cells.values, [[single, math.nan, math.nan, -single]] * 4)
    assert cells.names == cells.columns == words
    assert (lines.kind, lines.names, lines.dots) == ("lines", ["p", "p", "q"], {"q"})
    np.testing.assert_array_equal(lines.values, [[1, double], [2, math.nan], [1, 3]])
    assert (lines.x, lines.y) == (Side(title="n", log=True), Side(reversed=True, in_bytes=True))
    assert (points.kind, points.notes) == ("points", ["one", "two"])
    assert (row.kind, row.names, row.columns) == ("bars", ["a", "b"], ["row"]), "a single row is no map"
    assert (shares.kind, shares.names, shares.notes) == ("bars", ["3", "3"], ["word", "word"])
    np.testing.assert_array_equal(shares.values, [[0.5], [0.25]])


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
def test_short_first_row_keeps_table_whole(tmp_path):
    table = {"columns": ["a"], "rows": [["p", 1, 2], ["q", 3, 4]]}
    _, _, (read,) = read_message(MESSAGE | {"tables": from_browser(tmp_path, [table])})
    np.testing.assert_array_equal(read.values, [[1, 2], [3, 4]])


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
def test_largest_table_is_left_out_first(tmp_path):
    """Of tables that are together too large the others are sent, and it is named; of one alone nothing is."""
    tables = [
        {"title": str(n), "columns": ["", "a", "b"], "rows": [["r", i, i + 0.5] for i in range(n)]} for n in (3, 9)
    ]
    sent_titles = [
        ([table["title"] for table in fitting["sent"]], fitting["left"])
        for most in (1000, 60, 10)
        for fitting in [fit(tmp_path, tables, LIMITS | {"most": most}, 0)]
    ]
    assert sent_titles == [(["3", "9"], []), (["3"], ["9"]), ([], ["9", "3"])]


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
@pytest.mark.parametrize(("link", "n_sent"), [(0, 1), (limits.MESSAGE_LINK // 4, 1), (limits.MESSAGE_LINK, 0)])
def test_long_link_leaves_less_room(tmp_path, link, n_sent):
    """A message with the longest link would end the connection: the menu says that these are too many numbers."""
    n = math.isqrt(limits.LARGE_BYTES // 4) - 1
    table = {"columns": ["", *map(str, range(n))], "rows": [["r", *((np.arange(n) + i * n) / 2**18)] for i in range(n)]}
    fitting = fit(tmp_path, [table], LIMITS, link)
    size = len(json.dumps(fitting["sent"], separators=(",", ":"))) + BESIDE
    assert len(fitting["sent"]) == n_sent
    assert size <= limits.MESSAGE_STATES and size + 2 * link <= limits.MESSAGE_BYTES
    assert 0 < fitting["n"] <= limits.LARGE_BYTES / 4 and (n_sent or fitting["n"] < n * n)


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
def test_long_names_leave_less_room(tmp_path):
    """Names of three bytes a letter count as the server counts them."""
    tables = [
        {"title": str(n), "columns": ["", "a", "b"], "rows": [["猫" * 1000, 1, 2], ["b" * n, 3, 4]]} for n in (1, 9)
    ]
    fitting = fit(tmp_path, tables, LIMITS | {"room": 4_000}, 0)
    assert [table["title"] for table in fitting["sent"]] == ["9"] and fitting["left"] == ["1"]


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser test opens the same figures")
@pytest.mark.parametrize("n_different", [1, 3, 256, 257, 600])
def test_few_different_numbers_are_sent_once(tmp_path, n_different):
    """A map of 24 x 29 cells, in bytes or pairs of bytes where that is shorter; every number as it was."""
    generator = np.random.default_rng(0)
    different = generator.random(n_different)
    cells = different[np.arange(24 * 29) % n_different].reshape(24, 29)
    table = {"columns": ["", *map(str, range(29))], "rows": [["r", *row] for row in cells.tolist()]}
    (message,) = from_browser(tmp_path, [table])
    assert bool(message["codes"]) == (n_different < 600)
    _, _, (read,) = read_message(MESSAGE | {"tables": [message]})
    np.testing.assert_array_equal(read.values, cells)


def test_not_finite_number_is_null():
    _, _, (table,) = read_message(with_table(values=packed([math.inf, -math.inf, math.nan, 1])))
    np.testing.assert_array_equal(table.values, [[math.nan, math.nan], [math.nan, 1]])


WRONG: list[Any] = [
    None, 1, "plot", [], {}, {"tables": [TABLE]}, MESSAGE | {"tables": []}, MESSAGE | {"tables": [1]},
    MESSAGE | {"tables": {"0": TABLE}}, MESSAGE | {"name": 1}, MESSAGE | {"caption": None},
    MESSAGE | {"name": "x" * 101}, MESSAGE | {"caption": "x" * 2001},
    MESSAGE | {"tables": [TABLE] * (limits.LARGE_TABLES + 1)},
    with_table(kind="pie"), with_table(kind=None), with_table(title=3), with_table(x=None), with_table(y={"title": 1}),
    with_table(x=AXIS | {"log": 1}), with_table(x=AXIS | {"reversed": "no"}), with_table(y=AXIS | {"in_bytes": None}),
    with_table(dots="ab"),
    with_table(dots=[1]), with_table(scale=[1]), with_table(scale=[1, 0]), with_table(scale=[0, math.nan]),
    with_table(scale=["0", "1"]), with_table(scale=[0, 10**400]), with_table(scale=[False, True]),
    with_table(names=["a", "b"]),
    with_table(names=[["a", 0], ["b", 2]]), with_table(names=[["a", -1], ["b", 3]]), with_table(names=[["a", True]]),
    with_table(names=[["a", 1.5], ["b", 0.5]]), with_table(names=[["a", 3]]), with_table(names=[["a", 10**12]]),
    with_table(names=[[None, 2]]), with_table(names=[]), with_table(notes=[["", 1]]), with_table(notes=None),
    with_table(columns=["c"]), with_table(columns=["c", 4]), with_table(columns=[]), with_table(size=2),
    with_table(size=4.0), with_table(size=8.0),
    with_table(size=8), with_table(size=True), with_table(values=[0, 1, 2, 3]), with_table(values="????"),
    with_table(values=packed([1, 2, 3])), with_table(values=packed([1, 2, 3, 4])[:-1]), with_table(values=""),
    with_table(kind="lines", columns=["x", "y", "z"], values=packed([0] * 6)),
    with_table(columns=["x" * limits.LARGE_CHARACTERS, "y"]), with_table(title="x" * (limits.LARGE_CHARACTERS + 1)),
    with_table(names=[["x" * limits.LARGE_CHARACTERS, 2]]), with_table(dots=["" for _ in range(70_000)]),
    with_table(codes=None), with_table(codes="?"), with_table(codes=base64.b64encode(bytes([0, 1, 2, 4])).decode()),
    with_table(codes=base64.b64encode(bytes([0, 1, 2])).decode()), with_table(values="", codes="AAAAAA=="),
    with_table(values=packed([1.0]), codes=base64.b64encode(bytes(limits.LARGE_CELLS + 2)).decode(), columns=["c"],
               names=[["a", limits.LARGE_CELLS + 2]], notes=[["", limits.LARGE_CELLS + 2]]),
    with_table(values=packed([0] * (limits.LARGE_BYTES // 4 + 100)), columns=["c"],
               names=[["a", limits.LARGE_BYTES // 4 + 100]], notes=[["", limits.LARGE_BYTES // 4 + 100]]),
]  # fmt: skip


@pytest.mark.parametrize("message", WRONG, ids=range(len(WRONG)))
def test_wrong_message_is_refused(message):
    """It opens nothing, and is no error either."""
    with pytest.raises(ValueError, match=r"\w"):
        read_message(message)


def test_half_a_character_is_replaced():
    """Half of a surrogate pair, which no message of the server's may hold."""
    message = with_table(names=[["\ud83d", 2]], title="\ud83d") | {"caption": "a\ud83d", "name": "\ud83d"}
    name, caption, (table,) = read_message(message)
    assert (name, caption, table.title, table.names) == ("?", "a?", "?", ["?", "?"])


def test_tables_share_the_room():
    """As many tables as are allowed have together no more numbers than one."""
    n = limits.LARGE_BYTES // 8
    half = with_table(names=[["a", n // 2]], notes=[["", n // 2]], values=packed([0.0] * n))["tables"]
    assert len(read_message(MESSAGE | {"tables": half})[2]) == 1
    with pytest.raises(ValueError, match="too large"):
        read_message(MESSAGE | {"tables": half * 3})
