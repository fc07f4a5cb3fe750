// Making elements. Words from outside (tokens above all) enter the page as text, never as HTML.

import { moveCell } from "./clamp.js";
import { direction, isolate, readingDirection } from "./direction.js";

const SVG = "http://www.w3.org/2000/svg";

/** The step of each arrow key, as [rows, columns]. */
export const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Have the arrow keys walk the cells of a picture: `from` gives the [row, column] that is looked at, if one is, and
 * how many there are of each; `to` is called with the next one. */
export function walkCells(picture, from, to) {
  picture.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // to some pages an arrow means another step
    const { at, size } = from();
    to(at ? moveCell(at, step, size) : [0, 0]);
  });
}

/** A paragraph of a text's words, in the direction of the text, with the last of them marked. */
export function sentenceOf(paragraph, labels, last) {
  paragraph.dir = readingDirection(labels);
  paragraph.translate = false;
  paragraph.replaceChildren(
    ...labels.flatMap((label, i) => [wordOf(i === last ? "b" : "span", "", {}, label, paragraph.dir), " "]),
  );
}

/** An element with a word of the user's text: in its own direction, and left alone by a translator. */
export function wordOf(tag, className, attributes, word, base = "ltr") {
  const node = element(tag, className, attributes, word);
  node.dir = direction(word) || base;
  node.translate = false;
  return node;
}

export function element(tag, className = "", attributes = {}, text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style")
      node.style.cssText = value; // the policy of a saved page allows no attribute of that name
    else node.setAttribute(name, value);
  }
  if (text) node.textContent = text;
  return node;
}

/** A button that acts when it is pressed. */
export function clickable(className, text, act, attributes = {}) {
  const node = element("button", className, { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

/** An element with a sentence of a lesson, in which the second letter of d_k, W_Q and their like stands below. */
export function prose(tag, className = "", attributes = {}, text = "") {
  const node = element(tag, className, attributes);
  const parts = text.split(/(?<=\b[dW])_(k|v|model|ff|[QKVO])\b/);
  node.append(...parts.map((part, at) => (at % 2 ? element("sub", "", { style: "font-size: 0.88em" }, part) : part)));
  return node;
}

export function svgElement(tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, String(value));
  if (text) node.textContent = text; // tokens are text, whatever they spell
  return node;
}

/** A sentence with its {names} filled in, and of {n|head|heads} the form that goes with the number (viz/text). */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (match, name, singular, plural) => {
    if (!(name in values)) return match;
    const value = String(values[name]);
    return singular === undefined ? isolate(value) : value === "1" ? singular : plural;
  });
}

/** A row of buttons of which one is pressed; `options` are [code, label]. */
export function segments(label, options, onChoose) {
  const group = element("div", "segments", { role: "radiogroup", "aria-label": label });
  const buttons = options.map(([code, text]) => {
    const button = clickable("", text, () => onChoose(code), { role: "radio", "data-code": code });
    group.append(button);
    return button;
  });
  return {
    element: group,
    show(code) {
      for (const button of buttons) button.setAttribute("aria-checked", String(button.dataset.code === code));
    },
  };
}

/** A drop-down list; `options` are [code, label]. */
export function dropdown(label, options, onChoose) {
  const box = element("label", "dropdown", {}, label),
    list = element("select");
  for (const [code, text] of options) list.append(element("option", "", { value: code }, text));
  list.addEventListener("change", () => onChoose(list.value));
  box.append(list);
  return { element: box, list };
}
