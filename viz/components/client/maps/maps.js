// A few maps of the same tokens under one scale, or pictures of one size, side by side. Pointing at a cell, or going to
// it by the arrow keys, reads it off in all of them at once.

import { answerCells, coveredCells, drawCover } from "../lib/covers.js";
import { View, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image, line, measure, start } from "../lib/canvas.js";
import { css, grey, scoreColour, scoreTable, theme, weightColour, weightTable } from "../lib/colour.js";
import { element, fill } from "../lib/dom.js";
import { fitHeight } from "../lib/fit.js";
import { Cells } from "../plot/cells.js";
import { columnNames, overhang, rowNames } from "../plot/axis_labels.js";
import { readable } from "../plot/pointer.js";
import { mapTable } from "../plot/tables.js";
import { fourDigits } from "./digits.js";

const GUTTER = 64;
const GAP = 12,
  LEAST = 90; // pixels: between rows of maps, and the least of a map

export default mount((parent) => new Maps(parent), unpack);

class Maps extends View {
  covered;
  answers;

  constructor(parent) {
    super(parent, "maps", { of: ({ clientWidth }) => [clientWidth, this.data && this.#widest()] });
    this.strip = element("div", "strip");
    this.says = element("p", "says");
    this.axes = element("p", "axes");
    this.live = spoken("live");
    this.root.append(this.strip, this.says, this.axes, this.live);
    this.pair = null;
  }

  receive(data) {
    [this.data, this.covered, this.answers] = [data, coveredCells(data.covers), answerCells(data.covers)];
    const { hues } = data;
    this.tables = { weights: weightTable(hues.positive), scores: scoreTable(hues.negative, hues.positive) };
    this.#build();
    for (const panel of this.panels) this.#name(panel);
    this.axes.textContent = data.words.axes;
    this.size.hold();
    this.light(this.pair && this.pair.query < data.rows && this.pair.key < data.n ? this.pair : null);
  }

  /** Reuse the panels for other maps in the same places, so that the cursor stays. */
  #build() {
    const { maps, chooses, profiles, gutter, what, thumbnails } = this.data;
    const places = [maps.length, Boolean(chooses), Boolean(profiles)].join();
    this.strip.classList.toggle("pairs", Boolean(gutter));
    this.strip.classList.toggle("pictures", what === "pictures");
    this.root.classList.toggle("thumbnails", Boolean(thumbnails));
    if (places === this.places) return;
    this.places = places;
    this.panels = maps.map((_, index) => {
      const panel = element("figure", "panel"),
        title = element("figcaption", "name");
      const value = element("span", "value"),
        profile = element("canvas", "profile");
      const acts = {
        under: (point) => this.panels[index].cells?.under(point),
        from: () => this.#at(),
        look: (cell) => this.light(cell && { query: cell[0], key: cell[1] }),
        say: () => (this.live.textContent = `${title.textContent}. ${this.says.textContent} ${value.textContent}`),
      };
      const { picture, canvas } = chooses ? readable(acts, "button", { type: "button" }) : readable(acts);
      if (chooses) picture.addEventListener("click", () => this.send("chosen", this.data.maps[index].code));
      panel.append(title, picture, ...(profiles ? [profile] : []), value);
      return { panel, title, picture, canvas, value, profile, index };
    });
    this.strip.replaceChildren(...this.panels.map(({ panel }) => panel));
  }

  /** Say which map stands in a place, and make its picture of one pixel a cell. */
  #name(panel) {
    const { maps, chooses, chosen: choice, rows, n, values } = this.data,
      { title, picture, index } = panel,
      map = maps[index];
    const cells = values.subarray(index * rows * n, (index + 1) * rows * n),
      colour = this.#colours(index);
    panel.image = image(rows, n, (at) => (Number.isNaN(cells[at]) ? 0 : colour(cells[at])));
    title.textContent = map.title;
    picture.setAttribute("aria-label", map.alt);
    if (chooses) picture.setAttribute("aria-pressed", String(map.code === choice));
  }

  /** Limit the width of a map so that all rows of maps are on the first screen. */
  #widest() {
    const { n, rows, maps, gutter } = this.data,
      [first] = this.panels,
      left = gutter ? GUTTER : 0;
    this.strip.style.removeProperty("--widest");
    const columns = getComputedStyle(this.strip).gridTemplateColumns.split(" ").length,
      down = Math.ceil(maps.length / columns);
    const fullWidth = first.canvas.clientWidth,
      shape = Math.max(rows, n);
    const names = this.panels.map(({ panel, canvas }) => panel.clientHeight - canvas.clientHeight); // and values, profiles
    const around = down * (Math.max(...names) + left) + (down - 1) * GAP;
    const side = ((fullWidth - left) * rows) / shape; // of the cells, without their names
    const widest = Math.ceil(
      (fitHeight(this.strip, { height: side, rows: down, around, least: Math.min(LEAST, side) }) * shape) / rows + left,
    );
    if (widest < fullWidth) this.strip.style.setProperty("--widest", `${widest}px`);
    return widest;
  }

  draw() {
    const { n, rows, profiles, gutter } = this.data;
    const colours = theme(this.root),
      left = gutter ? GUTTER : 0,
      right = gutter ? this.#overhang(colours) : 0;
    if (this.panels.some(({ canvas }) => !canvas.clientWidth)) return;
    const side = (canvas) => (canvas.clientWidth - left - right) / Math.max(rows, n);
    const sides = this.panels.map(({ canvas }) => side(canvas));
    for (const [i, { canvas }] of this.panels.entries()) {
      // if not a square, as the style sheet has it
      canvas.style.height = rows !== n || right ? `${left + rows * sides[i]}px` : "";
    }
    measure(this.panels.flatMap(({ canvas, profile }) => (profiles ? [canvas, profile] : [canvas])));
    for (const panel of this.panels) {
      const { canvas, profile, index, image } = panel,
        { context } = start(canvas, colours),
        cells = new Cells(context, colours, { left, rows, columns: n, w: sides[index] });
      panel.cells = cells;
      cells.picture(image);
      this.#covers(cells, index);
      cells.edge();
      if (gutter) {
        const [queries, keys] = this.#labels(index);
        rowNames(context, queries, GUTTER, cells.h);
        columnNames(context, keys, GUTTER, GUTTER, GUTTER, cells.w);
      }
      if (this.pair) cells.light(this.pair);
      if (profiles) this.#profile(profile, index, colours);
    }
  }

  /** The function from a number to its pixel in one of the maps. */
  #colours(index) {
    const { what, limit, scales } = this.data,
      { weights, scores } = this.tables;
    if (what === "weights") return (value) => weightColour(weights, value);
    if (what === "scores") return (value) => (value === -Infinity ? 0 : scoreColour(scores, value / limit));
    const { low, high, signed } = scales[index];
    return signed ? (value) => scoreColour(scores, value / high) : (value) => grey((value - low) / (high - low));
  }

  /** The width of names that extend beyond the maps' right edge; one value, so that all maps have the same size. */
  #overhang(colours) {
    const { rows, n } = this.data,
      context = document.createElement("canvas").getContext("2d");
    context.font = `12px ${colours.font}`;
    const wide = Math.min(...this.panels.map(({ canvas }) => canvas.clientWidth)) - GUTTER;
    return Math.max(
      ...this.panels.map(({ index }) =>
        overhang(context, this.#labels(index)[1], GUTTER, (wide * n) / Math.max(rows, n)),
      ),
    );
  }

  /** The tokens of a map's rows and columns. */
  #labels(index) {
    const { labels, columns } = this.data.maps[index];
    return [labels, columns.length ? columns : labels];
  }

  /** For the menu of the picture: a table for each map. */
  asTables() {
    const { maps, rows, n, values } = this.data;
    return maps.map(({ title }, index) => {
      const [queries, keys] = this.#labels(index),
        from = index * rows * n;
      return mapTable(queries, keys, (at) => values[from + at], title);
    });
  }

  /** A "?" over what an open question covers: over a whole map, one; then, where one cell was asked for, its number. */
  #covers(cells, index) {
    const { n, rows, values } = this.data,
      size = rows * n,
      mine = (all) => new Set([...all].filter((at) => Math.floor(at / size) === index).map((at) => at % size));
    const hidden = mine(this.covered),
      answers = mine(this.answers);
    if (hidden.size === size) drawCover(cells.context, cells.colours, cells.left, cells.top, cells.wide, cells.tall);
    else cells.covers(hidden);
    if (answers.size < size) cells.answer(answers, values.subarray(index * size));
  }

  /** The mean score of all pairs with the same offset, from far behind to far ahead; the upright line is offset 0. */
  #profile(canvas, index, colours) {
    const { profiles, n, profile_limit: limit } = this.data,
      length = 2 * n - 1;
    const { context, width, height } = start(canvas, colours);
    const y = (value) => (height / 2) * (1 - Math.max(-1, Math.min(1, value / limit)) * 0.95);
    context.globalAlpha = 0.3;
    line(context, 0, height / 2, width, height / 2);
    line(context, width / 2, 0, width / 2, height);
    context.globalAlpha = 1;
    context.strokeStyle = css(this.data.hues.positive);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let r = 0; r < length; r++)
      context.lineTo((r / Math.max(1, length - 1)) * width, y(profiles[index * length + r]));
    context.stroke();
  }

  /** The start of the arrow keys and the size of the map, for `walkCells`. */
  #at() {
    const { rows, n } = this.data;
    return { at: this.pair && [this.pair.query, this.pair.key], size: [rows, n] };
  }

  light(pair) {
    this.pair = pair;
    const { n, rows, values, words, what } = this.data;
    this.draw();
    for (const { value, index } of this.panels) {
      const number = pair ? values[index * rows * n + pair.query * n + pair.key] : null;
      const isCovered = pair && this.covered.has(index * rows * n + pair.query * n + pair.key);
      value.textContent = isCovered ? `? (${this.data.covers.word})` : pair ? formatNumber(number, what) : "";
    }
    const [queries, keys] = this.#labels(0);
    this.says.textContent = pair
      ? fill(words.says, { query: queries[pair.query], key: keys[pair.key], offset: pair.key - pair.query })
      : "";
  }
}

/** Differences of pictures may be as small as what rounding leaves. */
function formatNumber(number, what) {
  if (number === -Infinity) return "−∞";
  return what === "pictures" ? String(Number(number.toPrecision(4))).replaceAll("-", "−") : fourDigits(number);
}
