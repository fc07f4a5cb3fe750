// The cache of keys and values as a decoder fills it: one token, one column for each key/value head; play or scrub.

import { View, mount, spoken } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image, measure, start } from "../lib/canvas.js";
import { css, scoreColour, scoreTable, theme } from "../lib/colour.js";
import { element, fill, sentenceOf } from "../lib/dom.js";
import { isolate } from "../lib/direction.js";
import { firstOf, Player } from "../lib/player.js";
import { Cells } from "../plot/cells.js";
import { readable, showTip } from "../plot/pointer.js";
import { mapTable } from "../plot/tables.js";
import { formatBytes } from "../plot/ticks.js";

export default mount((parent) => new Cache(parent), unpack);

/** Bytes written and read once `n` tokens are in the cache; each token reads all up to itself. */
function countBytes(n, tokenBytes) {
  return { held: n * tokenBytes, written: tokenBytes, read: n * tokenBytes, total: ((n * (n + 1)) / 2) * tokenBytes };
}

class Cache extends View {
  constructor(parent) {
    super(parent, "kv-cache", { handle: "kvCache" });
    this.tip = element("div", "tip", { hidden: "" });
    this.live = spoken("live");
  }

  close() {
    this.player.pause();
    super.close();
  }

  receive(data) {
    const isNew = this.hasChanged("labels", data.labels);
    this.data = data;
    const at = isNew ? firstOf(this.root, data.n) : this.at;
    this.signed = scoreTable(data.hues.negative, data.hues.positive);
    this.#build();
    this.size.hold();
    this.player.go(at);
  }

  /** In front of a class the arrow keys go from token to token. */
  walk(places) {
    return this.player.walk(places);
  }

  #build() {
    const { n, words, n_kv_heads } = this.data;
    this.player?.pause();
    this.player = new Player(n, words, (at) => this.show(at));
    this.text = element("p", "text");
    this.rows = element("div", "rows");
    this.rows.append(
      element("span"),
      element("span", "column", {}, words.keys),
      element("span", "column", {}, words.values),
    );
    this.parts = [];
    for (let group = 0; group < n_kv_heads; group++) this.rows.append(...this.#row(group));
    this.table = element("table");
    this.root.replaceChildren(this.player.element, this.text, this.rows, this.table, this.tip, this.live);
  }

  #row(group) {
    const { d_k, d_v, hues, words, limits } = this.data;
    const name = element(
      "span",
      "name",
      { style: `--hue: ${css(hues.heads[group % hues.heads.length])}` },
      fill(words.group, { group }),
    );
    const pair = [
      ["k", d_k, limits.k],
      ["v", d_v, limits.v],
    ].map(([kind, width, limit]) => {
      const part = { kind, width, limit, group, title: `${kind.toUpperCase()} ${group}`, cells: null, cell: null };
      const acts = {
        under: (point) => part.cells?.under(point),
        from: () => ({ at: part.cell, size: [width, this.at] }),
        look: (cell) => this.#look(part, cell),
        say: () => (this.live.textContent = this.tip.textContent),
      };
      const attributes = { role: "application", tabindex: "0", "aria-label": part.title };
      this.parts.push(Object.assign(part, readable(acts, "div", attributes)));
      return part.picture;
    });
    return [name, ...pair];
  }

  show(at) {
    const { labels, words, token_bytes: ours, mha_token_bytes: theirs } = this.data;
    this.at = at;
    for (const part of this.parts) part.cell = null;
    showTip(this.tip, "", null);
    sentenceOf(this.text, labels.slice(0, at), at - 1);
    this.draw();
    const ourBytes = countBytes(at, ours),
      theirBytes = countBytes(at, theirs);
    const row = ([first, ...cells], scope = "row") => {
      const tableRow = element("tr"),
        names = (name) => element("th", "", { scope }, name);
      tableRow.append(
        first ? names(first) : element("td"),
        ...cells.map((cell) => (scope === "col" ? names(cell) : element("td", "", {}, cell))),
      );
      return tableRow;
    };
    this.table.replaceChildren(
      row(["", words.here, words.mha], "col"),
      ...["written", "held", "read", "total"].map((name) =>
        row([words[name], formatBytes(ourBytes[name]), formatBytes(theirBytes[name])]),
      ),
    );
    this.counted = ourBytes;
  }

  /** For the menu of the picture: the vectors that are in the cache, and what has been written and read. */
  asTables() {
    const { n, labels } = this.data,
      names = labels.slice(0, this.at);
    const vectors = this.parts.map(({ kind, width, group, title }) => {
      const values = this.data[kind].subarray(group * n * width);
      const of = (at) => values[(at % names.length) * width + Math.floor(at / names.length)];
      return mapTable(width, names, of, title);
    });
    return [...vectors, this.table];
  }

  draw() {
    measure(this.parts.map(({ canvas }) => canvas));
    const colours = theme(this.root);
    for (const part of this.parts) this.#paint(part, colours);
  }

  /** Tokens are columns, and a column is the token's vector, one number above the other; the newest is framed. */
  #paint(part, colours) {
    const { canvas, width: rows, limit, cell } = part,
      { context, width, height } = start(canvas, colours),
      { n } = this.data;
    const cells = new Cells(context, colours, { left: 0, rows, columns: n, w: width / n, h: height / rows });
    const colour = (at) => (at % n < this.at ? scoreColour(this.signed, this.#value(part, at) / limit) : 0);
    cells.picture(image(rows, n, colour), null, false);
    cells.mark({ query: null, key: this.at - 1 }, colours.text, Math.min(2, cells.w));
    if (cell) cells.frame(cell, colours.text, 2);
    part.cells = cells;
  }

  /** The number of a cell of the picture. */
  #value({ kind, width, group }, at) {
    const { n } = this.data;
    return this.data[kind][group * n * width + (at % n) * width + Math.floor(at / n)];
  }

  /** Read a number off, or none; of a token that is still to come there is none. */
  #look(part, cell) {
    part.cell = cell && cell[1] < this.at ? cell : null;
    this.#paint(part, theme(this.root));
    if (!part.cell) return showTip(this.tip, "", null);
    const [row, column] = part.cell,
      value = this.#value(part, row * this.data.n + column)
        .toFixed(4)
        .replace("-", "−"),
      { x, top, bottom } = part.cells.box(part.cell),
      { offsetLeft, offsetTop } = part.picture;
    showTip(this.tip, `${part.title} · ${isolate(this.data.labels[column])} · ${row}: ${value}`, {
      x: offsetLeft + x,
      top: offsetTop + top,
      bottom: offsetTop + bottom,
    });
  }
}
