// @ts-check

/**
 * The pointer's position in the element's own pixels: while a page is presented, pictures are enlarged.
 *
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 * @returns {[number, number]}
 */
export function place(element, event) {
  const box = element.getBoundingClientRect(),
    zoom = zoomOf(element);
  return [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
}

/** The CSS zoom of an element. @param {Element & {currentCSSZoom?: number}} element */
export function zoomOf(element) {
  return element.currentCSSZoom ?? 1;
}

/** The dots of the screen, or on paper of a printer, for one of an element's pixels. @param {Element} element */
export function dotsOf(element) {
  const isPaper = getComputedStyle(element).getPropertyValue("--paper");
  return Math.max((window.devicePixelRatio || 1) * zoomOf(element), isPaper ? 3 : 0);
}
