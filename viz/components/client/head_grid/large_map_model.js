// @ts-check
// The map that is shown large: a head's weights or scores, its weights at another temperature, or several heads.

import { combine, decodeScores, maskedCells, regroup, wallMap, withTemperature } from "../lib/numbers.js";
import { scoreLimit } from "./wall.js";

/** @typedef {import("../lib/numbers.js").Wall} Wall */
/** @typedef {import("../lib/numbers.js").Axis} Axis */
/**
 * @typedef {{queries: Axis, keys: Axis, renormalise: boolean, plain: boolean}} Axes `plain`: each token is its own row
 */
/**
 * @typedef {{rows: number, columns: number, values: Float32Array, masked: Uint8Array | null, exact: boolean,
 *   pooled?: number, winner?: ArrayLike<number> | null, limit?: number}} LargeMapData what the large map shows
 */
/** @typedef {{rows: number, columns: number, masked: null, exact: boolean}} Sizes what all maps have */

export class LargeMapModel {
  /** @type {any} the head whose scores are decoded */
  decodedHead;
  /** @type {Float32Array} */
  scores = new Float32Array();
  /** @type {(temperature: number, out: Float32Array) => Float32Array} its weights */
  atTemperature = (_, out) => out;
  /** @type {{scores: Float32Array, axes: Axes | null, cells: Uint8Array | null}} which cells of the view are masked */
  maskCache = { scores: this.scores, axes: null, cells: null };
  buffer = new Float32Array();

  /**
   * Give the map, or null while its numbers are still on their way.
   *
   * @param {Wall} wall
   * @param {any} head the one that was sent last: scores, or several heads put together
   * @param {any} choice
   * @param {Axes} axes
   * @param {number[]} together the heads taken together
   * @returns {LargeMapData | null}
   */
  map(wall, head, choice, axes, together) {
    const sizes = { rows: axes.queries.count, columns: axes.keys.count, masked: null, exact: true };
    const several = wall.what === "weights" && choice.combine !== "one";
    if (several) return combineHeads(wall, head, choice.combine, together, sizes);
    const isIt = head?.layer === choice.layer && head.head === choice.head,
      hasScores = isIt && head.codec !== "weights";
    if (hasScores && this.decodedHead !== head) {
      [this.decodedHead, this.scores] = [head, decodeScores(head)];
      this.atTemperature = withTemperature(head, this.scores);
    }
    const index = choice.layer * wall.n_heads + choice.head;
    if (wall.what === "scores") return this.#scoreMap(wall, hasScores ? head : null, index, sizes);
    if (isIt && !hasScores && !head.combined)
      // Some cells are covered.
      return { ...sizes, pooled: head.pooled, values: Float32Array.from(head.codes, (code) => code / 65535) };
    return this.#weightMap(wall, hasScores ? head : null, index, choice.temperature, axes, sizes);
  }

  /** @param {Wall} wall @param {any} head @param {number} index @param {Sizes} sizes */
  #scoreMap(wall, head, index, sizes) {
    const map = { ...sizes, limit: scoreLimit(wall), exact: head?.codec === "float32" };
    if (!head) return wall.pool > 1 ? null : { ...map, values: wallMap(wall, index) };
    const masked = Uint8Array.from(this.scores, (score) => Number(score === -Infinity));
    return { ...map, values: this.scores, masked: masked.includes(1) ? masked : null };
  }

  /**
   * @param {Wall} wall
   * @param {any} head
   * @param {number} index
   * @param {number} temperature
   * @param {Axes} axes
   * @param {Sizes} sizes
   */
  #weightMap(wall, head, index, temperature, axes, sizes) {
    const { queries, keys, renormalise, plain } = axes,
      masked = head ? this.#cachedMask(axes) : null;
    if (temperature === 1 && wall.pool === 1) return { ...sizes, exact: true, values: wallMap(wall, index), masked };
    if (!head) return null;
    if (this.buffer.length !== this.scores.length) this.buffer = new Float32Array(this.scores.length);
    const weights = this.atTemperature(temperature, this.buffer);
    const exact = !head.coarse; // made of rounded weights, away from the app
    return { ...sizes, exact, values: plain ? weights : regroup(weights, queries, keys, renormalise), masked };
  }

  /** The masked cells, cached because the temperature changes in every frame and they do not. @param {Axes} axes */
  #cachedMask(axes) {
    if (this.maskCache.scores !== this.scores || this.maskCache.axes !== axes) {
      this.maskCache = { scores: this.scores, axes, cells: maskedCells(this.scores, axes.queries, axes.keys) };
    }
    return this.maskCache.cells;
  }
}

/**
 * Several heads at once; where the wall is pooled, Python has put them together.
 *
 * @param {Wall} wall
 * @param {any} head
 * @param {string} how
 * @param {number[]} together
 * @param {Sizes} sizes
 */
function combineHeads(wall, head, how, together, sizes) {
  const map = { ...sizes, combined: how, heads: together.length };
  if (wall.pool === 1) return { ...map, ...combine(wall, together, how) };
  const pairs = [...together].sort((a, b) => a - b).map((i) => [Math.floor(i / wall.n_heads), i % wall.n_heads]);
  if (head?.combined !== how || JSON.stringify(head.heads) !== JSON.stringify(pairs)) return null;
  return { ...map, pooled: head.pooled, values: Float32Array.from(head.codes, (code) => code / 65535) };
}
