// @ts-check
// A QR code from its rows of 0 and 1: dark on white in any theme, or no camera reads it.

import { svgElement } from "./dom.js";

const QUIET = 4; // modules that have to be free around it

/** @param {string[]} rows @param {string} alt */
export function drawCode(rows, alt) {
  const side = rows.length + 2 * QUIET;
  const dark = rows.map((row, y) =>
    Array.from(row, (cell, x) => (cell === "1" ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")).join(""),
  );
  const attributes = { role: "img", "aria-label": alt, "shape-rendering": "crispEdges" };
  const picture = svgElement("svg", { viewBox: `0 0 ${side} ${side}`, ...attributes });
  picture.append(svgElement("path", { d: dark.join(""), fill: "#000" }));
  return picture;
}
