// The matrix products of a layer between two texts, every matrix drawn to one scale: two factors, and what they make.

import { View, mount } from "../lib/view.js";
import { element, fill } from "../lib/dom.js";

const TALLEST = 116,
  LEAST = 3,
  SIGNS = 130;

/** Pixels per matrix entry, so that every product fits: `products` are lists of boxes. */
function scale(products, width) {
  const room = Math.max(60, width - SIGNS);
  return Math.min(
    8,
    ...products.map(({ boxes }) => room / boxes.reduce((sum, box) => sum + box.columns * box.side_by_side, 0)),
    ...products.flatMap(({ boxes }) => boxes.map((box) => TALLEST / box.rows)),
  );
}

export default mount((parent) => new Shapes(parent));

class Shapes extends View {
  constructor(parent) {
    super(parent, "shapes", { attributes: { role: "img" } });
  }

  receive(data) {
    this.data = data;
    this.root.setAttribute("aria-label", data.words.alt);
    this.root.replaceChildren(...data.products.map((product) => this.#product(product)));
    this.size.hold();
    this.draw();
  }

  /** For the menu of the picture: every matrix with its rows and columns, and how many stand side by side. */
  asTables() {
    const rows = this.data.products.flatMap(({ boxes }) =>
      boxes.map((box) => [box.name, box.rows, box.columns, box.side_by_side]),
    );
    return [{ columns: ["", "↓", "→", "×"], rows }];
  }

  #product({ boxes, softmax, n_heads }) {
    const { words } = this.data,
      isJoined = boxes.some((box) => box.side_by_side > 1);
    const root = element("div", "product"),
      row = element("div", "row");
    boxes.forEach((box, i) => {
      if (i) row.append(this.#sign(i === 2 && softmax ? [words.softmax, "→"] : [i === 1 ? "·" : "="]));
      row.append(this.#box(box));
    });
    const note = n_heads > 1 ? fill(isJoined ? words.joined : words.split, { n: n_heads }) : "";
    root.append(row, element("p", "note", {}, note));
    return root;
  }

  #sign(lines) {
    const sign = element("span", "sign");
    sign.append(...lines.map((line) => element("span", "", {}, line)));
    return sign;
  }

  #box(box) {
    const node = element("div", `box ${box.of}`),
      picture = element("div", "picture");
    for (let i = 0; i < box.side_by_side; i++) picture.append(element("div", "head"));
    const columns = box.side_by_side > 1 ? `(${box.side_by_side} · ${box.columns})` : box.columns;
    node.append(element("b", "", {}, box.name), picture, element("span", "size", {}, `${box.rows} × ${columns}`));
    Object.assign(picture.dataset, { rows: box.rows, columns: box.columns, heads: box.side_by_side });
    return node;
  }

  draw() {
    const first = this.root.querySelector(".product");
    if (!first?.clientWidth) return;
    const size = scale(this.data.products, first.clientWidth);
    for (const picture of this.root.querySelectorAll(".picture")) {
      const { rows, columns, heads } = picture.dataset;
      picture.style.height = `${Math.max(LEAST, rows * size)}px`;
      picture.style.width = `${Math.max(LEAST, columns * heads * size)}px`;
    }
  }
}
