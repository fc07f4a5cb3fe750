// Reading a picture off: by pointing at a place, or by going there with the arrow keys.

import { element, walkCells } from "../lib/dom.js";
import { place } from "../lib/place.js";

/**
 * @typedef {object} Acts of a picture; a cell is [row, column]
 * @property {(point: [number, number]) => any} under the cell at a point, or null
 * @property {() => {at: number[] | null, size: number[]}} from the cell that is looked at, and how many there are
 * @property {(cell: any) => void} look read a cell off, or none
 * @property {() => void} [say] read out what was read off by the keys
 * @property {(cell: any) => void} [choose] a click, or Enter
 */

/** A canvas that is read off, in a box that takes the focus. @param {Acts} acts */
export function readable(
  acts,
  tag = "div",
  attributes = /** @type {object} */ ({ role: "application", tabindex: "0" }),
) {
  const picture = element(tag, "picture", attributes),
    canvas = element("canvas");
  picture.append(canvas);
  readOff(picture, canvas, acts);
  return { picture, canvas };
}

/**
 * Follow the pointer and the keys over a picture.
 *
 * @param {HTMLElement} picture
 * @param {HTMLElement} canvas
 * @param {Acts} acts
 */
export function readOff(picture, canvas, { under, from, look, say = () => {}, choose = () => {} }) {
  const at = (event) => under(place(canvas, event)) ?? null;
  for (const name of ["pointermove", "pointerdown"]) picture.addEventListener(name, (event) => look(at(event)));
  for (const name of ["pointerleave", "blur"]) picture.addEventListener(name, () => look(null));
  picture.addEventListener("click", (event) => choose(at(event)));
  picture.addEventListener("keydown", (event) => {
    const { at: cell } = from();
    if (event.key === "Enter" && cell) choose(cell);
  });
  walkCells(picture, from, (cell) => {
    look(cell);
    say();
  });
}

const APART = 5; // pixels between a tip and its place

/**
 * Show a tip above a place of a picture, or below its `bottom`, if it has one, where there is no room; without a text
 * or a place it is hidden.
 */
export function showTip(tip, text, place) {
  tip.hidden = !text || !place;
  tip.textContent = text;
  if (tip.hidden) return;
  const { x, top, bottom } = place,
    free = tip.parentElement.clientWidth - tip.offsetWidth,
    above = top - tip.offsetHeight - APART;
  tip.style.left = `${Math.max(0, Math.min(free, x - tip.offsetWidth / 2))}px`;
  tip.style.top = `${above >= 0 || bottom === undefined ? Math.max(0, above) : bottom + APART}px`;
}
