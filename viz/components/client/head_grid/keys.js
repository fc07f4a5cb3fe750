// The keyboard: arrows walk the heads of the wall, or the cells of the large map.

import { ARROWS } from "../lib/dom.js";

export function walkWall(grid, event) {
  const button = event.target.closest?.(".thumb");
  if (!button || !(event.key in ARROWS)) return;
  event.preventDefault();
  const columns = getComputedStyle(button.closest(".heads")).gridTemplateColumns.split(" ").length;
  grid.thumbs.walk(button, event.key, button.closest(".sorted") ? columns : columns - 1); // one holds the layer's name
}

export function walkMap(grid, event) {
  if (!grid.map) return;
  const step = ARROWS[event.key],
    { layer, head } = grid.choice;
  if (step && event.shiftKey) grid.choose(layer + step[0], head + step[1], 150);
  else if (step) walkCells(grid, step);
  else if ((event.key === "Enter" || event.key === " ") && grid.hover) grid.lock(grid.hover);
  else if (event.key === "+" || event.key === "=") grid.large.zoomBy(1.5);
  else if (event.key === "-") grid.large.zoomBy(1 / 1.5);
  else if (event.key === "0") grid.large.zoomBy(0);
  else return;
  event.preventDefault();
}

function walkCells(grid, [down, right]) {
  const { map, locked } = grid,
    clamp = (place, count) => Math.max(0, Math.min(count - 1, place));
  const from = grid.cursor ?? { query: locked.query ?? 0, key: locked.key ?? 0 };
  grid.cursor = { query: clamp(from.query + down, map.rows), key: clamp(from.key + right, map.columns) };
  grid.large.reveal(grid.cursor);
  grid.hover = grid.cursor;
  grid.light();
  grid.say();
}
