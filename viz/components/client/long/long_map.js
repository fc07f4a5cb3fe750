// One head on a long text: the pooled map, a window of it exactly, and what the row that was chosen looks at. A click
// on the map opens the window there; a click on the window chooses a row.

import { readingDirection } from "../lib/direction.js";
import { unpack } from "../lib/bytes.js";
import { image, line, start } from "../lib/canvas.js";
import { css, theme, weightTable } from "../lib/colour.js";
import { element, fill } from "../lib/dom.js";
import { View, mount, spoken } from "../lib/view.js";
import { fitHeight } from "../lib/fit.js";
import { Cells } from "../plot/cells.js";
import { readable } from "../plot/pointer.js";
import { mapTable } from "../plot/tables.js";
import { codePixels, decodeWeight, formatWeight, logColour, steps } from "./log_scale.js";

export default mount((parent) => new LongMap(parent), unpack);

class LongMap extends View {
  constructor(parent) {
    super(parent, "long-map", { handle: "longMap", of: ({ clientWidth }) => [clientWidth, this.data && this.#fit()] });
    const pair = element("div", "pair");
    this.whole = this.#picture("whole", (cell) => this.#open(cell));
    this.near = this.#picture("near", (cell) => this.#chooseRow(cell));
    pair.append(this.whole.figure, this.near.figure);
    const scale = element("div", "scale");
    this.scaleName = element("span");
    this.steps = element("span", "steps");
    scale.append(this.scaleName, this.steps);
    this.axes = element("p", "axes");
    this.keys = element("div", "keys");
    this.live = spoken("live");
    this.root.append(pair, scale, this.axes, this.keys, this.live);
  }

  /** A picture with its title and what is read off it; `act` is called with the cell that is clicked. */
  #picture(name, act) {
    const figure = element("figure", name),
      title = element("figcaption"),
      sentence = element("p", "says");
    const { picture, canvas } = readable({
      under: (point) => map.cells?.under(point),
      from: () => ({ at: map.cell, size: map.size }),
      look: (cell) => this.look(map, cell),
      say: () => (this.live.textContent = sentence.textContent),
      choose: act,
    });
    /** @type {any} */
    const map = { figure, title, says: sentence, picture, canvas, cell: null, size: [1, 1] };
    figure.append(title, picture, sentence);
    return map;
  }

  receive(data) {
    this.data = data;
    const { count, values, cut, zoom, hues, words, lowest, side, pooled, n } = data,
      table = weightTable(hues.positive);
    const [top, left, high, wide] = zoom;
    this.whole.size = [count, count];
    this.near.size = [high, wide];
    const pixels = codePixels(table, lowest);
    this.whole.bitmap = image(count, count, (at) => pixels[values[at]]);
    this.near.bitmap = image(high, wide, (at) => logColour(table, cut[at]));
    this.whole.title.textContent = fill(side === 1 ? words.whole_one : words[`whole_${pooled}`], { n, side });
    this.near.title.textContent = fill(words.near, { top, left, bottom: top + high - 1, right: left + wide - 1 });
    this.near.figure.hidden = high === n && wide === n; // the map shows every weight already
    this.whole.picture.setAttribute("aria-label", this.near.figure.hidden ? words.short_alt : words.whole_alt);
    this.near.picture.setAttribute("aria-label", words.near_alt);
    this.scaleName.textContent = words.scale;
    this.steps.replaceChildren(
      ...steps().map(([power, strong]) => {
        const step = element("span"),
          patch = element("i");
        patch.style.background = css(hues.positive, strong);
        step.append(patch, power < -1 ? `10⁻${"⁰¹²³⁴⁵"[-power]}` : String(10 ** power));
        return step;
      }),
    );
    this.axes.textContent = words.axes;
    this.#list();
    this.size.hold();
    this.look(this.whole, null);
    this.look(this.near, null);
  }

  /** The strongest keys of the row that was chosen. */
  #list() {
    const { keys, row, label, looks, words } = this.data;
    const title = element("p", "", {}, `${fill(words.row, { row, label })} `);
    title.append(around([`… ${looks[0]}`, ` ▸${label}◂ `, `${looks[1]} …`], ""));
    const list = element("ol");
    for (const {
      at,
      weight,
      back,
      around: [before, after],
      label: key,
    } of keys) {
      const item = element("li"),
        text = around([before, ` ${key} `, after], "text");
      const far = fill(back === 0 ? words.itself : back > 0 ? words.back : words.ahead, { n: Math.abs(back), at });
      item.append(element("span", "", {}, formatWeight(weight)), text, element("span", "back", {}, far));
      list.append(item);
    }
    this.keys.replaceChildren(title, list);
  }

  /** The width of both pictures, which are squares, so that they are on the first screen. */
  #fit() {
    this.root.style.removeProperty("--widest");
    const fullWidth = this.whole.canvas.clientWidth,
      widest = Math.ceil(fitHeight(this.whole.picture, { height: fullWidth }));
    if (widest < fullWidth) this.root.style.setProperty("--widest", `${widest}px`);
    return widest;
  }

  draw() {
    if (!this.data || !this.root.clientWidth) return;
    const colours = theme(this.root),
      { n, side, count, zoom, row, hues } = this.data,
      [top, left, high, wide] = zoom;
    for (const map of [this.whole, this.near]) {
      if (map.figure.hidden) continue;
      const { context, width, height } = start(map.canvas, colours);
      const [rows, columns] = map.size;
      map.cells = new Cells(context, colours, { left: 0, rows, columns, w: width / columns, h: height / rows });
      map.cells.picture(map.bitmap);
      map.cells.edge();
      if (map.cell) map.cells.cross(map.cell);
      context.strokeStyle = css(hues.negative);
      context.lineWidth = 2;
      const of = map === this.whole ? [0, count * side] : [top, rows],
        y = ((row + 0.5 - of[0]) / of[1]) * height;
      context.globalAlpha = 0.6;
      if (y >= 0 && y <= height) line(context, 0, y, width, y);
      context.globalAlpha = 1;
      if (map === this.whole && !this.near.figure.hidden) {
        const scale = width / (count * side);
        context.strokeRect(left * scale, top * scale, Math.max(4, wide * scale), Math.max(4, high * scale));
      }
    }
    this.root.dataset.drawn = String(n);
  }

  /** Read a cell off, or none. */
  look(map, cell) {
    map.cell = cell;
    map.says.textContent = cell
      ? this.describe(map, cell)
      : (this.data?.words[map === this.whole && !this.near.figure.hidden ? "whole_hint" : "near_hint"] ?? "");
    this.draw();
  }

  describe(map, [row, column]) {
    const { n, side, count, values, lowest, firsts, cut, zoom, rows, columns, words, pooled } = this.data;
    if (map === this.near) {
      const names = { query: rows[row], key: columns[column], row: zoom[0] + row, column: zoom[1] + column };
      return fill(words.says, { ...names, value: formatWeight(cut[row * columns.length + column]) });
    }
    const code = values[row * count + column],
      value = code ? formatWeight(decodeWeight(code, lowest)) : `<${formatWeight(lowest)}`,
      names = { query: firsts[row], key: firsts[column], value };
    if (side === 1) return fill(words.says, { ...names, row, column });
    const ends = (at) => Math.min(n, (at + 1) * side) - 1;
    const places = { row: row * side, row_end: ends(row), column: column * side, column_end: ends(column) };
    return fill(words[`says_${pooled}`], { ...names, ...places });
  }

  /**
   * For the menu of the picture: the map's cells by the first token of each, the window, and the row's strongest keys.
   */
  asTables() {
    const { values, lowest, firsts, cut, rows, columns, zoom, keys, side, words } = this.data;
    const numberLabels = (labels, from, step) => labels.map((label, i) => `${from + i * step} ${label}`);
    const cells = numberLabels(firsts, 0, side),
      keyRows = keys.map(({ at, label, weight }) => [at, label, weight]);
    const wholeTable = mapTable(cells, cells, (at) => decodeWeight(values[at], lowest), this.whole.title.textContent);
    const near = mapTable(
      numberLabels(rows, zoom[0], 1),
      numberLabels(columns, zoom[1], 1),
      (at) => cut[at],
      this.near.title.textContent,
    );
    const strongest = { title: fill(words.row, this.data), columns: ["", "", ""], rows: keyRows };
    return [wholeTable, ...(this.near.figure.hidden ? [] : [near]), strongest];
  }

  /** Open the window around a cell of the map, and choose its row. */
  #open(cell) {
    if (!cell) return;
    const {
      n,
      side,
      zoom: [, , high, wide],
    } = this.data;
    const middle = cell.map((at) => Math.min(n - 1, Math.floor((at + 0.5) * side)));
    const from = (at, size) => Math.max(0, Math.min(n - size, at - (size >> 1)));
    this.send("choice", [middle[0], from(middle[0], high), from(middle[1], wide)]);
  }

  #chooseRow(cell) {
    if (!cell) return;
    const [top, left] = this.data.zoom;
    this.send("choice", [top + cell[0], top, left]);
  }
}

/** A word among its neighbours, in the direction that they are read in. */
function around([before, word, after], className) {
  const phrase = element("span", className, { translate: "no", dir: readingDirection([before, word, after]) });
  const apart = { dir: "auto" };
  phrase.append(
    element("span", "near", apart, before),
    element("b", "", apart, word),
    element("span", "near", apart, after),
  );
  return phrase;
}
