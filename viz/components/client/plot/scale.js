// @ts-check
// The limits of an axis, its ticks, and the position of a value on it.

import { byteTicks, logTicks, ticks } from "./ticks.js";

/**
 * @typedef {{log: boolean, limits: number[] | null, ticks: number[] | null, from_zero: boolean, reversed: boolean,
 *   in_bytes: boolean}} Axis
 */

const HALF = 0.5; // what lies on either side of a value that is the only one
const ROUNDING = 1e-6; // values that differ by this share of their size are one: no ticks stand between them
const BESIDE = 1e-3; // what lies on either side of a large one, as a share of it

/** The share of the way at which a value stands, and the ticks.
 * @param {Axis} axis @param {number[]} values all that are drawn; what is not finite counts as none
 * @param {number} margin the share that is left free beyond them */
export function scale(axis, values, margin) {
  const on = axis.log ? Math.log10 : (/** @type {number} */ value) => value,
    finite = values.map(on).filter(Number.isFinite);
  const [low, high] = axis.limits ? axis.limits.map(on) : fitLimits(axis, finite, margin),
    ends = axis.log ? [10 ** low, 10 ** high] : [low, high];
  const share = (/** @type {number} */ value) => (on(value) - low) / (high - low);
  const least = values.every(Number.isInteger) ? 1 : 0; // between whole numbers there is nothing to be read off
  const marks = axis.ticks ?? choose(axis, ends[0], ends[1], least);
  return {
    share: axis.reversed ? (/** @type {number} */ value) => 1 - share(value) : share,
    marks: marks.filter((mark) => share(mark) > -1e-9 && share(mark) < 1 + 1e-9),
  };
}

/** @param {Axis} axis @param {number} low @param {number} high @param {number} least */
function choose({ log, in_bytes }, low, high, least) {
  if (in_bytes) return byteTicks(low, high, log);
  return log ? logTicks(low, high) : ticks(low, high, least);
}

/** @param {Axis} axis @param {number[]} finite @param {number} margin */
function fitLimits(axis, finite, margin) {
  const all = axis.from_zero ? [0, ...finite] : finite;
  if (!all.length) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)],
    size = Math.max(Math.abs(low), Math.abs(high));
  const isWide = high - low > ROUNDING * size,
    free = isWide ? margin * (high - low) : Math.max(HALF, BESIDE * size);
  const isHeld = (/** @type {number} */ end) => axis.from_zero && end === 0 && isWide;
  return [isHeld(low) ? low : low - free, isHeld(high) ? high : high + free];
}
