// Making elements. Words from outside (tokens above all) enter the page as text, never as HTML.

import { direction, isolate, readingDirection } from "./direction.js";

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
    to(at ? at.map((place, i) => Math.max(0, Math.min(size[i] - 1, place + step[i]))) : [0, 0]);
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
  const made = element(tag, className, attributes, word);
  made.dir = direction(word) || base;
  made.translate = false;
  return made;
}

export function element(tag, className = "", attributes = {}, text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

/** A sentence with its {names} filled in, and of {n|head|heads} the form that goes with the number (viz/text). */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (whole, name, one, many) => {
    if (!(name in values)) return whole;
    const value = String(values[name]);
    return one === undefined ? isolate(value) : value === "1" ? one : many;
  });
}

/** A row of buttons of which one is pressed; `options` are [code, label]. */
export function segments(label, options, onChoose) {
  const made = element("div", "segments", { role: "radiogroup", "aria-label": label });
  const buttons = options.map(([code, text]) => {
    const button = element("button", "", { type: "button", role: "radio", "data-code": code }, text);
    button.addEventListener("click", () => onChoose(code));
    made.append(button);
    return button;
  });
  return {
    element: made,
    show(code) {
      for (const button of buttons) button.setAttribute("aria-checked", String(button.dataset.code === code));
    },
  };
}

/** A drop-down list; `options` are [code, label]. */
export function dropdown(label, options, onChoose) {
  const made = element("label", "dropdown", {}, label),
    list = element("select");
  for (const [code, text] of options) list.append(element("option", "", { value: code }, text));
  list.addEventListener("change", () => onChoose(list.value));
  made.append(list);
  return { element: made, list };
}
