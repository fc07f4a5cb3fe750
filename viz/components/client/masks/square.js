// A square map of the same tokens with their names on two sides: queries down the left, keys along the top.

import { start } from "../lib/canvas.js";
import { fitRow } from "../lib/fit.js";
import { Cells } from "../plot/cells.js";
import { columnNames, overhang, rowNames } from "../plot/axis_labels.js";

const LARGEST = 64,
  RULED = 7; // pixels: the most of a cell, and the least that has a line around it

/** Begin a picture of these tokens, with so many pixels free on its right. */
export function begin(canvas, labels, colours, right = 0) {
  const room = canvas.clientWidth < 330 ? 56 : 76,
    wide = canvas.clientWidth - room - 1,
    n = labels.length;
  const context = canvas.getContext("2d");
  context.font = `bold 12px ${colours.font}`;
  const most = Math.min(
    wide - Math.max(right, overhang(context, labels, room, Math.min(wide - right, n * LARGEST))),
    n * LARGEST,
  );
  const w = Math.min(most / n, fitRow(canvas, { height: most / n, rows: n, around: room + 1 }));
  canvas.style.height = `${room + n * w + 1}px`;
  return new Cells(start(canvas, colours).context, colours, { left: room, rows: n, w });
}

/**
 * Lines between the cells, where there is room, the tokens' names, and frames around the pair; bold names are the
 * pair's.
 */
export function finish(cells, tokens, pair, words, bold = pair) {
  const { context, left: room, w, colours } = cells;
  if (w >= RULED) cells.grid(0.18);
  cells.edge(0.4);
  rowNames(context, tokens, room, w, room, { bold: bold.query });
  columnNames(context, tokens, room, room, room, w, "above", { bold: bold.key });
  [context.globalAlpha, context.textAlign, context.textBaseline] = [0.75, "right", "middle"];
  // Condensed in narrow pictures: more room for them would be taken from the cells.
  context.fillText(words.answers, room - 3, room - 26, room - 3);
  context.fillText(words.asks, room - 3, room - 10, room - 3);
  context.globalAlpha = 1;
  cells.mark(pair, colours.primary, 1, 0.55);
}
