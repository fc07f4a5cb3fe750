// A labelled slider with its value written beside it, by its `link` hidden where a link says so (without=); alpha goes
// in even steps of a ratio, with 0 at its left end.

import { element } from "../lib/dom.js";

/** @typedef {{link?: string, read?: (place: number) => number, write?: (value: number) => string, range?: object,
 *   say?: (value: number) => string, input: (value: number) => void, change: () => void}} Acts */

export function slider(
  name,
  label,
  range,
  /** @type {Acts} */ { link = name, read = Number, write = String, say = String, input, change },
) {
  const root = element("label", "slider", { style: `--without: var(--without-${link})` }),
    output = element("output");
  const bar = element("input", "", { type: "range", "data-name": name, ...range });
  bar.addEventListener("input", () => input(read(Number(bar.value))));
  bar.addEventListener("change", change);
  root.append(element("span", "name", {}, label), output, bar);
  return {
    element: root,
    show(value) {
      if (Math.abs(read(Number(bar.value)) - value) > 1e-9) bar.value = write(value);
      output.textContent = say(value);
      bar.setAttribute("aria-valuetext", output.textContent);
    },
  };
}

/** A number with a proper minus. */
export const minus = (value) => String(value).replace("-", "−");

const LOWEST = -2,
  HIGHEST = 2; // powers of ten

export const ALPHA = {
  range: { min: LOWEST - 0.05, max: HIGHEST, step: 0.05 },
  read: (place) => (place < LOWEST ? 0 : Number((10 ** place).toPrecision(3))),
  write: (alpha) => String(alpha <= 0 ? LOWEST - 0.05 : Math.log10(alpha)),
  say: (alpha) => `α = ${alpha}`,
};
