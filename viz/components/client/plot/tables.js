// @ts-check
// A map as a table, for the menu of its picture.

/** @typedef {import("../figure/tables.js").Cell} Cell */

/** @param {Cell[] | number} names @returns {Cell[]} */
function nameList(names) {
  return typeof names === "number" ? Array.from({ length: names }, (_, i) => i) : names;
}

/**
 * Rows and columns under their names, or under their numbers where only their count is given; `value` gives what stands
 * in a cell, counted row by row.
 *
 * @param {Cell[] | number} rows
 * @param {Cell[] | number} columns
 * @param {(at: number) => Cell} value
 */
export function mapTable(rows, columns, value, title = "") {
  const across = nameList(columns);
  return {
    title,
    columns: ["", ...across],
    rows: nameList(rows).map((name, i) => [name, ...across.map((_, j) => value(i * across.length + j))]),
  };
}
