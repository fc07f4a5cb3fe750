// The map that is shown large: a head's weights or scores, its weights at another temperature, or several heads.

import { combine, decodeScores, maskedCells, regroup, softmax, wallMap } from "../lib/numbers.js";
import { scoreLimit } from "./wall.js";

export class Current {
  /** Give the map {rows, columns, values, masked, exact, ...}, or null while its numbers are still on their way. */
  map(wall, head, choice, axes, together) {
    const sizes = { rows: axes.queries.count, columns: axes.keys.count, masked: null, exact: true };
    const several = wall.what === "weights" && choice.combine !== "one";
    if (several) return combined(wall, head, choice.combine, together, sizes);
    const here = head?.layer === choice.layer && head.head === choice.head && head.codec !== "weights";
    if (here && this.decoded !== head) [this.decoded, this.scores] = [head, decodeScores(head)];
    const index = choice.layer * wall.n_heads + choice.head;
    if (wall.what === "scores") return this.#scores(wall, here ? head : null, index, sizes);
    return this.#weights(wall, here ? head : null, index, choice.temperature, axes, sizes);
  }

  #scores(wall, head, index, sizes) {
    const found = { ...sizes, limit: scoreLimit(wall), exact: head?.codec === "float32" };
    if (!head) return wall.pool > 1 ? null : { ...found, values: wallMap(wall, index) };
    const masked = Uint8Array.from(this.scores, (score) => Number(score === -Infinity));
    return { ...found, values: this.scores, masked: masked.includes(1) ? masked : null };
  }

  #weights(wall, head, index, temperature, { queries, keys, renormalise, plain }, sizes) {
    const masked = head ? maskedCells(this.scores, queries, keys) : null;
    if (temperature === 1 && wall.pool === 1) return { ...sizes, values: wallMap(wall, index), masked };
    if (!head) return null;
    if (this.buffer?.length !== this.scores.length) this.buffer = new Float32Array(this.scores.length);
    const weights = softmax(this.scores, head.rows, head.columns, temperature, this.buffer);
    return { ...sizes, values: plain ? weights : regroup(weights, queries, keys, renormalise), masked };
  }
}

/** Several heads at once; where the wall is pooled, Python has put them together. */
function combined(wall, head, how, together, sizes) {
  const found = { ...sizes, combined: how, heads: together.length };
  if (wall.pool === 1) return { ...found, ...combine(wall, together, how) };
  const pairs = [...together].sort((a, b) => a - b).map((i) => [Math.floor(i / wall.n_heads), i % wall.n_heads]);
  if (head?.combined !== how || JSON.stringify(head.heads) !== JSON.stringify(pairs)) return null;
  return { ...found, values: Float32Array.from(head.codes, (code) => code / 65535) };
}
