// The cells of a labelled map on a canvas: their positions, contents and overlays.

import { stripes } from "../lib/canvas.js";
import { moveCell } from "../lib/clamp.js";
import { drawCover, drawAnswer } from "../lib/covers.js";
import { inks, ofPixel } from "../lib/contrast.js";
import { AWAY, LEAN } from "./axis_labels.js";

/** @typedef {{query: number | null, key: number | null}} Pair a cell; or a row or a column, where the other is null */

/** @typedef {{left: number, top?: number, rows: number, columns?: number, w: number, h?: number}} Place */

export class Cells {
  /** `w` and `h` are the sides of a cell in pixels, `colours` the page's (lib/colour.js). */
  constructor(context, colours, /** @type {Place} */ { left, top = left, rows, columns = rows, w, h = w }) {
    this.context = context;
    this.colours = colours;
    this.left = left;
    this.top = top;
    this.rows = rows;
    this.columns = columns;
    this.w = w;
    this.h = h;
    this.wide = columns * w;
    this.tall = rows * h;
  }

  /** The place of a cell's left upper corner. @returns {[number, number]} */
  corner(at) {
    return [this.left + (at % this.columns) * this.w, this.top + Math.floor(at / this.columns) * this.h];
  }

  /** The place of a cell's middle. @returns {[number, number]} */
  middle(at) {
    const [x, y] = this.corner(at);
    return [x + this.w / 2, y + this.h / 2];
  }

  /**
   * The picture of all cells, a pixel for each (lib/canvas.js); more cells than pixels are mixed, and none is left out;
   * where cells are low and wide, a map does without: neighbours would be blurred into each other.
   * Of a bitmap with several pictures, `part` is where this one stands: [x, y].
   */
  picture(bitmap, part = null, isMixed = Math.min(this.w, this.h) < 1) {
    const { context, left, top, wide, tall, rows, columns } = this;
    context.imageSmoothingEnabled = isMixed;
    context.drawImage(bitmap, ...(part ? [...part, columns, rows] : []), left, top, wide, tall);
  }

  /** Each cell as a square of its own with a gap beside it; `colour` gives its colour, or "" for none. */
  squares(colour, gap = 1) {
    for (let at = 0; at < this.rows * this.columns; at++) {
      const ink = colour(at),
        [x, y] = this.corner(at);
      if (ink) this.context.fillStyle = ink;
      if (ink) this.context.fillRect(x, y, this.w - gap, this.h - gap);
    }
  }

  /** A line around all cells. */
  edge(opacity = 0.3) {
    const { context, left, top, wide, tall } = this;
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [this.colours.text, 1, opacity];
    context.strokeRect(left + 0.5, top + 0.5, wide - 1, tall - 1);
    context.globalAlpha = 1;
  }

  /** Lines between the cells. */
  grid(opacity) {
    const { context, left, top, wide, tall, rows, columns, w, h } = this;
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [this.colours.text, 1, opacity];
    context.beginPath();
    for (let i = 1; i < rows; i++) toLine(context, left, top + i * h, left + wide, top + i * h);
    for (let j = 1; j < columns; j++) toLine(context, left + j * w, top, left + j * w, top + tall);
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Draw stripes over the cells for which `isHatched` is true, `apart` pixels apart. */
  hatch(isHatched, opacity, apart = 6) {
    const { context, left, top, wide, tall, rows, columns, w, h } = this;
    context.save();
    context.beginPath();
    for (let row = 0; row < rows; row++) {
      for (let from = 0, to = 0; from < columns; from = to + 1) {
        to = from; // neighbours in a row are one rectangle
        while (to < columns && isHatched(row * columns + to)) to++;
        if (to > from) context.rect(left + from * w, top + row * h, (to - from) * w, h);
      }
    }
    context.clip();
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [this.colours.text, 1, opacity];
    stripes(context, left, top, wide, tall, apart);
    context.restore();
  }

  /** A "?" over each of the cells that an open question covers. */
  covers(cells) {
    for (const at of cells) drawCover(this.context, this.colours, ...this.corner(at), this.w, this.h);
  }

  /** Draw the number of the answer's cell; of several, the largest. */
  answer(cells, values, text = (value) => value.toFixed(2)) {
    const [most] = [...cells].sort((a, b) => values[b] - values[a]);
    if (most === undefined) return;
    drawAnswer(this.context, this.colours, text(values[most]), ...this.middle(most));
  }

  /** A number in each cell, in a colour that can be read on the cell's own pixel; `text` gives it, or nothing. */
  numbers(text, pixels, size) {
    const { context, colours } = this,
      ink = inks(colours);
    context.save();
    context.font = `${size}px ${colours.font}`;
    [context.textAlign, context.textBaseline] = ["center", "middle"];
    for (let at = 0; at < pixels.length; at++) {
      const label = text(at);
      if (!label) continue;
      context.fillStyle = ink(...ofPixel(pixels[at]));
      context.fillText(label, ...this.middle(at));
    }
    context.restore();
  }

  /** The anchor of a cell's tooltip. */
  box([row, column]) {
    return {
      x: this.left + (column + 0.5) * this.w,
      top: this.top + row * this.h,
      bottom: this.top + (row + 1) * this.h,
    };
  }

  frame([row, column], colour, width = 1) {
    [this.context.strokeStyle, this.context.lineWidth] = [colour, width];
    this.context.strokeRect(this.left + column * this.w, this.top + row * this.h, this.w, this.h);
  }

  /** A frame around a row, around a column, and a thicker one around the cell where both meet. @param {Pair} pair */
  mark({ query, key }, colour, width = 1, opacity = 1) {
    const { context, left, top, wide, tall, w, h } = this;
    context.save();
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [colour, width, opacity];
    if (query !== null) context.strokeRect(left, top + query * h, wide, h);
    if (key !== null) context.strokeRect(left + key * w, top, w, tall);
    [context.lineWidth, context.globalAlpha] = [width + 1.5, 1];
    if (query !== null && key !== null) context.strokeRect(left + key * w, top + query * h, w, h);
    context.restore();
  }

  /** Lines through the middle of a cell. */
  cross(cell) {
    const { context, left, top, wide, tall } = this,
      { x, top: above, bottom } = this.box(cell),
      y = (above + bottom) / 2;
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [this.colours.text, 1, 0.5];
    context.beginPath();
    toLine(context, left, y, left + wide, y);
    toLine(context, x, top, x, top + tall);
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Light a row and a column, however thin. @param {Pair} pair */
  light({ query, key }, opacity = 0.22) {
    const { context, left, top, wide, tall, w, h } = this;
    [context.fillStyle, context.globalAlpha] = [this.colours.text, opacity];
    context.fillRect(left, top + query * h, wide, Math.max(1, h));
    context.fillRect(left + key * w, top, Math.max(1, w), tall);
    context.globalAlpha = 1;
  }

  /** The cell at a point, [row, column]; null beside the cells. @returns {[number, number] | null} */
  under([x, y]) {
    const row = Math.floor((y - this.top) / this.h),
      column = Math.floor((x - this.left) / this.w);
    return row >= 0 && column >= 0 && row < this.rows && column < this.columns ? [row, column] : null;
  }

  /** The cell at a point, or the nearest one: [row, column]. */
  nearest([x, y]) {
    const at = [(y - this.top) / this.h, (x - this.left) / this.w];
    return moveCell(at.map(Math.floor), [0, 0], [this.rows, this.columns]);
  }

  /**
   * The pair at a point, of which one is null on a name beside the cells. `gutter` and `head` are where the
   * cells begin that are seen.
   *
   * @returns {Pair | null}
   */
  underWithNames([x, y], gutter = this.left, head = this.top) {
    const isAbove = y < head,
      isBeside = x < gutter && !isAbove;
    const lean = isAbove ? Math.max(0, head - AWAY - y) / Math.tan(LEAN) : 0; // down a name to its column
    const within = (at, count) => (at >= 0 && at < count ? at : null);
    const query = isAbove ? null : within(Math.floor((y - this.top) / this.h), this.rows),
      key = isBeside ? null : within(Math.floor((x - lean - this.left) / this.w), this.columns);
    return (query === null && !isAbove) || (key === null && !isBeside) ? null : { query, key };
  }
}

function toLine(context, x0, y0, x1, y1) {
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
}
