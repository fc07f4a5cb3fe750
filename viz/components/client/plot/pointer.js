// Reading a picture off: by pointing at a place, or by going there with the arrow keys.

import { walkCells } from "../lib/dom.js";
import { place } from "../lib/place.js";

/**
 * Follow the pointer and the keys over a picture. A cell is [row, column].
 *
 * @param {HTMLElement} picture
 * @param {HTMLElement} canvas
 * @param {{under: (point: [number, number]) => any, from: () => {at: number[] | null, size: number[]},
 *   look: (cell: any) => void, walk: (cell: any) => void, choose?: (cell: any) => void}} acts `under` gives the cell at
 *   a point or null, `from` the one that is looked at and how many there are; `look` reads one off or none, `walk`
 *   reads it out, too, and `choose` is what a click and Enter do
 */
export function readOff(picture, canvas, { under, from, look, walk, choose = () => {} }) {
  const at = (event) => under(place(canvas, event)) ?? null;
  for (const name of ["pointermove", "pointerdown"]) picture.addEventListener(name, (event) => look(at(event)));
  for (const name of ["pointerleave", "blur"]) picture.addEventListener(name, () => look(null));
  picture.addEventListener("click", (event) => choose(at(event)));
  picture.addEventListener("keydown", (event) => {
    const { at: cell } = from();
    if (event.key === "Enter" && cell) choose(cell);
  });
  walkCells(picture, from, walk);
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
