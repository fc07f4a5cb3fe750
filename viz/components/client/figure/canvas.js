// One canvas as a file: PNG, or SVG, in which words and lines stay words and lines.

import { offer } from "../lib/save.js";
import { svgElement } from "../lib/dom.js";
import { sketch } from "./svg_recorder.js";

/** A canvas as it is seen, on the page's own background. */
export function savePng(canvas, background, name) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d");
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => offer(blob, `${name}.png`));
}

/** The same as SVG; `redraw` draws it. */
export function saveSvg(canvas, redraw, background, name) {
  const { width, height, clientWidth, clientHeight } = canvas;
  const root = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, width: clientWidth, height: clientHeight });
  root.append(svgElement("rect", { width, height, fill: background }), sketch([canvas], redraw)(canvas));
  offer(new Blob([new XMLSerializer().serializeToString(root)], { type: "image/svg+xml" }), `${name}.svg`);
}
