// Sentences about a row or a column of the large map, of words that come again and of weights that are equal.

import assert from "node:assert/strict";
import test from "node:test";

const { describeMap, sayLarge } = await import("../../../viz/components/client/lib/describe.js");
const words = {
  says_alike: "{n} {n|token|tokens}, all alike: {value} each",
  says_list: "{first}, {rest}",
  says_row: "“{q}” looks most at {list}.",
  says_weight: "“{q}” gives {value} to “{k}”.",
  large_alt: "largest {value}: “{q}” to “{k}”",
};
const map = (rows, values) => ({
  rows,
  columns: rows,
  values: Float32Array.from(values),
  masked: null,
  exact: true,
});
const both = (labels) => ({ rows: labels, columns: labels });
const say = (values, labels, query, key = null) =>
  sayLarge(words, map(labels.length, values), both(labels), { query, key }, String);

test("a row of four equal weights names no three of them", () => {
  const cats = ["cat", "cat", "cat", "cat"];
  assert.equal(say(Array(16).fill(0.25), cats, 1), "“1 · cat” looks most at 4 tokens, all alike: 0.25 each.");
});

test("a word with no weight is none of those that are looked at most", () => {
  assert.equal(say([1, 0, 0.5, 0.5], ["a", "b"], 0), "“a” looks most at “a” 1.");
});

test("weights that differ are listed, each with its word's place where the word comes again", () => {
  const labels = ["a", "cat", "a"],
    values = [0.5, 0.3, 0.2, 0.1, 0.2, 0.7, 0.4, 0.4, 0.2];
  assert.equal(say(values, labels, 1), "“cat” looks most at “2 · a” 0.70, “cat” 0.20, “0 · a” 0.10.");
  assert.equal(say(values, labels, 2, 1), "“2 · a” gives 0.4000 to “cat”.");
  assert.equal(describeMap(words, map(3, values), both(labels), ""), "largest 0.70: “cat” to “2 · a”");
});
