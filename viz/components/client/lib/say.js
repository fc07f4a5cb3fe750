// What is pointed at, in words, with the value.

import { fill } from "./dom.js";
import { wallValue } from "./numbers.js";

/** Four decimals where they are right, two where the number was packed more coarsely. */
export function digits(value, exact) {
  return value === -Infinity ? "−∞" : value.toFixed(exact ? 4 : 2).replace("-", "−");
}

/** A weight in a sentence, as viz.frame.format.part writes it; under a pointer it has four decimals. */
export function partDigits(value) {
  if (value <= 0 || value >= 1 - 1e-6) return value.toFixed(0);
  return value < 0.005 ? "<0.01" : value >= 0.995 ? ">0.99" : value.toFixed(2);
}

/** About a pair, a row or a column of the large map. */
export function sayLarge(words, map, labels, focus, place) {
  const { query, key } = focus;
  if (query === null && key === null) return words.says_nothing;
  const q = labels.rows[query], k = labels.columns[key];
  const scores = Boolean(map.limit);
  if (query !== null && key !== null) {
    const at = query * map.columns + key, value = map.values[at];
    if (map.masked?.[at] || value === -Infinity) return fill(words.says_masked, { q, k });
    const kind = scores ? "says_score" : { mean: "says_mean", max: "says_max" }[map.combined] ?? "says_weight";
    const winner = map.winner ? place(map.winner[at]) : "";
    return fill(words[kind], { q, k, value: digits(value, map.exact), n: map.heads ?? 1, head: winner });
  }
  const row = query !== null;
  const line = row
    ? Array.from(map.values.subarray(query * map.columns, (query + 1) * map.columns))
    : Array.from({ length: map.rows }, (_, i) => map.values[i * map.columns + key]);
  const names = row ? labels.columns : labels.rows;
  const seen = line.map((value, i) => [value, i]).filter(([value]) => value !== -Infinity);
  const best = seen.sort((a, b) => b[0] - a[0]).slice(0, 3);
  if (!best.length || (!scores && best[0][0] === 0)) return fill(row ? words.says_blind : words.says_unseen, { q, k });
  const named = best.map(([value, i]) => `“${names[i]}” ${digits(value, map.exact)}`);
  const list = named.reduce((first, rest) => fill(words.says_list, { first, rest }));
  return fill(words[`says_${row ? "row" : "column"}${scores ? "_score" : ""}`], { q, k, list });
}

/** About a pair of a small map. */
export function sayThumb(words, wall, labels, { query, key, index }, name) {
  const { pool } = wall, row = Math.floor(query / pool), column = Math.floor(key / pool);
  const code = wall.values[(index * wall.rows + row) * wall.columns + column];
  const value = wallValue(wall, index, code), q = labels.rows[query], k = labels.columns[key];
  if (value === -Infinity) return fill(words.says_masked, { q, k });
  const text = digits(value, wall.what === "weights");
  if (pool > 1) {
    const last = (from, all) => all[Math.min(all.length, (from + 1) * pool) - 1];
    const [q1, k1] = [last(row, labels.rows), last(column, labels.columns)];
    const [q0, k0] = [labels.rows[row * pool], labels.columns[column * pool]];
    return `${name}: ${fill(words.says_block, { value: text, q0, q1, k0, k1 })}`;
  }
  return `${name}: ${fill(wall.what === "weights" ? words.says_weight : words.says_score, { q, k, value: text })}`;
}

/** A large map as a whole, for those who cannot see it. */
export function sayWhole(words, map, labels, name) {
  let best = 0;
  for (let at = 1; at < map.values.length; at++) if (map.values[at] > map.values[best]) best = at;
  const query = Math.floor(best / map.columns), key = best % map.columns;
  return fill(words.large_alt, {
    name, rows: map.rows, columns: map.columns, value: digits(map.values[best] ?? 0, map.exact),
    q: labels.rows[query], k: labels.columns[key],
  });
}
