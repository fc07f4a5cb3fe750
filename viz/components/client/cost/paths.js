// Distance between two words of the user's text in each architecture: point at a word, click to start there.
//
// The numbers of steps come from viz/core/cost/architectures.py; a test compares them with the paths drawn here.

import { isolate, nameToken } from "../lib/direction.js";
import { View, mount, spoken } from "../lib/view.js";
import { line, start } from "../lib/canvas.js";
import { css, theme } from "../lib/colour.js";
import { dropdown, element, fill } from "../lib/dom.js";
import { place } from "../lib/place.js";
import { columnNames } from "../plot/axis_labels.js";

const CELL = 3,
  LEFT = 12,
  RIGHT = 40,
  EDGE = 12,
  LAYER = 36,
  TALLEST = 170,
  WORDS = 62,
  WORD = 8,
  LONGEST_WORD = 72,
  LEGIBLE = 16; // from word to word, where panels stand beside each other
const DOTS = 3000,
  VIEWED = 600;

export default mount((parent) => new Paths(parent));

/** The hops from one word to another `distance` places on, one a layer. */
function hops({ draw, reach, base }, distance) {
  const steps = [];
  if (draw === "direct") return distance ? [distance] : [];
  if (draw === "gaps") {
    if (base < 2) return steps;
    for (let rest = distance, gap = 1; rest > 0; rest = Math.floor(rest / base), gap *= base)
      steps.push((rest % base) * gap);
    return steps;
  }
  const stride = draw === "chain" ? 1 : reach;
  if (!stride) return steps;
  for (let rest = distance; rest > 0; rest -= stride) steps.push(Math.min(rest, stride));
  return steps;
}

/** The distances that a position of layer `layer` passes its word on to. */
function view({ draw, reach, base }, layer, count) {
  if (draw === "direct") return Array.from({ length: 2 * count - 1 }, (_, i) => i - count + 1);
  if (draw === "gaps") return Array.from({ length: base }, (_, tap) => tap * base ** layer);
  return Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
}

class Paths extends View {
  from;
  to;

  constructor(parent) {
    super(parent, "paths");
    this.scheme = window.matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => setTimeout(() => this.draw(), 50);
    this.scheme.addEventListener("change", this.redraw);
  }

  close() {
    this.scheme.removeEventListener("change", this.redraw);
    super.close();
  }

  receive(data) {
    this.data = data;
    if (this.hasChanged("tokens", data.tokens)) [this.from, this.to] = [0, data.tokens.length - 1]; // the longest way
    this.build();
    this.size.hold();
    this.draw();
  }

  build() {
    const { tokens, words, panels } = this.data,
      options = tokens.map((token, place) => [place, `${place} ${isolate(token)}`]);
    this.ends = ["from", "to"].map((name) => {
      const menu = dropdown(words[`path_${name}`], options, (place) => this.choose({ [name]: Number(place) }));
      menu.list.dataset.end = name;
      return menu;
    });
    const ends = element("div", "ends"),
      scroll = element("div", "scroll");
    scroll.style.setProperty("--least", `${LEFT + RIGHT + LEGIBLE * tokens.length}px`);
    ends.append(...this.ends.map((end) => end.element));
    this.says = spoken();
    this.panels = panels.map((panel) => {
      const box = element("div", "panel", { "data-name": panel.name }),
        label = element("p", "label", {}, panel.label);
      const count = element("b"),
        canvas = element("canvas", "", { role: "img" });
      label.append(count);
      box.append(label, canvas);
      scroll.append(box);
      canvas.addEventListener("pointermove", (event) => this.choose({ to: this.at(event) }));
      canvas.addEventListener("click", (event) =>
        this.choose(event.pointerType === "touch" ? { to: this.at(event) } : { from: this.at(event) }),
      );
      return { ...panel, box, count, canvas };
    });
    this.root.replaceChildren(ends, this.says, scroll);
  }

  /** For the menu of the picture: how many steps it is from one word to the other. */
  asTables() {
    const { tokens, words } = this.data,
      distance = Math.abs(this.to - this.from);
    const rows = this.panels.map(({ label, steps }) => [label, tokens[this.from], tokens[this.to], steps[distance]]);
    return [{ columns: ["", words.path_from, words.path_to, fill(words.path_steps, { steps: "n" })], rows }];
  }

  choose(ends) {
    Object.assign(this, ends);
    this.draw();
  }

  cell() {
    return Math.max(CELL, Math.min(64, (this.panels[0].box.clientWidth - LEFT - RIGHT) / this.data.tokens.length));
  }

  at(event) {
    const column = Math.floor((place(event.currentTarget, event)[0] - LEFT) / this.cell());
    return Math.min(Math.max(0, column), this.data.tokens.length - 1);
  }

  draw() {
    if (!this.data || !this.root.clientWidth) return;
    const { tokens, words } = this.data,
      distance = Math.abs(this.to - this.from);
    this.ends[0].list.value = this.from;
    this.ends[1].list.value = this.to;
    this.says.textContent = fill(words.path_says, {
      from: nameToken(tokens, this.from),
      to: nameToken(tokens, this.to),
      distance,
    });
    const colours = theme(this.root),
      width = Math.round(this.cell() * tokens.length + LEFT + RIGHT);
    for (const panel of this.panels) {
      const steps = panel.steps[distance];
      const sentence =
        steps === null ? words.path_never : steps === 0 ? words.path_none : fill(words.path_steps, { steps });
      panel.count.textContent = sentence;
      panel.canvas.setAttribute("aria-label", fill(words.path_alt, { label: panel.label, said: sentence }));
      const way = hops(panel, distance);
      panel.box.dataset.steps = String(steps);
      panel.box.dataset.drawn = String(way.length);
      this.picture(panel, way, width, colours);
    }
  }

  picture(panel, way, width, colours) {
    const chain = panel.draw === "chain",
      rows = chain ? 0 : Math.max(1, way.length);
    const layer = Math.min(LAYER, TALLEST / Math.max(1, rows)),
      tall = Math.ceil(rows * layer) + 2 * EDGE;
    panel.canvas.style.width = `${width}px`;
    panel.canvas.style.height = `${tall + WORDS}px`;
    const { context } = start(panel.canvas, colours),
      { hues, tokens } = this.data,
      cell = this.cell();
    const x = (place) => LEFT + (place + 0.5) * cell,
      y = (row) => tall - EDGE - row * layer;
    const causal = chain || panel.draw === "gaps";
    const [first, last] = causal ? [Math.min(this.from, this.to), Math.max(this.from, this.to)] : [this.from, this.to];
    const forward = last >= first ? 1 : -1;
    const places = [first];
    for (const hop of way) places.push(places.at(-1) + forward * hop);

    context.fillStyle = css(hues.rest, 0.45);
    const step = (rows + 1) * tokens.length > DOTS ? 0 : 1;
    for (let row = 0; step && row <= rows; row++) {
      for (let place = 0; place < tokens.length; place++) this.dot(context, x(place), y(row), 1.6);
    }
    if (chain) {
      context.strokeStyle = css(hues.rest, 0.35);
      line(context, x(0), y(0), x(tokens.length - 1), y(0));
    } else if (way.length * view(panel, 0, tokens.length).length < VIEWED) {
      context.strokeStyle = css(hues.view, tokens.length > 40 ? 0.1 : 0.25);
      way.forEach((_, row) => {
        for (const by of view(panel, row, tokens.length)) {
          const place = places[row] + by;
          if (place >= 0 && place < tokens.length) line(context, x(places[row]), y(row), x(place), y(row + 1));
        }
      });
    }
    context.strokeStyle = context.fillStyle = css(hues.way);
    context.lineWidth = 2.5;
    places.forEach((place, row) => {
      const level = chain ? 0 : row;
      if (row) line(context, x(places[row - 1]), y(chain ? 0 : row - 1), x(place), y(level));
      this.dot(context, x(place), y(level), Math.min(layer, cell) < 6 ? 1.5 : 3);
    });
    if (!way.length) {
      this.dot(context, x(first), y(0), 3);
      if (first !== last) this.dot(context, x(last), y(rows), 3);
    }
    context.fillStyle = colours.text;
    columnNames(context, tokens, LEFT, tall - WORD, LONGEST_WORD, cell, "under", { bold: [this.from, this.to] });
  }

  dot(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}
