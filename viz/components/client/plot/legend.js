// The legend of a map: its colours from one end of the scale to the other, and keys of what else is drawn.

import { image } from "../lib/canvas.js";
import { element } from "../lib/dom.js";

const LENGTH = 160;

/**
 * A strip of colours between its ends, with its name; `pixel` gives the colour at a share of the way.
 *
 * @param {string[]} ends
 */
export function colourStrip([low, high], pixel, name) {
  const strip = image(1, LENGTH, (at) => pixel(at / (LENGTH - 1)));
  return [element("span", "", {}, low), strip, element("span", "", {}, high), element("span", "what", {}, name)];
}

/** A square and its meaning: in a colour, or hatched if there is none. */
export function legendKey(text, colour = "") {
  const key = element("span", "keyed"),
    square = element("span", colour ? "swatch" : "hatched");
  square.style.backgroundColor = colour;
  key.append(square, text);
  return key;
}
