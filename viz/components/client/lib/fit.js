// @ts-check
// The height of a picture, so that all of it is on the first screen: from its top to the bottom of the window. A style
// sheet decides where, by properties that views inherit:
//   --fit: 1          fit pictures into the window; elsewhere (paper, somebody else's page, a notebook) they keep their
// size
//   --fit-below: 3rem  room to keep free at the bottom of the window, in the window's pixels
//   --fit-more: 1.2   how many times as much room a picture has by being drawn smaller than its width asks for: it isn't told
//   --paper-high: 250  pixels that a picture has on a sheet of several
//   --fit-times: 3    how many times as large as on a desk a row or a chart may be, where there is room

import { zoomOf } from "./place.js";

const LEAST = 11; // pixels of a row whose label can still be read
const EDGE = 8; // pixels between a picture and the bottom of the window

/**
 * @typedef {{room: number, window: number, times: number}} Room in the element's pixels; `window` is a whole window's
 */
/** @typedef {{height: number, rows?: number, around?: number, least?: number}} Sizing */

/**
 * The room that an element has below its top while the page is not scrolled.
 *
 * @param {HTMLElement} element
 * @returns {Room}
 */
export function roomOf(element) {
  const style = getComputedStyle(element);
  /** @param {string} name @param {number} fallback */
  const property = (name, fallback) => parseFloat(style.getPropertyValue(name)) || fallback;
  const high = property("--paper-high", 0);
  if (high) return { room: high, window: high, times: 1 };
  if (property("--fit", 0) !== 1 || property("--paper", 0) === 1) return { room: Infinity, window: Infinity, times: 1 };
  const scroller = document.querySelector("[data-testid=stMain]") ?? document.scrollingElement;
  const zoom = zoomOf(element) * property("--fit-more", 1),
    bottom = document.documentElement.clientHeight - property("--fit-below", EDGE);
  const top = element.getBoundingClientRect().top + (scroller?.scrollTop ?? 0);
  return { room: (bottom - top) / zoom, window: bottom / zoom, times: property("--fit-times", 1) };
}

/** The inputs of a picture's size, for `Size`: its width and the room below its top. @param {HTMLElement} element */
export function placeOf(element) {
  return [element.clientWidth, Math.round(roomOf(element).room)];
}

/**
 * The height of a row: the default, or less where the whole picture then is on the first screen. A picture that begins
 * too low for that fits into a window that is scrolled to it.
 *
 * @param {HTMLElement} element where the picture begins
 * @param {Sizing} wanted `height`: of a row on a desk; `around`: above and below the rows; `least`: of a row
 */
export function fitRow(element, { height, rows = 1, around = 0, least = LEAST }) {
  const { room, window, times } = roomOf(element),
    most = height * times,
    lowest = Math.min(least, height);
  if (room === Infinity) return height;
  const fits = (/** @type {number} */ space) => Math.floor(((space - around) / rows) * 4) / 4;
  return Math.min(most, fits(room) >= lowest ? fits(room) : Math.max(lowest, fits(window)));
}

/** The same of a chart, which has no rows. @param {HTMLElement} element @param {Sizing} sizing */
export function fitHeight(element, sizing) {
  return fitRow(element, { least: sizing.height * 0.6, ...sizing });
}

/**
 * Call when the room may have changed: another window, or something above. Returns a function that ends it.
 *
 * @param {() => void} call
 */
export function watchRoom(call) {
  let frame = 0;
  const later = () => {
    cancelAnimationFrame(frame);
    // Not at once: a picture that changes its height would report it in the same frame.
    frame = requestAnimationFrame(call);
  };
  const block = document.querySelector(".stMainBlockContainer"),
    watch = block && new ResizeObserver(later);
  watch?.observe(/** @type {Element} */ (block));
  addEventListener("resize", later);
  return () => {
    cancelAnimationFrame(frame);
    watch?.disconnect();
    removeEventListener("resize", later);
  };
}
