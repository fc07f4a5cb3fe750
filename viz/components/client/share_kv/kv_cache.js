// The cache of keys and values as a decoder fills it: one token, one column for each key/value head; play or scrub.

import { View, mount } from "../lib/view.js";
import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { css, scoreColour, scoreTable } from "../lib/colour.js";
import { element, fill, sentenceOf } from "../lib/dom.js";
import { firstOf, Player } from "../lib/player.js";
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
    this.canvases = [];
    for (let group = 0; group < n_kv_heads; group++) this.rows.append(...this.#row(group));
    this.table = element("table");
    this.root.replaceChildren(this.player.element, this.text, this.rows, this.table);
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
      const canvas = element("canvas", "", { role: "img", "aria-label": `${kind.toUpperCase()} ${group}` });
      this.canvases.push({ canvas, kind, width, limit, group });
      return canvas;
    });
    return [name, ...pair];
  }

  show(at) {
    const { labels, words, token_bytes: ours, mha_token_bytes: theirs } = this.data;
    this.at = at;
    sentenceOf(this.text, labels.slice(0, at), at - 1);
    for (const canvas of this.canvases) this.#paint(canvas);
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
    const vectors = this.canvases.map(({ kind, width, group }) => {
      const values = this.data[kind].subarray(group * n * width);
      const of = (at) => values[(at % names.length) * width + Math.floor(at / names.length)];
      return mapTable(width, names, of, `${kind.toUpperCase()} ${group}`);
    });
    return [...vectors, this.table];
  }

  /** Tokens are columns, and a column is the token's vector, one number above the other; the newest is framed. */
  #paint({ canvas, kind, width, limit, group }) {
    const { n } = this.data,
      values = this.data[kind],
      from = group * n * width;
    const colour = (cell) => {
      const token = cell % n,
        dimension = Math.floor(cell / n);
      return token < this.at ? scoreColour(this.signed, values[from + token * width + dimension] / limit) : 0;
    };
    const zoom = Math.max(1, Math.floor(480 / n));
    [canvas.width, canvas.height] = [n * zoom, 48];
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(image(width, n, colour), 0, 0, canvas.width, canvas.height);
    context.strokeStyle = getComputedStyle(this.root).color;
    context.lineWidth = Math.min(2, zoom);
    context.strokeRect((this.at - 1) * zoom + 1, 1, Math.max(1, zoom - 2), canvas.height - 2);
  }
}
