// One row of two maps as paired bars: for every slot what the first text has there, and the second. Where one of them
// has no such token, its half is hatched.

import { start, stripes } from "../lib/canvas.js";
import { css } from "../lib/colour.js";
import { levelTicks } from "../plot/axes.js";
import { columnNames } from "../plot/axis_labels.js";

const MARGIN_LEFT = 44,
  BELOW = 76,
  ABOVE = 8;

/** Draw row `query` of both maps; `hovered` is the slot under the pointer. Gives where the slots are: {left, cell}. */
export function drawBars(canvas, maps, query, hovered, labels, colours, hues) {
  const { context, width, height } = start(canvas, colours),
    n = maps[0].columns;
  const cell = (width - MARGIN_LEFT) / n,
    floor = height - BELOW,
    high = floor - ABOVE;
  const rows = maps.map(({ values, masked }) => ({
    values: values.subarray(query * n, (query + 1) * n),
    masked: masked?.subarray(query * n, (query + 1) * n),
  }));
  const top = Math.max(1e-30, ...rows.map(({ values }) => values.reduce((most, value) => Math.max(most, value), 0)));
  const shares = [0, 0.5, 1],
    names = shares.map((share) => (share * top).toPrecision(2).replace(/^0\.0$/, "0"));
  const y = (share) => floor - share * high;
  levelTicks(context, {
    left: MARGIN_LEFT,
    wide: width - MARGIN_LEFT,
    y,
    marks: shares,
    names,
    opacity: (share) => (share ? 0.15 : 0.5),
  });
  if (hovered !== null) {
    context.globalAlpha = 0.12;
    context.fillRect(MARGIN_LEFT + hovered * cell, ABOVE, cell, high);
    context.globalAlpha = 1;
  }
  const thick = cell * 0.4;
  rows.forEach(({ values, masked }, which) => {
    for (let slot = 0; slot < n; slot++) {
      const x = MARGIN_LEFT + slot * cell + cell * 0.1 + which * thick;
      if (masked?.[slot]) hatch(context, x, ABOVE, thick, high);
      context.fillStyle = css(hues[which]);
      const tall = masked?.[slot] ? 0 : (values[slot] / top) * high;
      context.fillRect(x, floor - tall, thick, tall);
    }
  });
  context.fillStyle = colours.text;
  columnNames(context, labels, MARGIN_LEFT, floor, BELOW, cell, "below");
  return { left: MARGIN_LEFT, cell };
}

function hatch(context, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.globalAlpha = 0.25;
  stripes(context, x, y, width, height);
  context.restore();
}
