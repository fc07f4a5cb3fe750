// @ts-check
// The numbers of two maps of one head, on the slots of two texts, and what can be said of a cell and of a row of them.

import { fill } from "../lib/dom.js";
import { digits } from "../lib/describe.js";

/**
 * @typedef {{rows: number, columns: number, values: Float32Array, masked: Uint8Array | null, exact: boolean, limit?:
 *   number, decimals?: number}} Map
 */
/** @typedef {{query: number | null, key: number | null}} Pair */
/** @typedef {{a: string[], b: string[], both: string[]}} Labels what a slot is called in either text, and in both */
/** @typedef {Record<string, string>} Words */

const TOP = 65535; // the code of the largest number

/**
 * The two maps that were sent and their difference; a cell is hatched where a text does not have it.
 *
 * @param {{a: Uint16Array, b: Uint16Array, limit: number, size: number, what: string, missing: {a: number[], b: number[]}}} sent
 * @returns {{a: Map, b: Map, difference: Map}}
 */
export function mapsOf({ a, b, limit, size, what, missing }) {
  const sizes = { rows: size, columns: size, exact: true };
  const [from, to] = [a, b].map((codes) => Float32Array.from(codes, (code) => code / TOP));
  const holes = [missing.a, missing.b].map((slots) => holesOf(slots, size));
  const either = holes[0].map((hole, at) => hole | holes[1][at]);
  const change = from.map((share, at) => (either[at] ? -Infinity : (to[at] - share) * limit));
  const hatched = (/** @type {Uint8Array} */ hole) => (hole.includes(1) ? hole : null);
  const full =
    what === "weights"
      ? 1
      : change.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1e-30);
  return {
    a: { ...sizes, values: from, masked: hatched(holes[0]) },
    b: { ...sizes, values: to, masked: hatched(holes[1]) },
    difference: { ...sizes, values: change, masked: hatched(either), limit: full, decimals: full > 9 ? 1 : 2 },
  };
}

/** The cells in rows and columns of slots that a text does not have. @param {number[]} slots @param {number} size */
function holesOf(slots, size) {
  const holes = new Uint8Array(size * size);
  for (const slot of slots) {
    holes.fill(1, slot * size, (slot + 1) * size);
    for (let at = slot; at < holes.length; at += size) holes[at] = 1;
  }
  return holes;
}

/**
 * The distance of a row over the slots that both have, each scaled up to sum to 1 over them; NaN if that cannot be
 * said. As viz/core/comparison/maps.py has it.
 *
 * @param {{a: Map, b: Map, difference: Map}} maps
 * @param {number} query
 */
export function rowChange({ a, b, difference }, query) {
  const n = a.columns,
    from = query * n;
  let first = 0,
    second = 0,
    apart = 0;
  const shared = (/** @type {number} */ at) => difference.values[at] !== -Infinity;
  for (let at = from; at < from + n; at++)
    if (shared(at)) [first, second] = [first + a.values[at], second + b.values[at]];
  if (!(first > 0 && second > 0)) return NaN;
  for (let at = from; at < from + n; at++)
    if (shared(at)) apart += Math.abs(a.values[at] / first - b.values[at] / second);
  return apart / 2;
}

/** With a sign. @param {number} value */
export function signed(value) {
  const text = digits(value, true);
  return Number(value.toFixed(4)) > 0 ? `+${text}` : text.replace("−0.0000", "0.0000");
}

/**
 * Describe the pair, the row or the column under the pointer.
 *
 * @param {Words} words
 * @param {{a: Map, b: Map, difference: Map}} maps
 * @param {{what: string, limit: number}} comparison
 * @param {Labels} labels
 * @param {Pair} focus
 */
export function say(words, maps, comparison, labels, { query, key }) {
  if (query === null) return words.says_nothing;
  const q = labels.both[query];
  if (key === null) return sayRow(words, maps, comparison, labels, query);
  const at = query * maps.a.columns + key,
    k = labels.both[key];
  const [a, b] = [maps.a, maps.b].map(({ values, masked }) =>
    masked?.[at] ? "–" : digits(values[at] * comparison.limit, true),
  );
  const change = maps.difference.values[at];
  return fill(comparison.what === "arrives" ? words.says_pair_arrives : words.says_pair, {
    q,
    k,
    a,
    b,
    d: change === -Infinity ? "–" : signed(change),
  });
}

/**
 * @param {Words} words
 * @param {{a: Map, b: Map, difference: Map}} maps
 * @param {{what: string}} comparison
 * @param {Labels} labels
 * @param {number} query
 */
function sayRow(words, maps, comparison, labels, query) {
  const n = maps.a.columns,
    row = maps.difference.values.subarray(query * n, (query + 1) * n),
    q = labels.both[query];
  const places = Array.from(row, (value, slot) => ({ value, slot })).filter(({ value }) => value !== -Infinity);
  if (!places.length) return fill(words.says_row_a, { q });
  const ends = [Math.max, Math.min].map((end) => end(...places.map(({ value }) => value)));
  const parts = ends.filter((value) => Math.abs(value) >= 5e-5).sort((a, b) => Math.abs(b) - Math.abs(a));
  if (!parts.length) return fill(words.says_row_same, { q });
  const phrases = parts.map((value) => {
    const { slot } = places.find((place) => place.value === value) ?? places[0];
    return fill(words[value > 0 ? "says_more" : "says_less"], {
      k: labels.both[slot],
      d: Math.abs(value).toPrecision(2),
    }); // a pair has four decimals
  });
  const change = rowChange(maps, query);
  const list =
    phrases.length > 1 && phrases[0] !== phrases[1]
      ? fill(words.says_list, { first: phrases[0], rest: phrases[1] })
      : phrases[0];
  const sentence = comparison.what === "arrives" ? words.says_row_arrives : words.says_row_change;
  return fill(sentence, { q, list, share: Number.isNaN(change) ? "–" : change.toFixed(2) });
}
