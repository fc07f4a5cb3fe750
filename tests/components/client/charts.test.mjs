// What the axes of charts say, by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { moveCell } from "../../../viz/components/client/lib/clamp.js";
import { columnNames } from "../../../viz/components/client/plot/axis_labels.js";
import { Cells } from "../../../viz/components/client/plot/cells.js";
import {
  byteTicks,
  formatBytes,
  formatNumber,
  logTicks,
  tickNames,
  ticks,
} from "../../../viz/components/client/plot/ticks.js";
import { levelLabels } from "../../../viz/components/client/plot/labels.js";
import { scale } from "../../../viz/components/client/plot/scale.js";

const EVEN = { log: false, limits: null, ticks: null, from_zero: false, reversed: false, in_bytes: false };

function near(found, expected) {
  assert.ok(Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`);
}

test("ticks are round numbers, and as far apart as they must be", () => {
  assert.deepEqual(ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(-0.3, 1.02), [0, 0.5, 1]);
  assert.deepEqual(ticks(0, 131), [0, 50, 100]);
  assert.deepEqual(ticks(0, 2), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(ticks(0, 2, 1), [0, 1, 2]);
});

test("a logarithmic axis has powers of ten, or smaller steps where there are few", () => {
  assert.deepEqual(logTicks(0.5, 20000), [1, 10, 100, 1000, 10000]);
  assert.deepEqual(logTicks(1, 1e16), [1, 1e3, 1e6, 1e9, 1e12, 1e15]);
  assert.deepEqual(logTicks(3, 60), [5, 10, 20, 50]);
  assert.deepEqual(logTicks(6, 9), [6, 7, 8, 9]); // as an even one
});

test("an axis of bytes has powers of two, named as sentences name sizes", () => {
  const names = (low, high, isLog) => byteTicks(low, high, isLog).map(formatBytes);
  assert.deepEqual(names(1000, 3e12, true), ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"]);
  assert.deepEqual(names(2 ** 20, 2 ** 22, true), ["1 MiB", "2 MiB", "4 MiB"]);
  assert.deepEqual(names(0, 200 * 1024, false), ["0 B", "64 KiB", "128 KiB", "192 KiB"]);
  assert.deepEqual(names(0, 3, false), ["0 B", "1 B", "2 B", "3 B"]);
  assert.deepEqual([512, 24576, 1024 * 1000 - 300, 1.5 * 2 ** 30].map(formatBytes), [
    "512 B",
    "24 KiB",
    "1,000 KiB",
    "1.5 GiB",
  ]);
  const inBytes = scale({ ...EVEN, in_bytes: true, from_zero: true }, [3 * 2 ** 20], 0);
  assert.deepEqual(inBytes.marks, [0, 2 ** 20, 2 ** 21, 3 * 2 ** 20]);
});

test("numbers are grouped in thousands, long ones as powers of ten, and on an axis all in one way", () => {
  assert.deepEqual([0, 0.25, -17, 1234.5, 999999, 2.5e-7, -1e6, -3e12].map(formatNumber), [
    "0",
    "0.25",
    "−17",
    "1,234.5",
    "999,999",
    "2.5·10⁻⁷",
    "−1,000,000",
    "−3·10¹²",
  ]);
  assert.deepEqual([98304, 50331648, 5.0331648e13, 0.000012345678, 12345678.5].map(formatNumber), [
    "98,304",
    "50,331,648",
    "5.033·10¹³",
    "1.235·10⁻⁵",
    "1.235·10⁷",
  ]);
  assert.deepEqual(tickNames([0.1, 1000]), ["0.1", "1,000"]);
  assert.deepEqual(tickNames([1, 1000, 1e6]), ["10⁰", "10³", "10⁶"]);
  assert.deepEqual(tickNames([0, 5e5, 1e6]), ["0", "5·10⁵", "10⁶"]);
});

test("an axis fits its values, leaves a margin, and ends at 0 or at its limits where it is told to", () => {
  const fitted = scale(EVEN, [10, NaN, 20], 0.05);
  near(fitted.share(9.5), 0);
  near(fitted.share(20.5), 1);
  assert.deepEqual(fitted.marks, [10, 12, 14, 16, 18, 20]);
  assert.deepEqual(scale(EVEN, [0, 1, 2], 0).marks, [0, 1, 2]); // nothing stands between two layers
  near(scale({ ...EVEN, from_zero: true }, [10, 20], 0.05).share(0), 0);
  near(scale({ ...EVEN, from_zero: true }, [-10, -20], 0.05).share(0), 1);
  near(scale({ ...EVEN, reversed: true, limits: [0, 4] }, [], 0).share(1), 0.75);
  const log = scale({ ...EVEN, log: true }, [1, 0, 10000, -3], 0);
  near(log.share(100), 0.5);
  assert.deepEqual(log.marks, [1, 10, 100, 1000, 10000]);
  // What lies beyond is left out.
  assert.deepEqual(scale({ ...EVEN, log: true, ticks: [2, 8, 512] }, [2, 8], 0).marks, [2, 8]);
});

test("an axis of one value, of equal ones or of none", () => {
  near(scale(EVEN, [7], 0.05).share(7), 0.5);
  near(scale(EVEN, [3.5, 3.5, 3.5], 0.05).share(3.5), 0.5);
  near(scale({ ...EVEN, from_zero: true }, [0, 0], 0.05).share(0), 0.5);
  near(scale({ ...EVEN, log: true }, [100], 0.05).share(100), 0.5);
  assert.deepEqual(scale(EVEN, [NaN], 0.05).marks, [0, 0.2, 0.4, 0.6, 0.8, 1]);
});

test("values that differ by rounding alone are one value, however large or small they are", () => {
  for (const value of [0.3, 1e-12, 7, 1e20, -1e20]) {
    for (const log of value > 0 ? [false, true] : [false]) {
      const found = scale({ ...EVEN, log }, [value, value * (1 + 2e-16), value * (1 - 1e-15)], 0.05);
      near(found.share(value), 0.5);
      assert.ok(found.marks.length > 0 && found.marks.length < 20, `${found.marks.length} marks beside ${value}`);
    }
  }
});

test("names below columns are as many as have room", () => {
  const labels = Array.from({ length: 36 }, (_, i) => `head ${i}`),
    shown = (cell) => {
      const found = [];
      const context = {
        measureText: (text) => ({ width: 6 * text.length }),
        fillText: (text) => found.push(text),
        save() {},
        restore() {},
        translate() {},
        rotate() {},
      };
      columnNames(context, labels, 0, 0, 90, cell, "below");
      return found;
    };
  assert.deepEqual(shown(20), labels);
  assert.deepEqual(
    shown(8),
    labels.filter((_, i) => i % 2 === 0),
  );
});

test("the name of a level line stands where the next line is farther away, and not over its neighbour's", () => {
  const sizes = [8, 24, 80, 141],
    labels = levelLabels(sizes.map((size) => -100 * Math.log10(size)));
  assert.deepEqual(
    labels.map(({ isAbove }) => isAbove),
    [false, true, false, true],
  );
  assert.notEqual(labels[1].column, labels[2].column); // these two stand between the same lines
  assert.deepEqual(levelLabels([50]), [{ isAbove: true, column: 0 }]);
});

test("a point beside the cells is in none, and the nearest one is at the edge", () => {
  const cells = new Cells(null, null, { left: 10, top: 20, rows: 3, columns: 5, w: 4, h: 2 });
  assert.deepEqual(
    [cells.under([19, 25]), cells.nearest([19, 25])],
    [
      [2, 2],
      [2, 2],
    ],
  );
  assert.deepEqual([cells.under([9, 21]), cells.nearest([9, 21])], [null, [0, 0]]);
  assert.deepEqual([cells.under([31, 99]), cells.nearest([31, 99])], [null, [2, 4]]);
});

test("an arrow key leads to the next cell, and stays in the last one", () => {
  assert.deepEqual(moveCell([1, 2], [0, 1], [3, 5]), [1, 3]);
  assert.deepEqual(moveCell([2, 0], [1, 0], [3, 5]), [2, 0]);
  assert.deepEqual(moveCell([0, 0], [0, -1], [3, 5]), [0, 0]);
});

test("names under columns lean to the right, and no other stands beside those that stand out", () => {
  const labels = Array.from({ length: 12 }, (_, i) => `word ${i}`),
    written = [];
  const context = {
    font: "12px sans",
    measureText: (text) => ({ width: 6 * text.length }),
    fillText: (text) => written.push([text, context.font, context.turn, context.at]),
    save() {},
    restore: () => (context.font = "12px sans"),
    translate: (...at) => (context.at = at),
    rotate: (turn) => (context.turn = turn),
  };
  columnNames(context, labels, 10, 100, 90, 8, "under", { bold: [3, 8] });
  assert.deepEqual(
    written.map(([text]) => text),
    [0, 6, 10, 3, 8].map((i) => labels[i]),
  );
  assert.ok(written.every(([, , turn, [, y]]) => turn > 0 && y > 100));
  assert.deepEqual(
    written.filter(([, font]) => font.startsWith("bold")).map(([text]) => text),
    ["word 3", "word 8"],
  );
});
