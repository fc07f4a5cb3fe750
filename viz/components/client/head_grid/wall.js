// The wall: a button with a small map for every head. All maps are drawn on one canvas below the buttons: a browser
// keeps a canvas apart from the rest of its page, and puts all of them together again for every frame. Pointing at a
// map lights the same pair in all of them, on one canvas over them.

import { image } from "../lib/canvas.js";
import { css, scoreColour, weightColour } from "../lib/colour.js";
import { distanceFromZero, MASKED, NOWHERE, numberOf, poolMax, sortHeads, wallValue } from "../lib/numbers.js";
import { ARROWS, element, fill } from "../lib/dom.js";

const PIXELS = 72; // the most a small map is wide; beyond it cells are pooled here too

export class Wall {
  maps;
  lights;
  lit;
  of;
  painted;
  palette;

  constructor(root) {
    this.element = element("div", "wall", { role: "group" });
    root.append(this.element);
    this.element.addEventListener("keydown", (event) => this.#walk(event));
    this.buttons = [];
    this.layout = "";
    [this.maps, this.lights] = [element("canvas", "thumbs"), element("canvas", "lights")];
    this.watch = new ResizeObserver(([{ target }]) => {
      if (this.places && sizeOf(target) === this.size) return;
      this.places = null;
      if (this.lit) this.light(this.lit, this.of);
      else this.draw();
    });
  }

  /** Build the buttons, if the heads or their order changed, and paint their maps, if these or the colours did. */
  show(wall, choice, words, palette, links, covered = new Set()) {
    const heads = this.#choose(wall, choice, links);
    const sorted = choice.sort !== "model" || choice.show === "top";
    const places = heads.map((head) => [head.index, head.number]);
    const layout = JSON.stringify([
      wall.n_layers,
      wall.numbers,
      wall.n_heads,
      wall.n_keys / wall.n_queries,
      sorted,
      places,
    ]);
    if (layout !== this.layout) this.#build(wall, heads, sorted, words);
    const isOther = layout !== this.layout || wall.id !== this.painted || palette !== this.palette;
    if (isOther) this.#paint(wall, palette, covered);
    [this.layout, this.painted, this.palette] = [layout, wall.id, palette];
    if (isOther) this.draw();
    this.element.setAttribute("aria-label", fill(words.wall_alt, { layers: wall.n_layers, heads: wall.n_heads }));
  }

  #choose(wall, choice, links) {
    const heads = sortHeads(wall, choice.sort, links);
    if (choice.show === "layer") return heads.filter((head) => Math.floor(head.index / wall.n_heads) === choice.layer);
    return choice.show === "top" ? heads.slice(0, 12) : heads;
  }

  #build(wall, heads, sorted, words) {
    const table = element("div", sorted ? "heads sorted" : "heads");
    table.append(this.maps);
    table.style.setProperty("--heads", wall.n_heads);
    table.style.setProperty("--shape", Math.min(2.5, Math.max(0.4, wall.n_keys / wall.n_queries)));
    if (!sorted) {
      table.append(element("span", "corner", {}, words.layer_by_head));
      for (let head = 0; head < wall.n_heads; head++) table.append(element("span", "name", {}, String(head)));
    }
    this.buttons = heads.map(({ index, number }) => {
      const layer = Math.floor(index / wall.n_heads),
        head = index % wall.n_heads;
      if (!sorted && head === 0) table.append(element("span", "name", {}, String(numberOf(wall, layer))));
      const button = element("button", "thumb", { type: "button", tabindex: "-1" });
      Object.assign(button, { index, layer, head });
      const name = fill(words.layer_head, { layer: numberOf(wall, layer), head });
      button.setAttribute("aria-label", name + (sorted ? ` ${format(number)}` : ""));
      const item = element("div", "item");
      item.append(button);
      const value = number === null ? "" : format(number);
      if (sorted) item.append(element("span", "caption", {}, `${numberOf(wall, layer)}·${head} ${value}`));
      table.append(item);
      return button;
    });
    table.append(this.lights);
    this.element.replaceChildren(table);
    this.watch.disconnect();
    this.watch.observe(table);
    this.places = null;
  }

  /** Measure the maps' places once, not for every highlight. */
  #measure() {
    this.size = sizeOf(this.lights.parentElement);
    const scale = window.devicePixelRatio || 1,
      { left, top, width, height } = this.lights.getBoundingClientRect();
    this.places = this.buttons.map((button) => {
      const box = button.getBoundingClientRect();
      return [box.left - left, box.top - top, box.width, box.height].map((side) => side * scale);
    });
    const sides = [width, height].map((side) => Math.max(1, Math.round(side * scale)));
    for (const canvas of [this.maps, this.lights]) [canvas.width, canvas.height] = sides;
  }

  /** Every map in its place. */
  draw() {
    if (!this.places) this.#measure();
    const { maps, places } = this,
      context = maps.getContext("2d");
    context.clearRect(0, 0, maps.width, maps.height);
    context.imageSmoothingEnabled = false;
    const { canvas, across, rows, columns } = this.sheet;
    this.buttons.forEach((_, i) => {
      context.drawImage(canvas, (i % across) * columns, Math.floor(i / across) * rows, columns, rows, ...places[i]);
    });
  }

  /** All maps side by side, one pixel a cell, in one picture: one canvas for each is expensive. */
  #paint(wall, palette, covered) {
    const size = wall.rows * wall.columns;
    const factor = Math.ceil(Math.max(wall.rows, wall.columns) / (PIXELS * Math.min(2, devicePixelRatio)));
    const changes = wall.what === "difference",
      skip = changes ? NOWHERE : wall.what === "scores" ? MASKED : undefined;
    const limit = wall.what === "scores" ? scoreLimit(wall) : 1;
    const maps = this.buttons.map(({ index }) => {
      const values = wall.values.subarray(index * size, (index + 1) * size),
        of = { index, values };
      return factor > 1
        ? { ...of, ...poolMax(values, wall.rows, wall.columns, factor, skip, changes ? distanceFromZero : undefined) }
        : of;
    });
    const [rows, columns] = [wall.rows, wall.columns].map((side) => Math.ceil(side / Math.max(1, factor)));
    const across = wall.n_heads,
      wide = across * columns;
    const canvas = image(Math.ceil(maps.length / across) * rows, wide, (at) => {
      const x = at % wide,
        y = (at - x) / wide,
        map = maps[Math.floor(y / rows) * across + Math.floor(x / columns)];
      if (!map) return 0; // the last row is not full
      const cell = (y % rows) * columns + (x % columns);
      if (covered.size && wall.pool === 1 && factor <= 1 && covered.has(cell)) return palette.masked;
      const value = wallValue(wall, map.index, map.values[cell]);
      if (wall.what === "weights") return weightColour(palette.weights, value);
      return value === -Infinity ? palette.masked : scoreColour(palette.scores, value / limit);
    });
    this.sheet = { canvas, across, rows, columns };
  }

  /** Light a pair in every map; either may be null. Fractions, so that pooled maps light the right block. */
  light({ query, key }, wall) {
    if (!this.places) this.draw();
    const context = this.lights.getContext("2d");
    context.clearRect(0, 0, this.lights.width, this.lights.height);
    context.globalAlpha = 0.28;
    context.fillStyle = this.palette.theme.text;
    for (const [left, top, width, height] of this.places) {
      if (query !== null)
        context.fillRect(left, top + (query / wall.n_queries) * height, width, Math.max(1, height / wall.n_queries));
      if (key !== null)
        context.fillRect(left + (key / wall.n_keys) * width, top, Math.max(1, width / wall.n_keys), height);
    }
    [this.lit, this.of] = [{ query, key }, wall];
  }

  /** Mark the chosen head, those taken together, and those switched off; draw, if any of the maps is another one. */
  mark(choice, together, hues) {
    for (const button of this.buttons) {
      const isChosen = button.layer === choice.layer && button.head === choice.head;
      const place = together.indexOf(button.index);
      button.classList.toggle("chosen", isChosen);
      button.classList.toggle("together", place >= 0);
      button.style.setProperty("--hue", place >= 0 && choice.combine === "max" ? css(hues[place % hues.length]) : "");
      button.setAttribute("aria-pressed", String(choice.combine === "one" ? isChosen : place >= 0));
      button.tabIndex = isChosen ? 0 : -1;
    }
    if (!this.buttons.some((button) => button.tabIndex === 0) && this.buttons.length) this.buttons[0].tabIndex = 0;
  }

  /** The head and the pair under the pointer. */
  at(event, wall) {
    const button = event.target.closest?.(".thumb");
    if (!button) return null;
    const box = button.getBoundingClientRect();
    const inside = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
    return {
      button,
      query: inside((event.clientY - box.top) / box.height, wall.n_queries),
      key: inside((event.clientX - box.left) / box.width, wall.n_keys),
    };
  }

  /** Move the keyboard's focus by an arrow key: to the next head, or a whole row up or down. */
  #walk(event) {
    const from = event.target.closest?.(".thumb"),
      step = ARROWS[event.key];
    if (!from || !step) return;
    event.preventDefault();
    const columns = getComputedStyle(from.closest(".heads")).gridTemplateColumns.split(" ").length,
      perRow = from.closest(".sorted") ? columns : columns - 1; // one holds the layer's name
    const to = this.buttons[this.buttons.indexOf(from) + step[0] * perRow + step[1]];
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

function sizeOf({ clientWidth, clientHeight }) {
  return [clientWidth, clientHeight, devicePixelRatio].join();
}

function format(number) {
  return number === null || Number.isNaN(number) || !Number.isFinite(number) ? "–" : number.toFixed(3);
}

/** The end of the one scale all heads share: the largest absolute score. */
export function scoreLimit(wall) {
  return wall.ranges.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
}
