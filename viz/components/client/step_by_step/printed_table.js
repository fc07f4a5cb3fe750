// A matrix as it is printed: its symbol, what it is called, labels for rows and columns, and a cell for each number.

import { element } from "../lib/dom.js";

/**
 * `block` as Python sends it; `make` has word(label, i), the cell of a word that may be typed over, and number(i, j).
 */
export function printedTable(block, side, digits, make) {
  const figure = element("figure", `block ${side}`),
    table = element("table"),
    head = element("tr");
  figure.style.setProperty("--digits", String(digits));
  figure.append(caption(block));
  head.append(element("td", "corner"));
  for (const label of block.columns) head.append(element("th", "", { scope: "col", title: label }, label));
  if (block.heads) table.append(heads(block));
  table.append(head);
  block.rows.forEach((label, i) => {
    const row = element("tr");
    row.append(block.words ? make.word(label, i) : element("th", "", { scope: "row", title: label }, label));
    block.columns.forEach((_, j) => {
      const cell = make.number(i, j);
      if (block.heads && j && j % (block.columns.length / block.heads.length) === 0) cell.classList.add("next-head");
      if (block.head_rows && i && i % block.head_rows === 0) cell.classList.add("below-head");
      row.append(cell);
    });
    table.append(row);
  });
  figure.append(table);
  return figure;
}

function caption({ name, called }) {
  const [symbol, below] = name.split("_"),
    [base, above] = symbol.split("^"),
    figcaption = element("figcaption", "", {}, base);
  if (above) figcaption.append(element("sup", "", {}, above));
  if (below) figcaption.append(element("sub", "", {}, below));
  if (called) figcaption.append(element("span", "called", {}, called));
  return figcaption;
}

/** A row above the columns: which of them belong to which head. */
function heads({ heads: names, columns }) {
  const row = element("tr"),
    width = columns.length / names.length;
  row.append(
    element("td", "corner"),
    ...names.map((name) => element("th", "", { scope: "colgroup", colspan: width, title: name }, name)),
  );
  return row;
}
