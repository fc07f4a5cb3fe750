// A canvas context that records its calls as SVG: text stays text and lines stay lines, at any size.

import { svgElement } from "../lib/dom.js";

/** The properties that `save` and `restore` are about, as a new canvas has them. */
const STATE = {
  fillStyle: "#000",
  strokeStyle: "#000",
  globalAlpha: 1,
  lineWidth: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  imageSmoothingEnabled: true,
  dashes: [],
  matrix: null,
  clipped: null,
};
const ANCHORS = { left: "start", start: "start", right: "end", end: "end", center: "middle" };
let count = 0; // of the names of clips and gradients, which are one document's

/** A colour without alpha, for older SVG readers, and its opacity. */
export function colourOf(context, colour) {
  context.fillStyle = "#000";
  context.fillStyle = colour;
  const [, parts, opacity] = String(context.fillStyle).match(/^rgba\((.+), ([\d.]+)\)$/) ?? [];
  return parts ? [`rgb(${parts})`, Number(opacity)] : [context.fillStyle, 1];
}

function number(value) {
  return Number(value.toFixed(3));
}

/** A bitmap as a data URL. */
function bitmap(source, from) {
  if (!from && source.toDataURL) return source.toDataURL();
  const [x, y, wide, high] = from ?? [0, 0, source.width, source.height],
    copy = document.createElement("canvas");
  [copy.width, copy.height] = [Math.max(1, Math.round(wide)), Math.max(1, Math.round(high))];
  copy.getContext("2d").drawImage(source, x, y, wide, high, 0, 0, copy.width, copy.height);
  return copy.toDataURL();
}

class Gradient {
  ends;
  stops;

  constructor(...ends) {
    [this.ends, this.stops] = [ends, []];
  }

  addColorStop(at, colour) {
    this.stops.push([at, colour]);
  }
}

/**
 * Redraw canvases through recording contexts. Returns a function from a canvas to its SVG, in its own pixels; the
 * bitmap for a canvas that `redraw` does not draw.
 */
export function sketch(canvases, redraw) {
  const sketches = new Map(canvases.map((canvas) => [canvas, new Sketch(canvas)]));
  const bitmaps = new Map(canvases.map((canvas) => [canvas, canvas.toDataURL()]));
  for (const [canvas, sketch] of sketches) canvas.getContext = () => sketch;
  try {
    redraw?.();
  } finally {
    for (const canvas of canvases) delete canvas.getContext;
  }
  redraw?.(); // to be seen again: a canvas that is given a size is empty
  return (canvas) =>
    sketches.get(canvas).group.childElementCount
      ? sketches.get(canvas).group
      : svgElement("image", {
          href: bitmaps.get(canvas),
          width: canvas.width,
          height: canvas.height,
          preserveAspectRatio: "none",
          style: "image-rendering: pixelated",
        });
}

/** The part of CanvasRenderingContext2D that the views use. `group` is the SVG, in the canvas's own pixels. */
class Sketch {
  stack;
  font;
  textBaseline;
  textAlign;
  imageSmoothingEnabled;
  globalAlpha;
  lineWidth;

  constructor(canvas) {
    this.canvas = canvas;
    // Measures, and reads colours.
    this.real = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    this.group = svgElement("g");
    Object.assign(this, STATE, { matrix: new DOMMatrix() });
    [this.stack, this.path] = [[], ""];
  }

  save() {
    this.stack.push(Object.fromEntries(Object.keys(STATE).map((name) => [name, this[name]])));
  }

  restore() {
    Object.assign(this, this.stack.pop());
  }

  translate(x, y) {
    this.matrix = this.matrix.translate(x, y);
  }
  rotate(angle) {
    this.matrix = this.matrix.rotate((angle * 180) / Math.PI);
  }
  scale(x, y) {
    this.matrix = this.matrix.scale(x, y);
  }
  setTransform(...parts) {
    this.matrix = new DOMMatrix(parts);
  }
  setLineDash(dashes) {
    this.dashes = dashes;
  }
  beginPath() {
    this.path = "";
  }
  closePath() {
    this.path += "Z";
  }
  moveTo(x, y) {
    this.#to("M", x, y);
  }
  lineTo(x, y) {
    this.#to(this.path ? "L" : "M", x, y);
  }
  bezierCurveTo(...points) {
    this.#to("C", ...points);
  }
  rect(x, y, wide, high) {
    this.path += rectangle(x, y, wide, high);
  }
  clearRect() {}

  #to(kind, ...points) {
    this.path += kind + points.map(number).join(" ");
  }

  arc(x, y, radius, from, to, counter = false) {
    const around = Math.min(2 * Math.PI - 1e-4, Math.abs(to - from)),
      end = from + (counter ? -around : around);
    const at = (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    this.#to(this.path && !this.path.endsWith("Z") ? "L" : "M", ...at(from));
    this.path += `A${number(radius)} ${number(radius)} 0 ${Number(around > Math.PI)} ${Number(!counter)} ${at(end).map(number).join(" ")}`;
  }

  fill() {
    this.#add("path", { d: this.path, ...this.#paint("fill") });
  }
  stroke() {
    this.#add("path", { d: this.path, ...this.#strokeAttributes() });
  }
  fillRect(x, y, wide, high) {
    this.#add("path", { d: rectangle(x, y, wide, high), ...this.#paint("fill") });
  }
  strokeRect(x, y, wide, high) {
    this.#add("path", { d: rectangle(x, y, wide, high), ...this.#strokeAttributes() });
  }

  clip() {
    const id = `clip${++count}`,
      clipPath = svgElement("clipPath", { id, "clip-path": this.clipped });
    clipPath.append(svgElement("path", { d: this.path, transform: this.#transform() }));
    this.group.append(clipPath);
    this.clipped = `url(#${id})`;
  }

  measureText(text) {
    this.real.font = this.font;
    return this.real.measureText(text);
  }

  fillText(text, x, y, most = Infinity) {
    if (!String(text).trim()) return;
    const { width, fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = this.measureText(text);
    const down = { middle: (above - below) / 2, top: above, hanging: above, bottom: -below }[this.textBaseline] ?? 0;
    const place = {
      x: number(x),
      y: number(y + down),
      "text-anchor": ANCHORS[this.textAlign],
      style: `font: ${this.font}; white-space: pre`,
    };
    const long = { textLength: number(Math.min(most, width)), lengthAdjust: "spacingAndGlyphs" };
    this.#add("text", { ...place, ...long, ...this.#paint("fill") }, String(text));
  }

  createLinearGradient(...ends) {
    return new Gradient(...ends);
  }

  createImageData(width, height) {
    return this.real.createImageData(width, height);
  }

  drawImage(source, ...places) {
    const [x, y, wide, high] = places.length > 4 ? places.slice(4) : [...places, source.width, source.height];
    const smooth = this.imageSmoothingEnabled ? null : "image-rendering: pixelated";
    const href = bitmap(source, places.length > 4 ? places.slice(0, 4) : null);
    this.#add("image", {
      x,
      y,
      width: wide,
      height: high,
      preserveAspectRatio: "none",
      style: smooth,
      href,
      opacity: this.globalAlpha,
    });
  }

  putImageData(data, x, y) {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [data.width, data.height];
    copy.getContext("2d").putImageData(data, 0, 0);
    const before = this.matrix;
    this.matrix = new DOMMatrix();
    this.drawImage(copy, x, y);
    this.matrix = before;
  }

  #paint(kind) {
    const style = this[`${kind}Style`];
    if (style instanceof Gradient) return { [kind]: this.#gradient(style), opacity: this.globalAlpha };
    const [colour, opacity] = colourOf(this.real, style);
    return { [kind]: colour, [`${kind}-opacity`]: number(opacity * this.globalAlpha) };
  }

  #strokeAttributes() {
    const dashes = this.dashes.length ? this.dashes.join(" ") : null;
    return {
      fill: "none",
      "stroke-width": this.lineWidth,
      "stroke-dasharray": dashes,
      ...this.#paint("stroke"),
    };
  }

  #gradient({ ends: [x1, y1, x2, y2], stops }) {
    const id = `shade${++count}`,
      gradient = svgElement("linearGradient", { id, gradientUnits: "userSpaceOnUse", x1, y1, x2, y2 });
    for (const [offset, style] of stops) {
      const [colour, opacity] = colourOf(this.real, style);
      gradient.append(svgElement("stop", { offset, "stop-color": colour, "stop-opacity": opacity }));
    }
    this.group.append(gradient);
    return `url(#${id})`;
  }

  #transform() {
    const { a, b, c, d, e, f } = this.matrix;
    return this.matrix.isIdentity ? null : `matrix(${[a, b, c, d, e, f].map(number).join(" ")})`;
  }

  #add(tag, attributes, text = "") {
    const shape = svgElement(tag, { ...attributes, transform: this.#transform() }, text);
    if (!this.clipped) return this.group.append(shape);
    const cut = svgElement("g", { "clip-path": this.clipped });
    cut.append(shape);
    this.group.append(cut);
  }
}

function rectangle(x, y, wide, high) {
  return `M${number(x)} ${number(y)}h${number(wide)}v${number(high)}h${number(-wide)}Z`;
}
