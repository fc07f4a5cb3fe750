// Three heads on a sequence, each a window with its own centre and sharpness; content can be mixed back in.
// Everything follows the pointer; Python gets one message, on release.

import { image, start } from "../lib/canvas.js";
import { coveredCells, drawCover } from "../lib/covers.js";
import { css, theme, weightColour, weightTable } from "../lib/colour.js";
import { nameToken } from "../lib/direction.js";
import { element, fill, segments } from "../lib/dom.js";
import { LiveView, spoken } from "../lib/view.js";
import { Cells } from "../plot/cells.js";
import { columnNames, overhang, rowNames } from "../plot/axis_labels.js";
import { Lines, lineChart } from "../plot/lines.js";
import { mapTable } from "../plot/tables.js";
import { place } from "../lib/place.js";
import { partDigits } from "../lib/describe.js";
import { windowWeights } from "./quadratic.js";
import { ALPHA, minus, slider } from "./slider.js";

const GUTTER = 64; // pixels: room for the tokens' names

export class SequenceHeads extends LiveView {
  curve;
  row;
  vectors;
  says;

  constructor(parent) {
    super(parent, "quadratic", { handle: "heads" });
    this.frames = 0;
  }

  close() {
    super.close();
    this.curve.close();
  }

  receive(data) {
    this.take(data);
    this.covered = coveredCells(data.covers);
    this.choice.query = Math.min(this.choice.query, data.n - 1);
    this.table = weightTable(data.hues.positive);
    if (this.hasChanged("words", data.words)) this.#build(data.words);
    this.now();
  }

  #build(words) {
    const tell = () => this.tell();
    const ofHead = (key) => (value) => this.change(() => (this.choice[key][this.choice.head] = value));
    this.names = segments(
      words.heads,
      this.data.heads.map((name, i) => [String(i), name]),
      (code) => {
        this.change(() => (this.choice.head = Number(code)));
        this.tell();
      },
    );
    const reach = { min: -12, max: 12, step: 0.1 };
    this.sliders = {
      alphas: slider("alpha", words.alpha, ALPHA.range, {
        ...ALPHA,
        link: "w_alpha",
        input: ofHead("alphas"),
        change: tell,
      }),
      deltas: slider("delta", words.delta, reach, {
        link: "w_delta",
        say: (value) => `Δ = ${minus(value)}`,
        input: ofHead("deltas"),
        change: tell,
      }),
      mix: slider(
        "mix",
        words.mix,
        { min: 0, max: 1, step: 0.01 },
        {
          say: (value) => `λ = ${value}`,
          input: (value) => this.change(() => (this.choice.mix = value)),
          change: tell,
        },
      ),
    };
    const bar = element("div", "controls");
    bar.append(this.names.element, ...Object.values(this.sliders).map((slider) => slider.element));
    const pane = (title, ...parts) => {
      const box = element("div", "pane");
      box.append(element("p", "name", {}, title), ...parts);
      return box;
    };
    this.curve?.close();
    [this.curve, this.row] = [
      new Lines(this.root, "curve"),
      element("canvas", "row", { role: "img", "aria-label": words.row_title }),
    ];
    this.map = element("canvas", "map", { tabindex: "0", role: "application", "aria-label": words.map_title });
    [this.vectors, this.says] = [element("p", "says"), spoken()];
    const body = element("div", "panes");
    body.append(
      pane(words.map_title, this.map, element("p", "note", {}, words.axes)),
      pane(words.row_title, this.row, this.says),
      pane(words.curve_title, this.curve.root, this.vectors),
    );
    this.root.replaceChildren(bar, body);
    this.map.addEventListener("click", (event) => {
      this.#ask(Math.min(this.data.n - 1, Math.floor((place(this.map, event)[1] - GUTTER) / this.cell)));
    });
    this.map.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.#ask(this.choice.query + step);
    });
  }

  /** Select another query, if there is one. */
  #ask(query) {
    if (query < 0 || query >= this.data.n) return;
    this.change(() => (this.choice.query = query));
    this.tell();
  }

  draw() {
    const { n, scores } = this.data,
      { alphas, deltas, mix, head } = this.choice,
      colours = theme(this.root);
    this.weights = this.data.heads.map((_, h) =>
      windowWeights(n, alphas[h], deltas[h], scores.subarray(h * n * n, (h + 1) * n * n), mix),
    );
    this.names.show(String(head));
    this.sliders.alphas.show(alphas[head]);
    this.sliders.deltas.show(deltas[head]);
    this.sliders.mix.show(mix);
    this.#curve();
    this.#map(colours);
    this.#row(colours);
    this.frames++;
  }

  /** For the menu of the picture: the weights of every head. */
  asTables() {
    const { labels, heads } = this.data;
    const value = (h, at) => (this.covered.has(at) ? "?" : this.weights[h][at]);
    return heads.map((title, h) => mapTable(labels, labels, (at) => value(h, at), title));
  }

  hue(head) {
    return css(this.data.hues.heads[head]);
  }

  /** The product v·r for every shift (a line), and the square it is but for a constant (dashes). */
  #curve() {
    const { alphas, deltas, head } = this.choice,
      { hues, words } = this.data,
      [alpha, delta] = [alphas[head], deltas[head]];
    const reach = Math.max(6, Math.ceil(Math.abs(delta)) + 3),
      constant = alpha * delta * delta,
      shifts = (step) => Array.from({ length: Math.round((2 * reach) / step) + 1 }, (_, i) => i * step - reach);
    const curve = (x, above, more) => ({
      x,
      y: x.map((shift) => above - alpha * (shift - delta) ** 2),
      name: "v · r",
      colour: hues.heads[head],
      says: "",
      ...more,
    });
    this.curve.receive(
      lineChart({
        lines: [
          curve(shifts(0.1), constant),
          curve(shifts(0.1), 0, { dash: "shortdash" }),
          curve(shifts(1), constant, { dash: null, marker: 5, symbol: "square", says: "δ = {x}: {y}" }),
        ],
        x: { limits: [-reach, reach], ticks: shifts(reach > 9 ? 3 : 1) },
        y: {},
        marks: [{ x: 0 }, { y: 0 }],
        height: 260,
        grey: hues.grey,
        words: { alt: words.curve_title },
      }),
    );
    const number = (value) => minus(Number(value.toPrecision(3)));
    this.vectors.textContent = fill(words.vectors, {
      v1: number(-alpha),
      v2: number(2 * alpha * delta),
      c: number(constant),
      width: alpha > 0 ? number(1 / Math.sqrt(2 * alpha)) : "∞",
    });
  }

  #map(colours) {
    const { n, labels } = this.data,
      { head, query } = this.choice,
      cells = this.weights[head];
    const { context, width, height } = start(this.map, colours),
      free = Math.min(width, height) - GUTTER;
    const w = (free - overhang(context, labels, GUTTER, free)) / n,
      map = new Cells(context, colours, { left: GUTTER, rows: n, w });
    this.cell = w;
    map.picture(image(n, n, (at) => weightColour(this.table, cells[at])));
    map.covers(this.covered);
    map.edge();
    map.mark({ query, key: null }, colours.primary);
    rowNames(context, labels, GUTTER, w);
    columnNames(context, labels, GUTTER, GUTTER, GUTTER, w);
  }

  /** The chosen row of all heads: bars for the one that is open, lines for the others. */
  #row(colours) {
    const { n, labels, words } = this.data,
      { head, query } = this.choice;
    const { context, width, height } = start(this.row, colours),
      floor = height - GUTTER,
      step = width / n;
    const isCovered = this.covered.has(query * n);
    if (isCovered) drawCover(context, colours, 0, 0, width, floor);
    this.weights.forEach((cells, h) => {
      if (isCovered) return;
      const row = cells.subarray(query * n, (query + 1) * n);
      [context.fillStyle, context.strokeStyle, context.lineWidth] = [this.hue(h), this.hue(h), 1.5];
      if (h === head) {
        row.forEach((weight, j) =>
          context.fillRect(j * step + 1, floor * (1 - weight), Math.max(1, step - 2), floor * weight),
        );
        return;
      }
      context.beginPath();
      row.forEach((weight, j) => context.lineTo((j + 0.5) * step, floor * (1 - weight)));
      context.stroke();
    });
    context.fillStyle = colours.text;
    columnNames(context, labels, 0, floor, GUTTER, step, "below");
    if (isCovered) {
      this.says.textContent = `${labels[query]}: ? (${this.data.covers.word})`;
      return;
    }
    const row = this.weights[head].subarray(query * n, (query + 1) * n),
      most = Math.max(...row);
    const best = row.indexOf(most),
      value = partDigits(most);
    this.says.textContent = fill(most === 0 ? words.says_nowhere : words.says, {
      query: nameToken(labels, query),
      key: nameToken(labels, best),
      shift: minus(best - query),
      value,
    });
  }
}
