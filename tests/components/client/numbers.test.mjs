// The browser's numbers against torch's, which tests/components/test_client.py writes into the file CASES names.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { mapsOf, rowChange, say } from "../../../viz/components/client/compare/two.js";
import { unpack } from "../../../viz/components/client/lib/bytes.js";
import { weightTable } from "../../../viz/components/client/lib/colour.js";
import { fill } from "../../../viz/components/client/lib/dom.js";
import {
  decodeScores,
  distanceFromZero,
  maskedCells,
  sortHeads,
  poolMax,
  regroup,
  softmax,
  wallValue,
  withTemperature,
} from "../../../viz/components/client/lib/numbers.js";
import { codePixels, decodeWeight, logColour } from "../../../viz/components/client/long/log_scale.js";
import { fourDigits } from "../../../viz/components/client/maps/digits.js";
import { digits, partDigits, sayLarge } from "../../../viz/components/client/lib/describe.js";
import { between } from "../../../viz/components/client/lib/strokes.js";
import { places, toCode } from "../../../viz/components/client/masks/painted.js";

const cases = JSON.parse(readFileSync(process.env.CASES, "utf8"));
const numbers = (values) => Float32Array.from(values, (value) => value ?? -Infinity);

function near(found, expected, tolerance) {
  assert.equal(found.length, expected.length);
  found.forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${i}: ${value} is not ${expected[i]}`),
  );
}

test("softmax at any temperature, rows that may look nowhere included", () => {
  const { rows, columns, scores, temperatures, weights } = cases.softmax;
  temperatures.forEach((temperature, i) => {
    near(softmax(numbers(scores), rows, columns, temperature, new Float64Array(rows * columns)), weights[i], 1e-6);
  });
});

test("words merged and tokens hidden", () => {
  const { weights, queries, keys, merged } = cases.regroup;
  near(regroup(numbers(weights), queries, keys, true), merged, 1e-6);
});

test("a packed head is unpacked and decoded", () => {
  const head = unpack(Uint8Array.from(Buffer.from(cases.head.bytes, "base64")));
  near(decodeScores(head), numbers(cases.head.scores), cases.head.tolerance);
});

test("a head whose scores came as codes, at any temperature", () => {
  for (const name of ["head", "coded"]) {
    const head = unpack(Uint8Array.from(Buffer.from(cases[name].bytes, "base64"))),
      { rows, columns } = head;
    const scores = decodeScores(head),
      at = withTemperature(head, scores),
      cells = rows * columns;
    for (const temperature of [0.3, 1, 7]) {
      near(
        at(temperature, new Float32Array(cells)),
        softmax(scores, rows, columns, temperature, new Float64Array(cells)),
        1e-6,
      );
    }
  }
});

test("a sink takes its share of every row, at any temperature", () => {
  for (const { bytes, weights } of cases.sinks) {
    const head = unpack(Uint8Array.from(Buffer.from(bytes, "base64"))),
      at = withTemperature(head, decodeScores(head));
    [0.3, 1, 7].forEach((temperature, i) => {
      near(at(temperature, new Float32Array(head.rows * head.columns)), weights[i], 5e-5);
    });
  }
});

test("a code of a long text has the colour of its weight", () => {
  const table = weightTable([31, 119, 180]),
    pixels = codePixels(table, 1e-6);
  assert.equal(pixels.length, 65536);
  for (const code of [0, 1, 700, 32768, 65000, 65535])
    assert.equal(pixels[code], logColour(table, decodeWeight(code, 1e-6)), String(code));
  assert.deepEqual([pixels[0], pixels[65535]], [table[0], table[4096]]);
  assert.equal(codePixels(table, 1e-6), pixels, "made once");
  assert.notEqual(codePixels(table, 1e-3)[700], pixels[700]);
});

test("what is masked, and the largest of each block", () => {
  const all = { of: [0, 1, 2], count: 3 };
  assert.equal(maskedCells(numbers([1, 2, 3, 4, 5, 6, 7, 8, 9]), all, all), null);
  assert.deepEqual([...maskedCells(numbers([1, null, 3, 4, 5, 6, 7, 8, 9]), all, all)], [0, 1, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...poolMax(Float32Array.of(1, 2, 3, 4, 5, 6), 2, 3, 2).values], [5, 6]);
});

test("a painted mask is written as the link holds it", () => {
  for (const { n, cells, code } of cases.masks) assert.equal(toCode(Uint8Array.from(cells), n), code);
  assert.deepEqual(
    between({ query: 0, key: 0 }, { query: 0, key: 2 }).map(({ key }) => key),
    [0, 1, 2],
  );
  assert.deepEqual(places({ query: null, key: 1 }, 3), [1, 4, 7]);
});

test("sentences are filled in as in Python, the right form beside each number", () => {
  const sentence = "{n} {n|head|heads} of “{q}”";
  assert.equal(fill(sentence, { n: 1, q: "{n}" }), "1 head of “{n}”");
  assert.equal(fill(sentence, { n: 12, q: "it" }), "12 heads of “it”");
  assert.equal(fill(sentence, { n: "1,024" }), "1,024 heads of “{q}”");
});

test("weights of a sentence, and a list as the language writes it", () => {
  assert.deepEqual([0.67712, 0.5, 0, 3e-6, 0.9999, 1].map(partDigits), ["0.68", "0.50", "0", "<0.01", ">0.99", "1"]);
  assert.deepEqual([-0.25, -3e-6, 0].map(fourDigits), ["−0.2500", ">−0.0001", "0.0000"]);
  assert.deepEqual([digits(-0.25, true), digits(-0.25, false)], ["−0.2500", "−0.25"]);
  const words = { says_row: "{q}: {list}。", says_list: "{first}、{rest}" };
  const map = { rows: 1, columns: 3, values: Float32Array.of(0.25, 0.5, 0.25), exact: true };
  const said = sayLarge(words, map, { rows: ["x"], columns: ["a", "{rest}", "c"] }, { query: 0, key: null });
  assert.equal(said, "x: “{rest}” 0.50、“a” 0.25、“c” 0.25。");
});

test("two texts: the maps, their difference, a row's change, every head's small map", () => {
  const { two, wall, a, b, differences, changes } = cases.comparison;
  const read = (bytes) => unpack(Uint8Array.from(Buffer.from(bytes, "base64")));
  const sent = read(two),
    maps = mapsOf(sent),
    n = sent.size;
  const hole = (value) => value === null;
  for (const [map, expected] of [
    [maps.a, a],
    [maps.b, b],
    [maps.difference, differences],
  ]) {
    const masked = map.masked ?? new Uint8Array(n * n);
    assert.deepEqual(Array.from(masked, Boolean), expected.map(hole));
    near(
      Array.from(map.values, (value, at) => (masked[at] ? 0 : value)),
      expected.map((value) => value ?? 0),
      3e-5,
    );
  }
  changes.forEach((change, query) => {
    const found = rowChange(maps, query);
    assert.ok(change === null ? Number.isNaN(found) : Math.abs(found - change) < 1e-4, `${found} is not ${change}`);
  });
  const small = read(wall),
    codes = small.values.subarray(n * n);
  assert.equal(small.values.length, 2 * n * n);
  Array.from(codes, (code) => wallValue(small, 1, code)).forEach((value, at) => {
    const expected = differences[at] === null ? -Infinity : differences[at];
    assert.ok(value === expected || Math.abs(value - expected) < 0.01, `${value} is not ${expected}`);
  });
  assert.deepEqual(
    sortHeads(small, "change", null).map(({ index }) => index),
    [1, 0],
  );
  assert.deepEqual(
    [...poolMax(Uint8Array.of(0, 200, 255, 255, 127, 255), 2, 3, 2, 255, distanceFromZero).values],
    [0, 255],
  );
});

test("two texts in a sentence", () => {
  const words = {
    says_row_change: "{q}: {list}; {share}",
    says_more: "{k} +{d}",
    says_less: "{k} -{d}",
    says_list: "{first} & {rest}",
    says_pair: "{q} {k} {a} {b} {d}",
    says_row_a: "in one text",
    says_row_same: "the same",
  };
  const code = (value) => Math.round(value * 65535);
  const sent = {
    limit: 1,
    size: 2,
    what: "weights",
    missing: { a: [], b: [] },
    a: Uint16Array.from([0.75, 0.25, 0.5, 0.5], code),
    b: Uint16Array.from([0.25, 0.75, 0.5, 0.5], code),
  };
  const labels = { a: ["x", "y"], b: ["x", "z"], both: ["x", "y → z"] };
  const said = (given, focus) => say(words, mapsOf({ ...sent, ...given }), sent, labels, focus);
  assert.equal(said({}, { query: 0, key: 1 }), "x y → z 0.2500 0.7500 +0.5000");
  assert.equal(said({}, { query: 0, key: null }), "x: y → z +0.50 & x -0.50; 0.50");
  assert.equal(said({}, { query: 1, key: null }), "the same");
  const holes = { missing: { a: [1], b: [] } };
  assert.equal(said(holes, { query: 0, key: 1 }), "x y → z – 0.7500 –");
  assert.equal(said(holes, { query: 1, key: null }), "in one text");
});
