// @ts-check
// Cells that a lesson covers while its question is open: their numbers were not sent (viz/modes/lesson/covered_data.py). A view
// draws a hatched "?" there; when the question is over, the same cells carry their numbers.

import { stripes } from "./canvas.js";

/** @typedef {{cells: number[], open: boolean, word: string}} Covers */

const LETTER = 16,
  ROOM = 9; // pixels: of the "?" at most, and that it needs
const NOTHING = /** @type {Set<number>} */ (new Set());

/** The covered cells, row by row. @param {Covers | null | undefined} covers */
export function coveredCells(covers) {
  return covers?.open ? new Set(covers.cells) : NOTHING;
}

/** The cells that tell the answer, now that the question is over. @param {Covers | null | undefined} covers */
export function answerCells(covers) {
  return covers && !covers.open ? new Set(covers.cells) : NOTHING;
}

/**
 * Draw a hatched "?" in place of a cell.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{text: string, background: string, font: string}} theme
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
export function drawCover(context, theme, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = theme.background;
  context.fillRect(x, y, width, height);
  [context.strokeStyle, context.lineWidth, context.globalAlpha] = [theme.text, 1, 0.28];
  stripes(context, x, y, width, height);
  context.globalAlpha = 1;
  const size = Math.min(LETTER, height - 2, width + 4);
  if (size >= ROOM) {
    context.font = `bold ${size}px ${theme.font}`;
    [context.textAlign, context.textBaseline] = ["center", "middle"];
    const half = size * 0.4;
    context.fillStyle = theme.background;
    context.fillRect(x + width / 2 - half, y + height / 2 - half, 2 * half, 2 * half);
    context.fillStyle = theme.text;
    context.fillText("?", x + width / 2, y + height / 2);
  }
  context.restore();
}

/**
 * Draw the number of the answer's cell in a box, readable however small the cell is.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{background: string, primary: string, font: string}} theme
 * @param {string} text
 * @param {number} x the middle of the cell
 * @param {number} y
 */
export function drawAnswer(context, theme, text, x, y) {
  context.save();
  context.font = `bold 13px ${theme.font}`;
  [context.textAlign, context.textBaseline] = ["center", "middle"];
  const wide = context.measureText(text).width + 8;
  context.fillStyle = theme.primary;
  context.fillRect(x - wide / 2, y - 9, wide, 18);
  context.fillStyle = theme.background;
  context.fillText(text, x, y + 1);
  context.restore();
}
