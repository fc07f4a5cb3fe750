// One matrix as a map of its cells, with its numbers where they fit. Pointing at a cell, or going to it by the arrow
// keys, reads it off; where cells can be chosen, a click or Enter does. What is taken away of it, its menu says
// (figure/menu.js).

import { isolateAll } from "../lib/direction.js";
import { image, start } from "../lib/canvas.js";
import { css, rgba, scoreColour, scoreTable, theme, weightColour, weightTable } from "../lib/colour.js";
import { element, fill } from "../lib/dom.js";
import { fitRow } from "../lib/fit.js";
import { ofPixel } from "../lib/contrast.js";
import { answerCells, coveredCells } from "../lib/covers.js";
import { View, spoken } from "../lib/view.js";
import { zoomOf } from "../lib/place.js";
import { Cells } from "./cells.js";
import { columnNames, overhang, rowNames } from "./axis_labels.js";
import { readable, showTip } from "./pointer.js";
import { mapTable } from "./tables.js";
import { drawMarks } from "./marks.js";

const TEXT = 12,
  SMALLEST = 7,
  AWAY = 5,
  TITLE = 20,
  NAMES = 110; // pixels: of letters, and of what stands around cells
const ROW = 26,
  LOW_ROW = 14,
  WIDEST = 110; // pixels: of cells
const TALLEST = 560,
  LOW = 360,
  LEAST = 300; // pixels: of all cells together; they are not taller than wide beyond the last
const OWNED = 0.45; // how strong the colour of a head is below a number of its own
const BAR = 10,
  SCALE = 62,
  GAPPED = 4; // pixels: the scale, it with its numbers, and a cell that has a gap around it

export class Matrix extends View {
  covered;
  answers;

  constructor(parent) {
    const of = ({ clientWidth }) => [clientWidth, this.data && clientWidth && this.#measure(clientWidth).h];
    super(parent, "matrix", { of });
    this.tip = element("div", "tip", { hidden: "" });
    this.live = spoken("live");
    const { picture, canvas } = readable({
      under: (point) => this.cells?.under(point),
      from: () => ({ at: this.cell, size: this.data.shape }),
      look: (cell) => this.look(cell),
      say: () => (this.live.textContent = this.tip.textContent),
      choose: (cell) => this.choose(cell),
    });
    this.picture = picture;
    this.canvas = canvas;
    this.root.append(picture, this.tip, this.live);
    this.cell = null;
  }

  receive(data) {
    const { kind, hues, limit, values, words } = data;
    Object.assign(this, {
      data,
      cell: null,
      covered: coveredCells(data.covers),
      answers: answerCells(data.covers),
    });
    const table = kind === "signed" ? scoreTable(hues.negative, hues.positive) : weightTable(hues.positive);
    const colour = kind === "signed" ? scoreColour : (table, share) => weightColour(table, Math.min(1, share));
    this.pixels = data.owners
      ? Uint32Array.from(data.owners, (head) => rgba(data.head_hues[head % data.head_hues.length], OWNED))
      : Uint32Array.from(values, (value) => (Number.isFinite(value) ? colour(table, value / limit) : 0));
    this.scale = Array.from({ length: 65 }, (_, i) => colour(table, kind === "signed" ? i / 32 - 1 : i / 64));
    this.bitmap = null;
    this.picture.setAttribute("aria-label", words.alt);
    this.picture.classList.toggle("chooses", data.chooses);
    this.size.hold();
    this.look(null);
  }

  /** For the menu of the picture: every number that is drawn. */
  asTables() {
    return [mapTable(this.#names("rows"), this.#names("columns"), (at) => this.data.values[at])];
  }

  /** The names of the rows or columns: those sent, or their numbers. */
  #names(side) {
    const { labels, count } = this.data[side];
    return labels ?? Array.from({ length: count }, (_, i) => String(i));
  }

  /** Lay out a picture of this width. */
  #measure(width) {
    const context = this.canvas.getContext("2d"),
      {
        shape: [rows, columns],
        rows: down,
        columns: right,
        heads,
        low,
        scale,
        numbers,
      } = this.data;
    context.font = `${TEXT}px ${theme(this.root).font}`;
    const longest = (names) => names.reduce((most, name) => Math.max(most, context.measureText(name).width), 0);
    const rowRoom = Math.min(longest(this.#names("rows")) + 2 * AWAY, NAMES, width / 3);
    const left = rowRoom + (down.title ? TITLE : 0),
      beside = (scale ? SCALE : AWAY) + (heads?.along === "rows" ? 2 * TEXT : 0);
    const wordy = right.labels ? longest(right.labels) : 0,
      upright = !right.labels || wordy + AWAY < (width - left - beside) / columns;
    const columnRoom = upright ? TEXT + 2 * AWAY : Math.min(wordy * 0.87 + 3 * AWAY, NAMES);
    const top = columnRoom + (right.title ? TITLE : 0);
    const leaning = upright ? 0 : overhang(context, right.labels, columnRoom, width - left);
    const w = Math.min(WIDEST, (width - left - Math.max(beside, leaning)) / columns),
      wide = w * columns;
    const most = Math.min(rows * (low ? LOW_ROW : ROW), low ? LOW : TALLEST, numbers ? TALLEST : Math.max(wide, LEAST));
    const below = heads?.along === "columns" ? TEXT + 2 * AWAY : AWAY;
    const h = fitRow(this.root, { height: most / rows, rows, around: top + below }),
      tall = h * rows;
    return { left, top, w, h, wide, tall, rowRoom, columnRoom, upright, height: top + tall + below };
  }

  draw() {
    const width = this.root.clientWidth;
    if (!width || !this.data) return;
    const colours = theme(this.root);
    this.place = this.#measure(width);
    this.canvas.style.height = `${this.place.height}px`;
    const { context } = start(this.canvas, colours),
      [rows, columns] = this.data.shape;
    this.cells = new Cells(context, colours, { ...this.place, rows, columns });
    this.#paint(context, colours);
    if (this.cell) this.cells.frame(this.cell, colours.text, 2);
  }

  #paint(context, colours) {
    const { cells, answers } = this,
      { kind, values, numbers } = this.data;
    this.#drawCells();
    cells.covers(this.covered);
    this.isOnPaper = getComputedStyle(this.root).getPropertyValue("--paper").trim() === "1";
    this.hatches = this.isOnPaper && kind === "signed" && Math.min(cells.w, cells.h) >= GAPPED;
    if (this.hatches) this.#hatch(context);
    cells.edge();
    if (numbers) this.#numbers(context);
    if (answers.size <= 2) for (const cell of answers) cells.answer([cell], values, (value) => formatNumber(value, 2));
    context.fillStyle = context.strokeStyle = colours.text;
    this.#sides(context);
    drawMarks(context, colours, this.place, this.data);
    if (this.data.scale) this.#scale(context);
  }

  #drawCells() {
    const { cells, pixels } = this;
    if (Math.min(cells.w, cells.h) >= GAPPED) return cells.squares((at) => css(...ofPixel(pixels[at])));
    this.bitmap ??= image(cells.rows, cells.columns, (at) => pixels[at]);
    cells.picture(this.bitmap);
  }

  /** A stroke through what is below zero: in black and white both signs are grey. */
  #hatch(context) {
    const { w, h } = this.place;
    context.beginPath();
    this.data.values.forEach((value, at) => {
      if (!(value < 0 && Number.isFinite(value))) return;
      const [x, y] = this.cells.corner(at);
      context.moveTo(x, y + h - 1);
      context.lineTo(x + w - 1, y);
    });
    context.stroke();
  }

  /** Each number in its cell, all of one size: as large as the longest allows, and not at all if that is too small. */
  #numbers(context) {
    const { w, h } = this.place;
    const texts = Array.from(this.data.values, (value) =>
      Number.isFinite(value) ? formatNumber(value, this.data.owners ? 0 : 2) : "",
    );
    const longest = texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 1);
    const size = Math.min(TEXT, ((w - 4) / longest) * TEXT, h - 4);
    if (size < (this.isOnPaper || zoomOf(this.canvas) > 1 ? TEXT : SMALLEST)) return; // no letter is small there
    this.cells.numbers((at) => texts[at], this.pixels, size);
  }

  #sides(context) {
    const { left, top, w, h, wide, tall, rowRoom, columnRoom, upright } = this.place,
      { rows, columns } = this.data;
    context.save();
    context.translate(left - rowRoom, 0);
    if (rows.labels) rowNames(context, rows.labels, rowRoom, h, top);
    else
      everyStep(rows.count, TEXT / h, (i) => {
        [context.textAlign, context.textBaseline] = ["right", "middle"];
        context.fillText(String(i), rowRoom - AWAY, top + (i + 0.5) * h);
      });
    context.restore();
    const names = isolateAll(this.#names("columns")),
      long = context.measureText(String(columns.count)).width + 2 * AWAY;
    if (!upright) columnNames(context, names, left, top, columnRoom, w);
    else
      everyStep(columns.count, columns.labels ? 1 : long / w, (i) => {
        [context.textAlign, context.textBaseline] = ["center", "alphabetic"];
        context.fillText(names[i], left + (i + 0.5) * w, top - AWAY);
      });
    // Chinese reaches above what is "top" in Latin letters.
    [context.textAlign, context.textBaseline] = ["center", "alphabetic"];
    context.fillText(columns.title, left + wide / 2, TEXT, wide + 2 * SCALE);
    context.translate(0, top + tall / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(rows.title, 0, TEXT, top + tall);
    context.rotate(Math.PI / 2);
    context.translate(0, -top - tall / 2);
  }

  #scale(context) {
    const { left, top, wide, tall } = this.place,
      { limit, kind, heads } = this.data;
    const x = left + wide + AWAY + (heads?.along === "rows" ? 2 * TEXT : 0);
    const colours = context.createLinearGradient(0, top + tall, 0, top);
    this.scale.forEach((pixel, i) => colours.addColorStop(i / (this.scale.length - 1), css(...ofPixel(pixel))));
    context.fillStyle = colours;
    context.fillRect(x, top, BAR, tall);
    context.fillStyle = context.strokeStyle;
    context.globalAlpha = 0.3;
    context.strokeRect(x + 0.5, top + 0.5, BAR - 1, tall - 1);
    context.globalAlpha = 1;
    if (this.hatches) {
      context.beginPath();
      for (let y = top + tall / 2 + BAR; y <= top + tall; y += BAR) {
        context.moveTo(x, y);
        context.lineTo(x + BAR, y - BAR);
      }
      context.stroke();
    }
    const ends = kind === "signed" ? [limit, 0, -limit] : [limit, 0];
    [context.textAlign, context.textBaseline] = ["left", "middle"];
    ends.forEach((value, i) => {
      const y = top + TEXT / 2 + (i / (ends.length - 1)) * (tall - TEXT);
      context.fillText(String(Number(value.toPrecision(3))).replace("-", "−"), x + BAR + AWAY, y);
    });
  }

  /** Read a cell off, or none. */
  look(cell) {
    const text = cell ? this.#describe(cell) : "";
    this.cell = cell;
    this.draw();
    showTip(this.tip, text, cell && this.cells?.box(cell));
  }

  #describe([row, column]) {
    const { hover, blocked: blockedText, shape, values } = this.data,
      value = values[row * shape[1] + column];
    if (this.covered.has(row * shape[1] + column)) return `? (${this.data.covers.word})`;
    if (Array.isArray(hover)) return hover[row][column];
    const hasValue = Number.isFinite(value),
      names = { row: this.#names("rows")[row], column: this.#names("columns")[column] };
    return fill(hasValue ? hover : blockedText, {
      ...names,
      offset: column - row,
      value: hasValue ? formatNumber(value, this.data.owners ? 0 : 4) : "−∞",
    });
  }

  choose(cell) {
    if (!cell || !this.data.chooses) return;
    this.send("chosen", cell);
  }
}

function formatNumber(value, digits) {
  return value.toFixed(digits).replace("-", "−");
}

/** Do something for each of `count` places that has room: every one, or every 2nd, 5th, 10th, 20th … */
function everyStep(count, least, act) {
  let step = 1;
  for (let i = 0; step < least; i++) step *= [2, 2.5, 2][i % 3];
  for (let i = 0; i < count; i += step) act(i);
}
