// The sinusoid explorer: everything follows the pointer, and Python gets one message, on release.

import { LiveView, mount, spoken } from "../lib/view.js";
import { scoreTable, theme } from "../lib/colour.js";
import { digits } from "../lib/describe.js";
import { ARROWS, clickable, element, fill, walkCells } from "../lib/dom.js";
import { place } from "../lib/place.js";
import { Lines } from "../plot/lines.js";
import { mapTable } from "../plot/tables.js";
import { doubling, frequencies, kernel, table } from "./sinusoid_numbers.js";
import { clock, counter, decay, heatMap, short, waves, wavelengths } from "./sinusoid_pictures.js";

const CLOCKS = 24,
  CURVES = 4,
  BITS = 5;
const REST = 100; // ms without a change after which a finger rests

/** A wavelength in positions, to three digits. */
function length(omega) {
  return Number(((2 * Math.PI) / omega).toPrecision(3)).toLocaleString("en");
}

export default mount((parent, data) => new Sinusoids(parent, data));

class Sinusoids extends LiveView {
  words;
  limits;
  hues;
  scores;
  map;
  counter;

  constructor(parent, data) {
    super(parent, "sinusoids");
    this.#build(data.words, data.limits);
    this.epoch = 0;
    this.pointedColumn = null; // the column
  }

  close() {
    super.close();
    for (const chart of Object.values(this.charts)) chart.close();
    clearTimeout(this.resting);
  }

  receive(data) {
    this.take(data);
    [this.words, this.limits, this.hues] = [data.words, data.limits, data.hues];
    for (const [name, node] of Object.entries(this.titles)) node.textContent = this.words[name];
    for (const name of ["map", "counter"]) this[name].setAttribute("aria-label", this.words[`${name}_title`]);
    const around = JSON.stringify([data.words, data.limits, data.hues, theme(this.root)]);
    if (around === this.around && JSON.stringify(this.choice) === this.drawnChoice) return; // it came from here
    this.around = around;
    this.#read();
    this.now();
  }

  resized() {
    this.#read();
    this.later();
  }

  /** Sizes and colours may have changed: they are read once, and hold until this is called again. */
  #read() {
    this.epoch++;
    this.scores ??= scoreTable(this.hues.negative, this.hues.positive);
    this.colours = { ...theme(this.root), ...this.hues, scores: this.scores, epoch: this.epoch };
  }

  #build(words, limits) {
    this.titles = {};
    const name = (key, tag = "p", kind = "name") => (this.titles[key] = element(tag, kind, {}, words[key]));
    const bar = element("div", "controls");
    this.sliders = {
      width: this.#slider(bar, "d_model", { min: 2, max: limits.width, step: 2 }, (value) => ({ width: value })),
      n: this.#slider(bar, "n", { min: 8, max: limits.n, step: 1 }, (value) => ({ n: value })),
      base: this.#slider(bar, "base", { min: 0.4, max: 6, step: 0.01 }, (value) => ({
        base: +(10 ** value).toPrecision(3),
      })),
      at: this.#slider(bar, "at", { min: 0, max: 1, step: 1 }, (value) => ({ at: value })),
    };
    this.widthInput = element("input", "typed", { type: "number", min: 1, max: limits.width, step: 1 });
    this.widthInput.addEventListener("change", () => {
      const width = Math.round(Math.min(limits.width, Math.max(1, +this.widthInput.value || 2)));
      this.change((choice) => (choice.width = width));
      this.tell();
    });
    this.sliders.width.value.replaceWith(this.widthInput);
    this.error = element("p", "error", { role: "alert" });
    this.body = element("div", "panes");
    [this.map, this.counter] = ["map", "counter"].map((kind) => element("canvas", kind, { role: "img" }));
    this.map.setAttribute("role", "application");
    this.map.tabIndex = 0;
    const pane = (...parts) => {
      const box = element("div", "pane");
      box.append(...parts);
      this.body.append(box);
    };
    const chart = (kind) => new Lines(this.body, kind);
    this.charts = { waves: chart("waves"), lengths: chart("lengths"), decay: chart("decay") };
    this.says = spoken();
    this.clocks = element("div", "clocks");
    pane(name("map_title"), this.map, this.says);
    pane(name("waves_title"), this.charts.waves.root, name("clocks_title"), this.clocks);
    pane(name("lengths_title"), this.charts.lengths.root);
    pane(name("decay_title"), this.charts.decay.root);
    pane(name("counter_title"), this.counter);
    this.root.append(bar, this.error, this.body);
    this.map.addEventListener("pointerdown", (event) => {
      this.map.setPointerCapture(event.pointerId);
      this.point(event);
    });
    this.map.addEventListener("pointermove", (event) => (event.buttons ? this.point(event) : this.look(event)));
    this.map.addEventListener("pointerup", () => this.tell());
    walkCells(
      this.map,
      () => this.#cursor(),
      ([row, column]) => {
        this.pointedColumn = column;
        this.change((choice) => (choice.at = row));
        this.#say(row, column);
      },
    );
    this.map.addEventListener("keyup", (event) => event.key in ARROWS && this.tell());
  }

  #slider(bar, key, range, read) {
    const link = key === "base" ? key : key === "d_model" ? "pe_width" : `pe_${key}`; // what a link calls it (without=)
    const label = element("label", "slider", { style: `--without: var(--without-${link})` }),
      title = element("span", "name"),
      value = element("output");
    this.titles[key] = title;
    const input = element("input", "", { type: "range", ...range, "data-name": key });
    input.addEventListener("input", () => this.change((choice) => Object.assign(choice, read(+input.value))));
    input.addEventListener("change", () => this.tell());
    label.append(title, input, value);
    bar.append(label);
    return { input, value };
  }

  /** Under a dragging finger the pictures beside the map take turns, a frame each; when it rests, all are drawn. */
  change(how) {
    super.change(how);
    this.dragged = this.resting != null;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.resting = null;
      if (this.dragged) this.later();
      this.dragged = false;
    }, REST);
  }

  /** Compute what has changed, draw everything. */
  draw() {
    const { choice, words } = this,
      odd = choice.width % 2 === 1;
    choice.at = Math.min(choice.at, choice.n - 1);
    this.drawnChoice = JSON.stringify(choice);
    this.#showControls();
    this.error.textContent = odd ? fill(words.odd, { d: choice.width }) : "";
    this.error.hidden = !odd;
    this.body.hidden = odd;
    if (odd) return;
    const key = [choice.width, choice.n, choice.base].join();
    if (key !== this.key) {
      const omega = frequencies(choice.width, choice.base);
      const rows = table(choice.n, choice.width, omega),
        common = kernel(choice.n, choice.width, rows);
      this.numbers = { width: choice.width, n: choice.n, base: choice.base, omega, rows, common };
      this.key = key;
    }
    this.pairs = choice.pairs.filter((pair) => pair < choice.width / 2);
    if (!this.pairs.length) this.pairs = defaultPairs(choice.width / 2);
    const { colours, charts } = this,
      state = { ...this.numbers, at: choice.at, pairs: this.pairs },
      show = (name, make) => charts[name].receive(make(state, { ...words, alt: words[`${name}_title`] }, colours));
    this.cells = heatMap(this.map, state, colours);
    this.turn = !this.turn;
    if (!this.dragged || this.turn) {
      show("waves", waves);
      show("lengths", wavelengths);
    }
    if (!this.dragged || !this.turn) {
      show("decay", decay);
      this.#drawClocks(colours);
      this.#drawCounter(colours);
    }
    if (!this.dragged) this.#nameClocks();
    if (this.pointedColumn === null) this.#say(choice.at, 2 * this.pairs[0]);
    this.root.dataset.drawn = key;
  }

  /** For the menu of the picture: every number of the map. */
  asTables() {
    const { rows, n, width } = this.numbers;
    return [mapTable(n, width, (at) => rows[at])];
  }

  #showControls() {
    const { choice, sliders } = this;
    const set = (name, value, words) => {
      sliders[name].input.value = value;
      sliders[name].value.textContent = words ?? value;
      sliders[name].input.setAttribute("aria-valuetext", words ?? value);
    };
    sliders.at.input.max = choice.n - 1;
    set("width", choice.width);
    if (document.activeElement !== this.widthInput && this.root.getRootNode().activeElement !== this.widthInput) {
      this.widthInput.value = choice.width;
    }
    this.widthInput.setAttribute("aria-label", this.words.d_model);
    set("n", choice.n);
    set("base", Math.log10(choice.base), short(choice.base));
    set("at", choice.at);
  }

  #drawClocks(colours) {
    const { width, rows } = this.numbers,
      half = width / 2,
      { at } = this.choice;
    const step = Math.ceil(half / CLOCKS),
      clockPairs = [];
    for (let j = 0; j < half; j += step) clockPairs.push(j);
    for (const pair of this.pairs) if (!clockPairs.includes(pair)) clockPairs.push(pair);
    clockPairs.sort((a, b) => a - b);
    while (this.clocks.children.length > clockPairs.length) this.clocks.lastChild.remove();
    while (this.clocks.children.length < clockPairs.length) {
      const button = clickable("clock", "", () => this.toggle(button.pair));
      button.append(element("canvas"), element("span"));
      this.clocks.append(button);
    }
    clockPairs.forEach((pair, place) => {
      const button = this.clocks.children[place],
        slot = this.pairs.indexOf(pair);
      this.#markClock(button, pair, slot >= 0);
      const hue = slot < 0 ? null : colours.heads[slot % colours.heads.length];
      clock(button.firstChild, rows[at * width + 2 * pair], rows[at * width + 2 * pair + 1], hue, colours);
    });
  }

  #markClock(button, pair, isChosen) {
    if (button.pair === pair && button.chosen === isChosen) return;
    Object.assign(button, { pair, chosen: isChosen });
    button.lastChild.textContent = String(pair);
    button.setAttribute("aria-pressed", String(isChosen));
  }

  /** Label the clocks with their wavelengths; slower than drawing, so it is skipped during a drag. */
  #nameClocks() {
    for (const button of this.clocks.children) {
      const wave = length(this.numbers.omega[button.pair]);
      const label = fill(this.words.pair, { pair: button.pair, wave });
      if (button.title === label) continue;
      button.title = label;
      button.setAttribute("aria-label", label);
    }
  }

  toggle(pair) {
    const pairs = this.pairs.includes(pair) ? this.pairs.filter((item) => item !== pair) : [...this.pairs, pair];
    this.change((choice) => (choice.pairs = pairs.slice(-CURVES)));
    this.tell();
  }

  #drawCounter(colours) {
    const { width, n, rows, omega } = this.numbers,
      count = Math.min(32, n);
    const sines = doubling(omega, BITS).map((pair) =>
      Array.from({ length: count }, (_, i) => rows[i * width + 2 * pair]),
    );
    counter(this.counter, { bits: BITS, sines, count, at: this.choice.at }, colours);
  }

  #cell(event) {
    return this.cells.nearest(place(this.map, event));
  }

  /** The start of the arrow keys: the selected row, and the column last pointed at. */
  #cursor() {
    const { n, width } = this.numbers;
    return { at: [this.choice.at, Math.min(width - 1, this.pointedColumn ?? 2 * this.pairs[0])], size: [n, width] };
  }

  look(event) {
    const [row, column] = this.#cell(event);
    this.pointedColumn = column;
    this.#say(row, column);
  }

  point(event) {
    this.look(event);
    this.change((choice) => (choice.at = this.#cell(event)[0]));
  }

  #say(row, column) {
    const value = digits(this.numbers.rows[row * this.numbers.width + column], true),
      pair = column >> 1;
    const wave = length(this.numbers.omega[pair]);
    const sentence = column % 2 ? this.words.says_cos : this.words.says_sin;
    this.says.textContent = fill(sentence, { i: row, column, pair, wave, value });
  }
}

/** Three pairs to begin with: the fastest and two slower ones. */
function defaultPairs(half) {
  return [...new Set([0, Math.floor(half / 8), Math.floor(half / 4)])];
}
