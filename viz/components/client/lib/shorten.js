// @ts-check

/**
 * A label cut to the room there is for it, with a sign that it was.
 *
 * @param {CanvasRenderingContext2D} context whose font it is written in
 * @param {string} text
 * @param {number} room in pixels
 */
export function shorten(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  // A letter keeps its marks.
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  while (characters.length > 1 && context.measureText(`${characters.join("")}…`).width > room) characters.pop();
  return `${characters.join("")}…`;
}
