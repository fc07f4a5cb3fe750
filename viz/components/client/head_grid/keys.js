// The keyboard of the large map: arrows walk its cells.

import { moveCell } from "../lib/clamp.js";
import { ARROWS } from "../lib/dom.js";

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

function walkCells(grid, step) {
  const { map, locked } = grid,
    from = grid.cursor ?? { query: locked.query ?? 0, key: locked.key ?? 0 };
  const [query, key] = moveCell([from.query, from.key], step, [map.rows, map.columns]);
  grid.cursor = grid.hover = { query, key };
  grid.large.reveal(grid.cursor);
  grid.light();
  grid.say();
}
