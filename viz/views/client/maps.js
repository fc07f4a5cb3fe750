// A few maps of the same tokens under one scale, side by side. Pointing at a cell reads it off in all of them at once.

import { unpack } from "./bytes.js";
import { image, line, start } from "./canvas.js";
import { css, scoreColour, scoreTable, theme, weightColour, weightTable } from "./colour.js";
import { element, fill } from "./dom.js";
import { shorten } from "./large.js";

const GUTTER = 64, views = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const view = views.get(parentElement) ?? new Maps(parentElement);
  views.set(parentElement, view);
  view.receive(unpack(data), setStateValue);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

class Maps {
  constructor(parent) {
    this.root = element("div", "maps");
    this.root.maps = this; // for the browser's tests: they read the numbers back
    this.strip = element("div", "strip");
    this.says = element("p", "says");
    this.axes = element("p", "axes");
    this.root.append(this.strip, this.says, this.axes);
    parent.append(this.root);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
    this.pair = null;
  }

  close() {
    this.watch.disconnect();
    this.root.remove();
  }

  receive(data, setStateValue) {
    [this.data, this.setStateValue] = [data, setStateValue];
    const { hues } = data;
    this.tables = { weights: weightTable(hues.positive), scores: scoreTable(hues.negative, hues.positive) };
    this.#build();
    this.axes.textContent = data.words.axes;
    this.draw();
  }

  #build() {
    const { maps, chooses, profiles, gutter } = this.data;
    this.strip.classList.toggle("pairs", Boolean(gutter));
    this.panels = maps.map((map, index) => {
      const panel = element("figure", "panel"), title = element("figcaption", "name", {}, map.title);
      const picture = element(chooses ? "button" : "div", "picture", chooses ? { type: "button" } : { role: "img" });
      picture.setAttribute("aria-label", map.alt);
      if (chooses) picture.setAttribute("aria-pressed", String(map.code === this.data.chosen));
      const canvas = element("canvas"), value = element("span", "value"), profile = element("canvas", "profile");
      picture.append(canvas);
      picture.addEventListener("pointermove", (event) => this.look(event, canvas));
      picture.addEventListener("pointerleave", () => this.light(null));
      if (chooses) picture.addEventListener("click", () => this.setStateValue("chosen", map.code));
      panel.append(title, picture, ...(profiles ? [profile] : []), value);
      return { panel, canvas, value, profile, index };
    });
    this.strip.replaceChildren(...this.panels.map(({ panel }) => panel));
  }

  draw() {
    const { maps, n, values, profiles, what, limit, gutter } = this.data;
    const colours = theme(this.root);
    for (const { canvas, profile, index } of this.panels) {
      if (!canvas.clientWidth) return;
      const cells = values.subarray(index * n * n, (index + 1) * n * n);
      const paint = what === "weights"
        ? (cell) => weightColour(this.tables.weights, cells[cell])
        : (cell) => (cells[cell] === -Infinity ? 0 : scoreColour(this.tables.scores, cells[cell] / limit));
      const { context, width, height } = start(canvas, colours);
      const left = gutter ? GUTTER : 0, side = Math.min(width, height) - left;
      Object.assign(canvas, { left, side });
      context.imageSmoothingEnabled = false;
      context.drawImage(image(n, n, paint), left, left, side, side);
      context.globalAlpha = 0.3;
      context.strokeRect(left + 0.5, left + 0.5, side - 1, side - 1);
      context.globalAlpha = 1;
      if (gutter) this.#names(context, maps[index].labels, left, side / n);
      if (this.pair) this.#cross(context, canvas, side / n);
      if (profiles) this.#profile(profile, index, colours);
    }
  }

  #names(context, labels, room, cell) {
    const step = Math.ceil(11 / cell);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let i = 0; i < labels.length; i += step) {
      const name = shorten(context, labels[i], room - 6), at = room + (i + 0.5) * cell;
      context.fillText(name, room - 4, at);
      context.save();
      context.translate(at, room - 4);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillText(name, 0, 0);
      context.restore();
    }
  }

  #cross(context, { left, side }, cell) {
    const { query, key } = this.pair;
    context.globalAlpha = 0.22;
    context.fillRect(left, left + query * cell, side, Math.max(1, cell));
    context.fillRect(left + key * cell, left, Math.max(1, cell), side);
    context.globalAlpha = 1;
  }

  /** The mean score of all pairs with the same offset, from far behind to far ahead; the upright line is offset 0. */
  #profile(canvas, index, colours) {
    const { profiles, n, profile_limit: limit } = this.data, length = 2 * n - 1;
    const { context, width, height } = start(canvas, colours);
    const y = (value) => (height / 2) * (1 - Math.max(-1, Math.min(1, value / limit)) * 0.95);
    context.globalAlpha = 0.3;
    line(context, 0, height / 2, width, height / 2);
    line(context, width / 2, 0, width / 2, height);
    context.globalAlpha = 1;
    context.strokeStyle = css(this.data.hues.positive);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let r = 0; r < length; r++) context.lineTo((r / Math.max(1, length - 1)) * width, y(profiles[index * length + r]));
    context.stroke();
  }

  look(event, canvas) {
    const { n } = this.data, box = canvas.getBoundingClientRect();
    const place = (at) => Math.floor(((at - canvas.left) / canvas.side) * n);
    const query = place(event.clientY - box.top), key = place(event.clientX - box.left);
    const inside = query >= 0 && key >= 0 && query < n && key < n;
    this.light(inside ? { query, key } : null);
  }

  light(pair) {
    this.pair = pair;
    const { n, maps, values, words } = this.data;
    this.draw();
    for (const { value, index } of this.panels) {
      const number = pair ? values[index * n * n + pair.query * n + pair.key] : null;
      value.textContent = pair ? (number === -Infinity ? "−∞" : number.toFixed(4)) : "";
    }
    const labels = maps[0].labels;
    this.says.textContent = pair
      ? fill(words.says, { query: labels[pair.query], key: labels[pair.key], offset: pair.key - pair.query })
      : "";
  }
}
