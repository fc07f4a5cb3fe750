// Heads that share keys and values: a bracket for each key/value head, its K and V, and its query heads' maps.

import { View, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { css, weightColour, weightTable } from "../lib/colour.js";
import { element, fill } from "../lib/dom.js";
import { Cells } from "../plot/cells.js";
import { readOff } from "../plot/pointer.js";
import { mapTable } from "../plot/tables.js";

export default mount((parent) => new Sharing(parent), unpack);

/** A canvas of one pixel a cell that CSS makes as large as there is room for. */
function picture(rows, columns, colour, alt, attributes = {}) {
  const canvas = image(rows, columns, colour);
  for (const [name, value] of Object.entries({ role: "img", "aria-label": alt, ...attributes }))
    canvas.setAttribute(name, value);
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
    this.root.style.setProperty("--each", String(data.n_heads / data.n_kv_heads));
    this.says.textContent = data.words.rest;
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
      size = n_heads / n_kv_heads,
      { style, table } = this.#hue(group),
      part = element("section", "group", { style });
    const pictures = element("div", "own");
    for (const [name, width] of Object.entries({ k: d_k, v: d_v })) {
      const values = this.data[name].subarray(group * n * width, (group + 1) * n * width);
      const title = fill(words[name], { group });
      const figure = element("figure", "kv");
      figure.append(
        picture(n, width, (cell) => weightColour(table, Math.abs(values[cell]) / limits[name]), title),
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
    const { style, table } = this.#hue(read),
      figure = element("figure", read === group ? "head" : "head wrong", { style });
    const name = fill(read === group ? words.head : words.wrong, { head, read });
    const colour = (cell) => weightColour(table, weights[from + cell] / 65535);
    const canvas = picture(n, n, colour, name, { role: "application", tabindex: "0" });
    let at = null;
    readOff(canvas, canvas, {
      under: (point) => this.#cells(canvas).nearest(point),
      from: () => ({ at, size: [n, n] }),
      look: (cell) => {
        at = cell;
        this.says.textContent = at ? this.#describe(at, head, read) : words.rest;
      },
    });
    figure.append(canvas, element("figcaption", "", {}, name));
    return figure;
  }

  /** The colour of a key/value head and of whatever reads it: as a style, and at each weight. */
  #hue(group) {
    const { heads } = this.data.hues,
      hue = heads[group % heads.length];
    return { style: `--hue: ${css(hue)}`, table: weightTable(hue) };
  }

  /** The weights on a head's canvas, which CSS has made larger. */
  #cells(canvas) {
    const { n } = this.data;
    return new Cells(null, null, { left: 0, rows: n, w: canvas.clientWidth / n, h: canvas.clientHeight / n });
  }

  #describe([query, key], head, read) {
    const { n, labels, weights, words } = this.data;
    const weight = weights[head * n * n + query * n + key] / 65535;
    const value = weight > 0 && weight < 0.00005 ? "<0.0001" : weight.toFixed(4);
    return fill(words.says, { head, read, query: labels[query], key: labels[key], value });
  }
}
