// Every head on a long text, small; its frame says which shape it has. A click opens it.

import { unpack } from "../lib/bytes.js";
import { image } from "../lib/canvas.js";
import { css, weightTable } from "../lib/colour.js";
import { clickable, element, fill } from "../lib/dom.js";
import { View, mount, spoken } from "../lib/view.js";
import { codePixels } from "./log_scale.js";

const STYLES = ["solid", "dashed", "double", "dotted"]; // no shape is told by its hue alone

export default mount((parent) => new LongWall(parent), unpack);

class LongWall extends View {
  constructor(parent) {
    super(parent, "long-wall", { handle: "longWall" });
    this.legend = element("div", "legend");
    this.rows = element("div", "rows", { tabindex: "0", role: "group" });
    this.says = spoken();
    this.axes = element("p", "axes");
    this.root.append(this.legend, this.rows, this.says, this.axes);
  }

  receive(data) {
    this.data = data;
    const { layers, heads, words, shapes, numbers } = data;
    this.rows.style.setProperty("--heads", String(heads));
    this.rows.setAttribute("aria-label", words.axes);
    this.legend.replaceChildren(
      ...shapes.map((name, at) => {
        const entry = element("span"),
          box = element("i");
        this.#frame(box, at);
        entry.append(box, words[name]);
        return entry;
      }),
    );
    const names = element("div", "row names", { "aria-hidden": "true" }); // a head's button says its number itself
    names.append(
      element("span", "", {}, words.head),
      ...Array.from({ length: heads }, (_, head) => element("span", "", {}, String(head))),
    );
    this.rows.replaceChildren(
      names,
      ...Array.from({ length: layers }, (_, layer) => {
        const row = element("div", "row");
        row.append(element("span", "", {}, fill(words.layer, { layer: numbers[layer] })));
        for (let head = 0; head < heads; head++) row.append(this.#head(layer, head));
        return row;
      }),
    );
    this.axes.textContent = words.axes;
    this.says.textContent = words.hint;
  }

  /** For the menu of the picture: each head's shape, and how much of its attention every shape has. */
  asTables() {
    const { heads, about, words, shapes, numbers } = this.data,
      three = shapes.slice(0, -1).map((name) => words[name]);
    const rows = about.map(([shape, ...shares], at) => [
      `${numbers[Math.floor(at / heads)]}.${at % heads}`,
      words[shapes[shape]],
      ...shares,
    ]);
    return [{ columns: ["", "", ...three], rows }];
  }

  #frame(box, shape) {
    const { hues } = this.data;
    box.style.borderStyle = STYLES[shape];
    box.style.borderColor = shape === STYLES.length - 1 ? "#8889" : css(hues.heads[shape]);
  }

  #head(layer, head) {
    const { heads, count, values, lowest, about, words, shapes, hues, numbers } = this.data,
      at = layer * heads + head;
    const [shape, ...shares] = about[at],
      percent = shares.map((share) => `${Math.round(share * 100)} %`);
    const names = { layer: numbers[layer], head, shape: words[shapes[shape]], share: percent[shape] ?? "" },
      alt = shape < percent.length ? words.alt : words.alt_none;
    const choose = () => this.send("chosen", [layer, head]),
      button = clickable("", "", choose, { "aria-label": fill(alt, names) });
    const pixels = codePixels(weightTable(hues.positive), lowest),
      cells = values.subarray(at * count * count, (at + 1) * count * count);
    button.append(image(count, count, (cell) => pixels[cells[cell]]));
    this.#frame(button, shape);
    const say = () => {
      const shares = Object.fromEntries(shapes.map((name, i) => [name, percent[i]]));
      this.says.textContent = fill(words.says, { ...shares, ...names });
    };
    button.addEventListener("pointerenter", say);
    button.addEventListener("focus", say);
    return button;
  }
}
