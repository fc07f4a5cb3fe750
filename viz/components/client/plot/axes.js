// The axes of a chart: lines at their ticks, and what is written there.

import { line } from "../lib/canvas.js";

export const TEXT = 12,
  AWAY = 6; // pixels: of letters, and between them and the picture

/** Draw what lies behind the values. */
export function faint(context, draw, opacity = 0.15) {
  context.globalAlpha = opacity;
  if (opacity) draw();
  context.globalAlpha = 1;
}

/**
 * Level lines at the ticks, with their names on the left, as many as have room; `opacity` of a tick's line may be 0.
 */
export function levelTicks(context, { left, wide, y, marks, names, opacity }) {
  [context.textAlign, context.textBaseline] = ["right", "middle"];
  let last = Infinity;
  marks.forEach((mark, i) => {
    faint(context, () => line(context, left, y(mark), left + wide, y(mark)), opacity(mark));
    if (Math.abs(last - y(mark)) < TEXT) return;
    context.fillText(names[i], left - AWAY, y(mark));
    last = y(mark);
  });
}

/** Upright lines at the ticks, with their names below, as many as have room; none of these reaches beyond `most`. */
export function uprightTicks(context, { top, bottom, x, marks, names, opacity, most = Infinity }) {
  [context.textAlign, context.textBaseline] = ["center", "alphabetic"];
  let end = -Infinity;
  marks.forEach((mark, i) => {
    faint(context, () => line(context, x(mark), top, x(mark), bottom), opacity(mark));
    const half = context.measureText(names[i]).width / 2,
      middle = Math.min(most - half, x(mark));
    if (middle - half < end) return;
    context.fillText(names[i], middle, bottom + AWAY + TEXT);
    end = middle + half + AWAY;
  });
}
