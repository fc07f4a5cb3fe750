// A map as a file: what is seen as PNG, or its cells as SVG, in which words and cells stay words and cells.

import { css } from "./colour.js";

const CELL = 22,
  ROOM = 110,
  TEXT = 12,
  MOST = 128;
const INK = "#767676"; // the one grey that has 4.5 : 1 on white and on black paper: a file is laid on either

/** Offer a file to the visitor. */
export function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The canvas as it is seen, on the page's own background. */
export function savePng(canvas, background, name) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d");
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => offer(blob, `${name}.png`));
}

export function saveSvg(map, labels, colours, name) {
  const text = new XMLSerializer().serializeToString(drawSvg(map, labels, colours));
  offer(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Whether a map is small enough to be written cell by cell. */
export function fitsSvg(map) {
  return map.rows <= MOST && map.columns <= MOST;
}

function drawSvg({ rows, columns, values, limit }, labels, colours) {
  const add = (parent, tag, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text; // tokens are text, whatever they spell
    parent.append(made);
    return made;
  };
  const size = [ROOM + columns * CELL + ROOM / 2, ROOM + rows * CELL + 10];
  const box = { viewBox: `0 0 ${size.join(" ")}`, width: size[0], height: size[1] };
  const root = add(document.createDocumentFragment(), "svg", {
    ...box,
    "font-family": "sans-serif",
    "font-size": TEXT,
  });
  for (let at = 0; at < values.length; at++) {
    const share = limit ? values[at] / limit : values[at];
    if (!Number.isFinite(share)) continue;
    const hue = colours[share < 0 ? "negative" : "positive"];
    const place = { x: ROOM + (at % columns) * CELL, y: ROOM + Math.floor(at / columns) * CELL };
    const cell = add(root, "rect", { ...place, width: CELL, height: CELL, fill: css(hue), stroke: "#8888" });
    cell.setAttribute("fill-opacity", Math.sqrt(Math.abs(share)).toFixed(4));
    add(cell, "title", {}, values[at].toFixed(4));
  }
  const middle = (i) => ROOM + (i + 0.5) * CELL;
  labels.rows.forEach((label, i) => {
    add(root, "text", { x: ROOM - 6, y: middle(i) + 4, "text-anchor": "end", fill: INK }, label);
  });
  labels.columns.forEach((label, i) => {
    const turned = `translate(${middle(i) + 4} ${ROOM - 6}) rotate(-60)`;
    add(root, "text", { transform: turned, fill: INK }, label);
  });
  return root;
}
