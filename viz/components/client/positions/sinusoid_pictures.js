// The pictures of the sinusoid explorer. Each takes a canvas, the numbers and the page's colours, and draws at once.

import { image, line, start } from "../lib/canvas.js";
import { css, scoreColour } from "../lib/colour.js";
import { faint, levelTicks, uprightTicks } from "../plot/axes.js";
import { Cells } from "../plot/cells.js";
import { drawLine, drawSign } from "../plot/signs.js";

const EDGE = { left: 40, right: 10, top: 8, bottom: 22 };
const MOST = 1.05; // the end of an axis of values from -1 to 1

/** Axes around a box; ticks are [share of the way, words]. */
function axes({ context, width, height }, across, up) {
  const box = { x: EDGE.left, y: EDGE.top, w: width - EDGE.left - EDGE.right, h: height - EDGE.top - EDGE.bottom };
  const bottom = box.y + box.h,
    ticks = (axis) => ({
      marks: axis.map(([share]) => share),
      names: axis.map(([, words]) => words),
      opacity: () => 0,
    });
  faint(context, () => line(context, box.x, bottom, box.x + box.w, bottom), 0.35);
  faint(context, () => line(context, box.x, box.y, box.x, bottom), 0.35);
  uprightTicks(context, { ...ticks(across), top: box.y, bottom, x: (share) => box.x + share * box.w, most: width });
  levelTicks(context, { ...ticks(up), left: box.x, wide: box.w, y: (share) => bottom - share * box.h });
  return box;
}

/** Values from -1 to 1 as a line through the box. */
function curve(context, { x, y, w, h }, values, dash) {
  const last = Math.max(1, values.length - 1);
  const points = Array.from(values, (value, i) => [x + (i / last) * w, y + ((MOST - value) / (2 * MOST)) * h]);
  drawLine(context, points, dash);
}

/** Axes of values from -1 to 1 over positions. */
function overPositions(drawing, n) {
  const across = [
    [0, "0"],
    [0.5, String(Math.round((n - 1) / 2))],
    [1, String(n - 1)],
  ];
  const up = [
    [0, "−1"],
    [0.5, "0"],
    [1, "1"],
  ];
  return axes(drawing, across, up);
}

/** The cells of P that have a pixel of their own: of more, the screen would show as many, one here and one there. */
function visible(canvas, { n, d, rows }, colours) {
  const down = Math.min(n, canvas.height),
    across = Math.min(d, canvas.width);
  const columns = Uint32Array.from({ length: across }, (_, c) => Math.floor(((c + 0.5) * d) / across));
  let row = 0,
    at = 0;
  return image(down, across, () => {
    if (at === across) [row, at] = [row + 1, 0];
    return scoreColour(colours.scores, rows[Math.floor(((row + 0.5) * n) / down) * d + columns[at++]]);
  });
}

/** P: a row for each position, a column for each dimension; the chosen row and pairs are marked. Returns its cells. */
export function heatMap(canvas, { n, width: d, rows, at, pairs }, colours) {
  const drawing = start(canvas, colours),
    { context } = drawing;
  const box = axes(
    drawing,
    [
      [0, "0"],
      [1, String(d - 1)],
    ],
    [
      [1, "0"],
      [0, String(n - 1)],
    ],
  );
  context.imageSmoothingEnabled = false;
  context.drawImage(visible(canvas, { n, d, rows }, colours), box.x, box.y, box.w, box.h);
  const top = box.y + (at / n) * box.h,
    tall = Math.max(1.5, box.h / n);
  context.lineWidth = 1.5;
  context.strokeRect(box.x, top, box.w, tall);
  pairs.forEach((pair, place) => {
    context.fillStyle = css(colours.heads[place % colours.heads.length]);
    context.fillRect(box.x + ((2 * pair) / d) * box.w, 2, Math.max(3, (2 / d) * box.w), 5);
  });
  const { x: left, y: above, w, h } = box;
  return new Cells(context, colours, { left, top: above, rows: n, columns: d, w: w / d, h: h / n });
}

/** The chosen pairs as waves over positions: sine drawn through, cosine dashed. */
export function waves(canvas, { n, width: d, rows, at, pairs }, colours) {
  const drawing = start(canvas, colours),
    { context } = drawing;
  const box = overPositions(drawing, n);
  pairs.forEach((pair, place) => {
    context.strokeStyle = context.fillStyle = css(colours.heads[place % colours.heads.length]);
    context.lineWidth = 1.6;
    const valuesOf = (column) => Array.from({ length: n }, (_, i) => rows[i * d + column]);
    curve(context, box, valuesOf(2 * pair), "solid");
    curve(context, box, valuesOf(2 * pair + 1), "shortdash");
  });
  marker(context, box, at / Math.max(1, n - 1), colours);
}

function marker(context, box, share, colours) {
  [context.strokeStyle, context.lineWidth] = [colours.text, 1];
  faint(context, () => line(context, box.x + share * box.w, box.y, box.x + share * box.w, box.y + box.h), 0.6);
}

/** The wavelength of each pair, in positions, on a log axis; waves right of the line do not complete one period. */
export function wavelengths(canvas, { n, omega, base, pairs }, colours) {
  const drawing = start(canvas, colours),
    { context } = drawing;
  const from = Math.log10(2 * Math.PI),
    to = Math.max(from + 0.3, Math.log10(2 * Math.PI * base));
  const share = (wave) => (Math.log10(wave) - from) / (to - from);
  const end = 2 * Math.PI * base;
  /** @type {any[][]} */
  const ticks = [
    [0, "2π"],
    [1, `${short(base)}·2π`],
  ];
  for (let power = 1; 10 ** power < end; power++) {
    const place = share(10 ** power);
    if (place > 0.12 && place < 0.85) ticks.push([place, short(10 ** power)]);
  }
  ticks.sort(([a], [b]) => a - b);
  const box = axes(drawing, ticks, []);
  const y = (j) => box.y + ((j + 0.5) / omega.length) * box.h;
  omega.forEach((w, j) => {
    const slot = pairs.indexOf(j),
      x = box.x + share((2 * Math.PI) / w) * box.w;
    context.globalAlpha = slot < 0 ? 0.45 : 1;
    context.fillStyle = slot < 0 ? colours.text : css(colours.heads[slot % colours.heads.length]);
    drawSign(context, "circle", x, y(j), slot < 0 ? 3.2 : 8);
  });
  context.globalAlpha = 1;
  const place = share(n);
  if (place > 0 && place < 1) marker(context, box, place, colours);
}

/** The dot product of two rows against their distance. */
export function decay(canvas, { n, common }, colours) {
  const drawing = start(canvas, colours),
    { context } = drawing;
  const box = overPositions(drawing, n);
  faint(context, () => line(context, box.x, box.y + box.h / 2, box.x + box.w, box.y + box.h / 2), 0.3);
  [context.strokeStyle, context.lineWidth] = [css(colours.heads[0]), 1.8];
  curve(context, box, common, "solid");
}

/** A pair as the hand of a clock: its tip is (sin, cos), so it starts at 12 and goes round clockwise. */
export function clock(canvas, sine, cosine, hue, colours) {
  const { context, width, height } = start(canvas, colours);
  const [x, y, radius] = [width / 2, height / 2, Math.min(width, height) / 2 - 2];
  context.globalAlpha = 0.4;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  line(context, x, y - radius, x, y - radius + 4);
  context.globalAlpha = 1;
  context.strokeStyle = hue ? css(hue) : colours.text;
  context.lineWidth = hue ? 2.5 : 1.5;
  line(context, x, y, x + sine * radius, y - cosine * radius);
}

/** A counter's bits beside the sines of pairs that slow down like them, for the first positions. */
export function counter(canvas, { bits, sines, count, at }, colours) {
  const { context, width, height } = start(canvas, colours);
  const gap = 24,
    left = 28,
    columns = bits + sines.length,
    cell = (width - left - gap) / columns;
  const tall = (height - 4) / count;
  [context.textAlign, context.textBaseline] = ["right", "middle"];
  for (let i = 0; i < count; i++)
    if (i % 4 === 0 || tall > 12) context.fillText(String(i), left - 5, 2 + (i + 0.5) * tall);
  const squares = (left, columns, colour) =>
    new Cells(context, colours, { left, top: 2, rows: count, columns, w: cell, h: tall }).squares((at) =>
      colour(Math.floor(at / columns), at % columns),
    );
  squares(left, bits, (i, bit) => css(colours.positive, (i >> bit) & 1 ? 0.85 : 0.08));
  squares(left + bits * cell + gap, sines.length, (i, place) => {
    const value = sines[place][i];
    return css(value < 0 ? colours.negative : colours.positive, Math.abs(value));
  });
  if (at < count) {
    context.lineWidth = 1.5;
    context.strokeRect(left - 1, 1 + at * tall, width - left, tall + 1);
  }
}

export function short(number) {
  if (number >= 1e6) return `${+(number / 1e6).toPrecision(3)}M`;
  return number >= 1e4 ? `${+(number / 1e3).toPrecision(3)}k` : String(+number.toPrecision(4));
}
