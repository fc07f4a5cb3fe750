// @ts-check

/**
 * Where a pointer is on an element, in the element's own pixels: in front of a class a picture is shown enlarged.
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

/** How much larger than its own pixels say an element is shown. @param {Element & {currentCSSZoom?: number}} element */
export function zoomOf(element) {
  return element.currentCSSZoom ?? 1;
}
