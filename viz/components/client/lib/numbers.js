// @ts-check
// The numbers of the grid: what Python sent, decoded, and what is computed here while a finger is moving.
// A map is {rows, columns, values, masked, winner}: row-major, rows are queries, columns are keys.

/** @typedef {Float32Array | Float64Array | Uint16Array | Uint8Array} Numbers */
/**
 * @typedef {{of: number[], count: number}} Axis which row or column each token is `of`, -1 for none, and how many there
 *   are
 */
/**
 * @typedef {object} Wall every head's map
 * @property {string} what "weights", "scores" or "difference"
 * @property {number} n_layers
 * @property {number[]} [numbers] of its layers in the model, where these do not count from 0 on
 * @property {number} n_heads
 * @property {number} rows
 * @property {number} columns
 * @property {number} pool the side of the blocks of which only the largest was sent
 * @property {Uint16Array | Uint8Array} values
 * @property {Float32Array} ranges
 * @property {string[]} order
 * @property {Float32Array} measures
 */
/**
 * @typedef {object} Head the scores of one head
 * @property {string} codec
 * @property {number} rows
 * @property {number} columns
 * @property {Float32Array} scores
 * @property {Uint16Array} codes
 * @property {Float32Array} tops
 * @property {number} reach
 * @property {number} sharpness
 * @property {number} [sink] the head's score for looking nowhere
 */

export const MASKED = 65535;
export const NOWHERE = 255; // in a wall of differences: a cell that one of the texts does not have
const NOTHING = 127; // the code of no difference; the size of one is the square of how far its code is from here
const DIFFERENCES = Float32Array.from({ length: 256 }, (_, code) => {
  const share = (code - NOTHING) / NOTHING;
  return code === NOWHERE ? -Infinity : share * Math.abs(share);
});

/** Table from the code of a score to its distance below the row's largest score. @param {Head} head */
function decodeTable({ reach, sharpness }) {
  const table = new Float32Array(65536),
    span = Math.log1p(reach / sharpness);
  for (let u = 0; u < MASKED; u++) table[u] = sharpness * Math.expm1((u / (MASKED - 1)) * span);
  table[MASKED] = Infinity;
  return table;
}

/** The scores of the chosen head, however they were packed; -Infinity where a query may not look. @param {Head} head */
export function decodeScores(head) {
  if (head.codec === "float32") return head.scores;
  const { codes, tops, rows, columns } = head,
    table = decodeTable(head);
  const scores = new Float32Array(rows * columns);
  for (let i = 0, at = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++, at++) scores[at] = tops[i] - table[codes[at]];
  }
  return scores;
}

/**
 * softmax(scores / temperature) row by row into `out`; a row that may look nowhere is 0. A sink, a score that belongs
 * to no column, takes its share of every row.
 *
 * @template {Float32Array | Float64Array} Out
 * @param {Numbers} scores
 * @param {number} rows
 * @param {number} columns
 * @param {number} temperature
 * @param {Out} out
 * @param {number} [sink]
 */
export function softmax(scores, rows, columns, temperature, out, sink = -Infinity) {
  for (let i = 0; i < rows; i++) {
    const from = i * columns,
      to = from + columns;
    let top = -Infinity,
      total = 0;
    for (let at = from; at < to; at++) if (scores[at] > top) top = scores[at];
    if (top === -Infinity) {
      out.fill(0, from, to);
      continue;
    }
    if (sink > top) top = sink;
    total = Math.exp((sink - top) / temperature);
    for (let at = from; at < to; at++) total += out[at] = Math.exp((scores[at] - top) / temperature);
    for (let at = from; at < to; at++) out[at] /= total;
  }
  return out;
}

/**
 * A head's weights at any temperature: where its scores came as codes, each code is exponentiated once, not each cell.
 *
 * @param {Head} head
 * @param {Float32Array} scores its scores, decoded
 */
export function withTemperature(head, scores) {
  const { codec, rows, columns, codes, tops, sink = -Infinity } = head;
  if (codec === "float32")
    return (/** @type {number} */ temperature, /** @type {Float32Array} */ out) =>
      softmax(scores, rows, columns, temperature, out, sink);
  const below = decodeTable(head),
    powers = new Float64Array(below.length);
  return (/** @type {number} */ temperature, /** @type {Float32Array} */ out) => {
    for (let code = 0; code < below.length; code++) powers[code] = Math.exp(-below[code] / temperature);
    for (let i = 0; i < rows; i++) {
      const from = i * columns,
        to = from + columns;
      let total = sink === -Infinity ? 0 : Math.exp((sink - tops[i]) / temperature);
      for (let at = from; at < to; at++) total += powers[codes[at]];
      for (let at = from; at < to; at++) out[at] = total && powers[codes[at]] / total;
    }
    return out;
  };
}

/**
 * Merge words and hide tokens like viz/core/analysis/map_statistics.py: sum over keys, mean over queries, rows to sum 1
 * again, if they are to be normalised anew.
 *
 * @param {Numbers} weights
 * @param {Axis} queries
 * @param {Axis} keys
 * @param {boolean} renormalise
 */
export function regroup(weights, queries, keys, renormalise) {
  const rows = queries.count,
    columns = keys.count,
    n = keys.of.length;
  const pieces = new Float64Array(rows),
    sums = new Float64Array(rows * columns);
  queries.of.forEach((row, i) => {
    if (row < 0) return;
    pieces[row]++;
    for (let j = 0; j < n; j++) if (keys.of[j] >= 0) sums[row * columns + keys.of[j]] += weights[i * n + j];
  });
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * columns,
      to = from + columns;
    let total = pieces[row];
    if (renormalise) {
      total = 0;
      for (let at = from; at < to; at++) total += sums[at];
    }
    if (total > 0) for (let at = from; at < to; at++) values[at] = sums[at] / total;
  }
  return values;
}

/**
 * The cells of the view that stand for masked pairs only; null if there are none.
 *
 * @param {Float32Array} scores
 * @param {Axis} queries
 * @param {Axis} keys
 */
export function maskedCells(scores, queries, keys) {
  if (!scores.includes(-Infinity)) return null;
  const columns = keys.count,
    n = keys.of.length,
    masked = new Uint8Array(queries.count * columns).fill(1);
  queries.of.forEach((row, i) => {
    for (let j = 0; row >= 0 && j < n; j++) {
      if (keys.of[j] >= 0 && scores[i * n + j] !== -Infinity) masked[row * columns + keys.of[j]] = 0;
    }
  });
  return masked.includes(1) ? masked : null;
}

/**
 * A code of the wall as the number it stands for; `index` counts heads over all layers.
 *
 * @param {Wall} wall
 * @param {number} index
 * @param {number} code
 */
export function wallValue(wall, index, code) {
  if (wall.what === "weights") return code / 65535;
  if (wall.what === "difference") return DIFFERENCES[code];
  if (code === MASKED) return -Infinity;
  const low = wall.ranges[2 * index],
    high = wall.ranges[2 * index + 1];
  return low + (high - low) * (code / (MASKED - 1));
}

/** A head's map as the wall has it. @param {Wall} wall @param {number} index */
export function wallMap(wall, index) {
  const size = wall.rows * wall.columns,
    values = new Float32Array(size);
  for (let at = 0, from = index * size; at < size; at++) values[at] = wallValue(wall, index, wall.values[from + at]);
  return values;
}

/**
 * The mean of several heads, or in each cell the largest and which head it is from (its place in `heads`).
 *
 * @param {Wall} wall
 * @param {number[]} heads
 * @param {string} how "mean" or "max"
 */
export function combine(wall, heads, how) {
  const size = wall.rows * wall.columns,
    values = new Float32Array(size);
  const winner = how === "max" ? new Uint16Array(size) : null;
  heads.forEach((index, place) => {
    const from = index * size;
    for (let at = 0; at < size; at++) {
      const value = wall.values[from + at] / 65535;
      if (!winner) values[at] += value / heads.length;
      else if (value > values[at]) {
        values[at] = value;
        winner[at] = place;
      }
    }
  });
  return { values, winner };
}

/** The distance of a difference's code from zero difference. @param {number} code */
export function distanceFromZero(code) {
  return Math.abs(code - NOTHING);
}

const itself = (/** @type {number} */ value) => value;

/**
 * The largest cell of every block of `factor` x `factor`, for maps with fewer pixels than cells.
 *
 * @template {Numbers} Values
 * @param {Values} values
 * @param {number} rows
 * @param {number} columns
 * @param {number} factor
 * @param {number} [skip] a value that does not count, unless there is no other
 * @param {(value: number) => number} [rank] of what the largest is kept
 */
export function poolMax(values, rows, columns, factor, skip, rank = itself) {
  const height = Math.ceil(rows / factor),
    width = Math.ceil(columns / factor);
  const Same = /** @type {new (length: number) => Values} */ (values.constructor),
    out = new Same(height * width);
  const isSet = new Uint8Array(height * width);
  for (let i = 0, at = 0; i < rows; i++) {
    const to = Math.floor(i / factor) * width;
    for (let j = 0; j < columns; j++, at++) {
      const cell = to + Math.floor(j / factor),
        value = values[at];
      if (value === skip) continue;
      if (!isSet[cell] || rank(value) > rank(out[cell])) out[cell] = value;
      isSet[cell] = 1;
    }
  }
  if (skip !== undefined) for (let cell = 0; cell < out.length; cell++) if (!isSet[cell]) out[cell] = skip;
  return { values: out, rows: height, columns: width };
}

/** A layer's number in the model. @param {Wall} wall @param {number} layer its place in the wall */
export function numberOf(wall, layer) {
  return wall.numbers?.[layer] ?? layer;
}

const ASCENDING = new Set(["entropy", "alike"]);

/**
 * Sort the heads by a measure, each with its number.
 *
 * @param {Wall} wall
 * @param {string} sort
 * @param {ArrayLike<number> | null} links the values of one pair
 */
export function sortHeads(wall, sort, links) {
  const n = wall.n_layers * wall.n_heads,
    row = wall.order.indexOf(sort);
  const numbers = sort === "link" ? links : row < 0 ? null : wall.measures.subarray(row * n, (row + 1) * n);
  const heads = Array.from({ length: n }, (_, index) => ({ index, number: numbers ? numbers[index] : null }));
  if (!numbers) return heads;
  const sign = ASCENDING.has(sort) ? 1 : -1;
  const rank = (/** @type {{number: any}} */ { number }) =>
    Number.isNaN(number) || number === -Infinity ? Infinity : sign * number;
  return heads.sort((a, b) => (rank(a) === rank(b) ? a.index - b.index : rank(a) - rank(b)));
}
