// A picture on the page as one SVG: its boxes, words, drawings and canvases, each where it stands.

import { isolate } from "../lib/direction.js";
import { svgElement } from "../lib/dom.js";
import { colourOf, sketch } from "./svg_recorder.js";

const LEFT_OUT =
  "[hidden], script, style, .live, .unseen, .tip, .controls, .tools, .bar, .dropdown, .temperature, .lock, .letters, .choose, .ends, " +
  // Controls, and elements for screen readers only.
  ".modebar-container, form, select, input[type=range], input[type=checkbox]";
const STYLED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "visibility",
  "display",
  "clip-path",
  "image-rendering",
];

/**
 * Everything of these elements that is seen, as {group, width, height}. `redraw` draws the canvases among them anew.
 */
export function paintElements(elements, redraw) {
  const { left: x, top: y } = elements[0].getBoundingClientRect(),
    painter = new Painter({ x, y }, sketches(elements, redraw));
  for (const element of elements) painter.element(element, painter.group);
  const { left, top, right, bottom } = painter.extent,
    group = svgElement("g", { transform: `translate(${-left} ${-top})` });
  group.append(painter.group);
  return { group, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

/** Every canvas among these elements as SVG, by the canvas. */
function sketches(elements, redraw) {
  const canvases = elements.flatMap((element) => [
    ...(element.matches("canvas") ? [element] : []),
    ...element.querySelectorAll("canvas"),
  ]);
  return sketch(canvases, redraw);
}

class Painter {
  origin;
  sketched;
  group;

  constructor(origin, sketched) {
    Object.assign(this, { origin, sketched, group: svgElement("g"), above: null });
    this.extent = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }; // of what is drawn
    this.context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  }

  element(element, into) {
    const style = getComputedStyle(element);
    if (element.matches(LEFT_OUT) || style.display === "none" || style.visibility === "hidden" || style.opacity === "0")
      return;
    const box = this.#place(element.getBoundingClientRect()),
      group = svgElement("g", { opacity: style.opacity === "1" ? null : style.opacity });
    // Fixed parts lie over the parts that scroll below them.
    (style.position === "sticky" && this.above ? this.above : into).append(group);
    this.#box(style, box, group);
    if (element instanceof HTMLCanvasElement) this.#canvas(element, box, group);
    else if (element instanceof SVGSVGElement) group.append(this.#copy(element, box));
    else if (element instanceof HTMLInputElement) this.#value(element.value, box, style, group);
    else if (this.#hides(element, style)) this.#cut(element, style, box, group);
    else this.#inside(element, style, group);
  }

  /** Extend the picture's bounds by a box; boxes inside a scrolling element do not count. */
  #reach({ x, y, width, height }) {
    if (this.above) return;
    const { left, top, right, bottom } = this.extent;
    this.extent = {
      left: Math.min(left, x),
      top: Math.min(top, y),
      right: Math.max(right, x + width),
      bottom: Math.max(bottom, y + height),
    };
  }

  #place({ left, top, width, height }) {
    return { x: left - this.origin.x, y: top - this.origin.y, width, height };
  }

  #inside(element, style, group) {
    for (const node of element.childNodes) {
      if (node instanceof Element) this.element(node, group);
      else if (node instanceof Text && node.data.trim()) this.#text(node, style, group);
    }
  }

  #hides(element, { overflowX, overflowY }) {
    return (
      (overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1) ||
      (overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1)
    );
  }

  /** Draw the visible part of a scrolling element. */
  #cut(element, style, box, group) {
    this.#reach(box);
    const inner = svgElement("svg", {
        ...box,
        viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`,
        overflow: "hidden",
      }),
      outer = this.above;
    this.above = svgElement("g");
    this.#inside(element, style, inner);
    inner.append(this.above);
    group.append(inner);
    this.above = outer;
  }

  #box(style, box, group) {
    const [fill, opacity] = colourOf(this.context, style.backgroundColor),
      rx = parseFloat(style.borderTopLeftRadius) || null;
    if (opacity && box.width && box.height) this.#reach(box);
    if (opacity && box.width && box.height)
      group.append(svgElement("rect", { ...box, rx, fill, "fill-opacity": opacity }));
    const ring = style.boxShadow.match(/^(\w+\(.*?\)) 0px 0px 0px (\d+)px$/); // a frame that takes no room
    if (ring) this.#frame(box, Number(ring[2]), ring[1], -Number(ring[2]) / 2, group);
    const sides = ["Top", "Right", "Bottom", "Left"].map((side) => ({
      wide: style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]),
      colour: style[`border${side}Color`],
      kind: style[`border${side}Style`],
    }));
    if (sides.every(({ wide, colour }) => wide === sides[0].wide && colour === sides[0].colour)) {
      if (sides[0].wide) this.#frame(box, sides[0].wide, sides[0].colour, sides[0].wide / 2, group, rx, sides[0].kind);
      return;
    }
    const [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height];
    const ends = [
      [left, top, right, top],
      [right, top, right, bottom],
      [left, bottom, right, bottom],
      [left, top, left, bottom],
    ];
    sides.forEach(({ wide, colour, kind }, i) => {
      const [x1, y1, x2, y2] = ends[i];
      if (wide) group.append(svgElement("line", { x1, y1, x2, y2, ...this.#line(wide, colour, kind) }));
    });
  }

  #frame({ x, y, width, height }, wide, colour, inset, group, rx = null, kind = "solid") {
    this.#reach({ x, y, width, height });
    const place = {
      x: x + inset,
      y: y + inset,
      width: Math.max(0, width - 2 * inset),
      height: Math.max(0, height - 2 * inset),
      rx,
    };
    group.append(svgElement("rect", { ...place, fill: "none", ...this.#line(wide, colour, kind) }));
  }

  #line(wide, colour, kind) {
    const [stroke, opacity] = colourOf(this.context, colour);
    const dashes = { dashed: `${3 * wide} ${2 * wide}`, dotted: `${wide} ${wide}` }[kind] ?? null;
    return { stroke, "stroke-opacity": opacity, "stroke-width": wide, "stroke-dasharray": dashes };
  }

  #canvas(canvas, { x, y, width, height }, group) {
    const scale = `translate(${x} ${y}) scale(${width / canvas.width} ${height / canvas.height})`,
      scaledGroup = svgElement("g", { transform: scale });
    this.#reach({ x, y, width, height });
    scaledGroup.append(this.sketched(canvas));
    group.append(scaledGroup);
  }

  /** A drawing with its style written into it: a file has no style sheet. */
  #copy(svg, box) {
    this.#reach(box);
    const copy = svg.cloneNode(true),
      originals = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((target, i) => {
      const style = getComputedStyle(originals[i]);
      for (const name of STYLED) {
        const value = style.getPropertyValue(name);
        if (value && value !== "auto" && !(value === "none" && name === "clip-path"))
          target.style.setProperty(name, value.replace(/url\("[^"#]*#/g, 'url("#'));
      }
      for (const name of ["class", "onclick"]) target.removeAttribute(name);
    });
    for (const [name, value] of Object.entries(box)) copy.setAttribute(name, String(value));
    copy.style.position = "static";
    return copy;
  }

  /** Each line of a text where it stands; words at whose end a line ends are told by where they are. */
  #text(node, style, group) {
    const range = document.createRange(),
      lines = [];
    for (const { 0: word, index } of node.data.matchAll(/\S+|\s+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getClientRects()[0],
        last = lines.at(-1);
      if (!box) continue;
      if (last && Math.abs(last.box.top - box.top) < 2)
        Object.assign(last, { text: last.text + word, right: box.right });
      else if (word.trim()) lines.push({ text: word, box, right: box.right });
    }
    for (const { text, box, right } of lines) {
      const place = this.#place({ left: box.left, top: box.top, width: right - box.left, height: box.height });
      this.#words(text.trimEnd(), place, style, group);
    }
  }

  /** Draw the text of an input at its place in the box. */
  #value(text, { x, y, width, height }, style, group) {
    const [before, after] = ["Left", "Right"].map(
      (side) => parseFloat(style[`padding${side}`]) + parseFloat(style[`border${side}Width`]),
    );
    this.context.font = fontOf(style);
    const free = Math.max(0, width - before - after - this.context.measureText(text).width);
    const share = { center: 0.5, right: 1, end: 1 }[style.textAlign] ?? 0;
    this.#words(text, { x: x + before + share * free, y, height }, style, group);
  }

  #words(text, { x, y, height }, style, group) {
    const font = fontOf(style),
      [fill, opacity] = colourOf(this.context, style.color);
    this.context.font = font;
    const { width, fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = this.context.measureText(text);
    this.#reach({ x, y, width, height });
    const place = {
      x,
      y: y + (height - above - below) / 2 + above,
      textLength: width || null,
      lengthAdjust: "spacingAndGlyphs",
    };
    group.append(
      svgElement(
        "text",
        { ...place, fill, "fill-opacity": opacity, style: `font: ${font}; white-space: pre` },
        isolate(text),
      ),
    );
  }
}

function fontOf(style) {
  return `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
}
