// Overlays on the cells of a matrix.

import { css } from "../lib/colour.js";

const TEXT = 12,
  AWAY = 5; // pixels: of letters, and between them and the cells

/** Frames around a row and cells, letters in cells, and each head's block of rows or columns under its own colour. */
export function drawMarks(context, colours, place, data) {
  const { left, top, w, h, wide, tall } = place,
    { framed, letters, heads, hues, twice } = data;
  const frame = (row, column) => context.strokeRect(left + column * w, top + row * h, w, h);
  if (framed) {
    context.globalAlpha = 0.8;
    context.strokeRect(left, top + framed[0] * h, wide, h);
    context.globalAlpha = 1;
  }
  [context.strokeStyle, context.lineWidth] = [css(hues.negative), 3];
  if (framed && framed[1] !== null) frame(...framed);
  [context.textAlign, context.textBaseline] = ["center", "middle"];
  for (const [row, column, letter] of letters) {
    frame(row, column);
    context.font = `bold ${TEXT}px ${colours.font}`;
    context.fillText(letter, left + (column + 0.5) * w, top + (row + 0.5) * h);
  }
  if (twice && framed && framed[1] !== null) {
    [context.strokeStyle, context.lineWidth] = [colours.text, 1];
    context.strokeRect(left + framed[1] * w + 3, top + framed[0] * h + 3, w - 6, h - 6);
  }
  for (let head = 0; heads && head < heads.count; head++) {
    const across = heads.along === "columns",
      from = head * heads.width * (across ? w : h),
      long = heads.width * (across ? w : h);
    context.strokeStyle = css(heads.hues[head % heads.hues.length]);
    context.lineWidth = head === heads.chosen ? 3 : 1;
    context.strokeRect(...(across ? [left + from, top, long, tall] : [left, top + from, wide, long]));
    context.font = `${head === heads.chosen ? "bold " : ""}${TEXT}px ${colours.font}`;
    if (across) context.fillText(head, left + from + long / 2, top + tall + TEXT / 2 + AWAY);
    else context.fillText(head, left + wide + TEXT, top + from + long / 2);
  }
  context.font = `${TEXT}px ${colours.font}`;
  [context.strokeStyle, context.lineWidth] = [colours.text, 1];
}
