// @ts-check
// Sentences about the cell under the pointer, with its value.

import { isolate, nameToken } from "./direction.js";
import { fill } from "./dom.js";
import { wallValue } from "./numbers.js";

/** @typedef {Record<string, string>} Words sentences with {places} to be filled */
/** @typedef {{rows: string[], columns: string[], numbers?: {rows: number[], columns: number[]}}} Labels */
/** @typedef {{query: number | null, key: number | null}} Pair */
/**
 * @typedef {object} LargeMap the map that is shown large
 * @property {number} rows
 * @property {number} columns
 * @property {Float32Array} values
 * @property {Uint8Array | null} masked
 * @property {boolean} exact
 * @property {number} [limit] the largest absolute score; weights have none
 * @property {string} [combined] how several heads were put together: "mean" or "max"
 * @property {number} [heads] how many
 * @property {Uint16Array | null} [winner] which of them each cell is from
 * @property {Set<number>} [covered] cells that an open question is about
 * @property {string} [word] what is said of one
 */

/**
 * Four decimals where they are right, two where the number was packed more coarsely.
 *
 * @param {number} value
 * @param {boolean} exact
 */
export function digits(value, exact) {
  return value === -Infinity ? "−∞" : value.toFixed(exact ? 4 : 2).replace("-", "−");
}

/**
 * A weight in a sentence, as viz.frame.format.part writes it; under a pointer it has four decimals.
 *
 * @param {number} value
 */
export function partDigits(value) {
  if (value <= 0 || value >= 1 - 1e-6) return value.toFixed(0);
  return value < 0.005 ? "<0.01" : value >= 0.995 ? ">0.99" : value.toFixed(2);
}

/** A number of a sentence about many. @param {LargeMap} map @param {number} value */
const inSentence = (map, value) => (map.limit ? digits(value, false) : partDigits(value));

/** Count the numbers that are as large as the largest, apart from rounding. @param {number[]} values */
function countLargest(values) {
  const least = Math.max(...values) - 1e-5 * Math.max(...values.map(Math.abs));
  return values.filter((value) => value >= least).length;
}

/**
 * Describe a pair, a row or a column of the large map.
 *
 * @param {Words} words
 * @param {LargeMap} map
 * @param {Labels} labels
 * @param {Pair} focus
 * @param {(index: number) => string} place the name of one of several heads
 */
export function sayLarge(words, map, labels, focus, place) {
  const { query, key } = focus;
  if (query === null && key === null) return words.says_nothing;
  const q = query === null ? "" : nameToken(labels.rows, query, labels.numbers?.rows),
    k = key === null ? "" : nameToken(labels.columns, key, labels.numbers?.columns);
  const scores = Boolean(map.limit);
  if (query !== null && key !== null) {
    const at = query * map.columns + key,
      value = map.values[at];
    if (map.covered?.has(at)) return `${q} → ${k}: ? (${map.word})`;
    if (map.masked?.[at] || value === -Infinity) return fill(words.says_masked, { q, k });
    const kind = scores ? "says_score" : map.combined ? `says_${map.combined}` : "says_weight";
    const winner = map.winner ? place(map.winner[at]) : "";
    return fill(words[kind], { q, k, value: digits(value, map.exact), n: map.heads ?? 1, head: winner });
  }
  const row = query !== null;
  const line = row
    ? Array.from(map.values.subarray(query * map.columns, (query + 1) * map.columns))
    : Array.from({ length: map.rows }, (_, i) => map.values[i * map.columns + (key ?? 0)]);
  const names = row ? labels.columns : labels.rows,
    numbers = row ? labels.numbers?.columns : labels.numbers?.rows;
  const isCovered = (/** @type {number} */ i) =>
    map.covered?.has(row ? (query ?? 0) * map.columns + i : i * map.columns + (key ?? 0));
  const hidden = line.some((_, i) => isCovered(i));
  const visible = line.map((value, i) => [value, i]).filter(([value, i]) => value !== -Infinity && !isCovered(i));
  if (hidden && visible.length < line.length / 2) return `${row ? q : k}: ? (${map.word})`;
  const best = visible
    .filter(([value]) => scores || value > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 3);
  if (!best.length) return fill(row ? words.says_blind : words.says_unseen, { q, k });
  const alike = map.exact ? countLargest(visible.map(([value]) => value)) : 1;
  const phrases = best.map(([value, i]) => `“${isolate(nameToken(names, i, numbers))}” ${inSentence(map, value)}`);
  const list =
    alike > best.length // any three of them would not be the most
      ? fill(words.says_alike, { n: alike, value: inSentence(map, best[0][0]) })
      : phrases.reduce((first, rest) => fill(words.says_list, { first, rest }));
  return fill(words[`says_${row ? "row" : "column"}${scores ? "_score" : ""}`], { q, k, list });
}

/**
 * Describe a pair of a small map.
 *
 * @param {Words} words
 * @param {import("./numbers.js").Wall} wall
 * @param {Labels} labels
 * @param {{query: number, key: number, index: number}} pair
 * @param {string} name
 * @param {{covered?: Set<number>, word?: string}} [map] the large one, whose covered cells all maps have
 */
export function sayThumb(words, wall, labels, { query, key, index }, name, map = {}) {
  const { pool } = wall,
    row = Math.floor(query / pool),
    column = Math.floor(key / pool);
  const code = wall.values[(index * wall.rows + row) * wall.columns + column];
  const value = wallValue(wall, index, code),
    q = labels.rows[query],
    k = labels.columns[key];
  if (map.covered?.has(query * labels.columns.length + key)) return `${name}: ${q} → ${k}: ? (${map.word})`;
  if (value === -Infinity) return fill(words.says_masked, { q, k });
  const text = digits(value, wall.what === "weights");
  if (pool > 1) {
    const last = (/** @type {number} */ from, /** @type {string[]} */ all) =>
      all[Math.min(all.length, (from + 1) * pool) - 1];
    const [q1, k1] = [last(row, labels.rows), last(column, labels.columns)];
    const [q0, k0] = [labels.rows[row * pool], labels.columns[column * pool]];
    return `${name}: ${fill(words.says_block, { value: text, q0, q1, k0, k1 })}`;
  }
  return `${name}: ${fill(wall.what === "weights" ? words.says_weight : words.says_score, { q, k, value: text })}`;
}

/**
 * Describe a large map as a whole, for screen readers.
 *
 * @param {Words} words
 * @param {LargeMap} map
 * @param {Labels} labels
 * @param {string} name
 */
export function describeMap(words, map, labels, name) {
  let best = 0;
  for (let at = 1; at < map.values.length; at++) if (map.values[at] > map.values[best]) best = at;
  const query = Math.floor(best / map.columns),
    key = best % map.columns;
  return fill(words.large_alt, {
    name,
    rows: map.rows,
    columns: map.columns,
    value: inSentence(map, map.values[best] ?? 0),
    q: nameToken(labels.rows, query, labels.numbers?.rows),
    k: nameToken(labels.columns, key, labels.numbers?.columns),
  });
}
