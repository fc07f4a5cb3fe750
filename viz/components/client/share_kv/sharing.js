// Heads that share keys and values: a bracket for each key/value head, its K and V, and its query heads' maps.

import { View, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { css, scoreColour, scoreTable, weightColour, weightTable } from "../lib/colour.js";
import { element, fill, walkCells } from "../lib/dom.js";
import { mapTable } from "../plot/tables.js";

export default mount((parent) => new Sharing(parent), unpack);

/** A canvas of one pixel a cell that CSS makes as large as there is room for. */
export function picture(rows, columns, colour, alt) {
  const canvas = element("canvas", "", { role: "img", "aria-label": alt });
  [canvas.width, canvas.height] = [columns, rows];
  canvas.getContext("2d").drawImage(image(rows, columns, colour), 0, 0);
  return canvas;
}

class Sharing extends View {
  constructor(parent) {
    super(parent, "sharing");
    this.groups = element("div", "groups");
    this.says = spoken();
    this.root.append(this.says, this.groups);
  }

  receive(data) {
    this.data = data;
    const { hues, words } = data;
    this.weights = weightTable(hues.positive);
    this.signed = scoreTable(hues.negative, hues.positive);
    this.says.textContent = words.rest;
    this.groups.replaceChildren(...Array.from({ length: data.n_kv_heads }, (_, group) => this.#group(group)));
  }

  /** For the menu of the picture: the weights of every head. */
  asTables() {
    const { n, n_heads, labels, weights, words, reads } = this.data,
      names = labels.slice(0, n);
    const title = (head) => `Q ${head} → ${fill(words.k, { group: reads[head] })}`;
    return Array.from({ length: n_heads }, (_, head) =>
      mapTable(names, names, (at) => weights[head * n * n + at] / 65535, title(head)),
    );
  }

  #group(group) {
    const { words, n, d_k, d_v, n_heads, n_kv_heads, reads, limits } = this.data,
      size = n_heads / n_kv_heads;
    const part = element("section", "group", { style: `--hue: ${this.#hue(group)}` });
    const pictures = element("div", "own");
    for (const [name, width, limit] of [
      ["k", d_k, limits.k],
      ["v", d_v, limits.v],
    ]) {
      const values = this.data[name].subarray(group * n * width, (group + 1) * n * width);
      const title = fill(words[name], { group });
      const figure = element("figure", "kv");
      figure.append(
        picture(n, width, (cell) => scoreColour(this.signed, values[cell] / limit), title),
        element("figcaption", "", {}, name.toUpperCase()),
      );
      pictures.append(figure);
    }
    const heads = element("div", "queries");
    for (let head = group * size; head < (group + 1) * size; head++) heads.append(this.#head(head, group, reads[head]));
    const name = fill(words.group, { group });
    part.append(element("p", "bracket", {}, name), pictures, heads);
    return part;
  }

  #head(head, group, read) {
    const { n, words, weights } = this.data,
      from = head * n * n;
    const figure = element("figure", read === group ? "head" : "head wrong", { style: `--hue: ${this.#hue(read)}` });
    const name = fill(read === group ? words.head : words.wrong, { head, read });
    const canvas = picture(n, n, (cell) => weightColour(this.weights, weights[from + cell] / 65535), name);
    canvas.setAttribute("role", "application");
    canvas.tabIndex = 0;
    const say = (at) => this.#say(canvas, at, head, read),
      point = (event) => say(this.#place(event, canvas));
    walkCells(canvas, () => ({ at: canvas.at, size: [n, n] }), say);
    canvas.addEventListener("blur", () => this.#leave(canvas));
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointerleave", () => this.#leave(canvas));
    figure.append(canvas, element("figcaption", "", {}, name));
    return figure;
  }

  #hue(group) {
    const { heads } = this.data.hues;
    return css(heads[group % heads.length]);
  }

  /** The cell under the pointer: [query, key]. */
  #place(event, canvas) {
    const { n } = this.data,
      box = canvas.getBoundingClientRect();
    const place = (at, length) => Math.min(n - 1, Math.max(0, Math.floor((at / length) * n)));
    return [place(event.clientY - box.top, box.height), place(event.clientX - box.left, box.width)];
  }

  #leave(canvas) {
    canvas.at = null;
    this.says.textContent = this.data.words.rest;
  }

  #say(canvas, at, head, read) {
    const { n, labels, weights, words } = this.data,
      [query, key] = at;
    canvas.at = at;
    const weight = weights[head * n * n + query * n + key] / 65535;
    const value = weight > 0 && weight < 0.00005 ? "<0.0001" : weight.toFixed(4);
    this.says.textContent = fill(words.says, { head, read, query: labels[query], key: labels[key], value });
  }
}
