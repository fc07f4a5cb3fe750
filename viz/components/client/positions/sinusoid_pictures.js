// The pictures of the sinusoid explorer: what its charts show (plot/lines.js), and maps and clocks that draw at once.

import { image, line, start } from "../lib/canvas.js";
import { css, scoreColour } from "../lib/colour.js";
import { levelTicks, uprightTicks } from "../plot/axes.js";
import { rowNames } from "../plot/axis_labels.js";
import { Cells } from "../plot/cells.js";
import { lineChart } from "../plot/lines.js";

const EDGE = { left: 40, right: 10, top: 8, bottom: 22 };
const WAVES = ["sin", "cos"],
  DASHES = ["solid", "shortdash"];

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
  const { context, width, height } = start(canvas, colours),
    { left, top } = EDGE,
    [wide, tall] = [width - left - EDGE.right, height - top - EDGE.bottom];
  const cells = new Cells(context, colours, { left, top, rows: n, columns: d, w: wide / d, h: tall / n }),
    ends = (count) => ({ marks: [0, 1], names: ["0", String(count - 1)], opacity: () => 0 });
  uprightTicks(context, { ...ends(d), top, bottom: top + tall, x: (share) => left + share * wide, most: width });
  levelTicks(context, { ...ends(n), left, wide, y: (share) => top + share * tall });
  cells.picture(visible(canvas, { n, d, rows }, colours), null, false);
  cells.edge();
  cells.mark({ query: at, key: null }, colours.text, 1.5);
  pairs.forEach((pair, place) => {
    context.fillStyle = css(hue(colours, place));
    context.fillRect(left + 2 * pair * cells.w, 2, Math.max(3, 2 * cells.w), 5);
  });
  return cells;
}

function hue({ heads }, place) {
  return heads[place % heads.length];
}

/** A chart of values from -1 to 1 over positions. */
function overPositions(n, lines, more) {
  const y = { limits: [-1.05, 1.05], ticks: [-1, 0, 1], grid: true },
    positions = Array.from({ length: n }, (_, i) => i);
  return lineChart({ lines: lines.map((of) => ({ x: positions, ...of })), x: { limits: [0, n - 1] }, y, ...more });
}

/** The chosen pairs as waves over positions: sine drawn through, cosine dashed. */
export function waves({ n, width, rows, at, pairs }, { alt }, colours) {
  const lines = pairs.flatMap((pair, place) =>
    WAVES.map((name, odd) => {
      const column = 2 * pair + odd,
        y = Array.from({ length: n }, (_, i) => rows[i * width + column]);
      return {
        name: `${name} ${pair}`,
        y,
        dash: DASHES[odd],
        colour: hue(colours, place),
        says: `p({x}, ${column}) = {y}`,
      };
    }),
  );
  return overPositions(n, lines, { marks: [{ x: at }], height: 190, grey: colours.grey, words: { alt } });
}

/** The wavelength of each pair, in positions, on a log axis; waves right of the line do not complete one period. */
export function wavelengths({ n, omega, base, pairs }, { alt, pair: says }, colours) {
  const [low, high] = [2 * Math.PI, 2 * Math.PI * base],
    end = Math.max(2 * low, high),
    share = (wave) => Math.log(wave / low) / Math.log(end / low);
  const ticks = [[low, "2π"]];
  for (let power = 1; 10 ** power < high; power++)
    if (share(10 ** power) > 0.12 && share(10 ** power) < 0.85) ticks.push([10 ** power, short(10 ** power)]);
  ticks.push([end, end === high ? `${short(base)}·2π` : ""]);
  const dots = (chosen, more) => ({
    x: chosen.map((j) => (2 * Math.PI) / omega[j]),
    y: chosen,
    dash: null,
    says: says.replaceAll("{pair", "{y").replaceAll("{wave", "{x"),
    ...more,
  });
  const rest = Array.from(omega.keys()).filter((j) => !pairs.includes(j));
  return lineChart({
    lines: [
      dots(rest, { colour: colours.grey, marker: 3.2 }),
      ...pairs.map((pair, place) => dots([pair], { colour: hue(colours, place), marker: 8 })),
    ],
    x: { log: true, limits: [low, end], ticks: ticks.map(([wave]) => wave), names: ticks.map(([, name]) => name) },
    y: { limits: [-0.5, omega.length - 0.5], reversed: true },
    marks: n > low && n < end ? [{ x: n, label: `n = ${n}` }] : [],
    height: 170,
    grey: colours.grey,
    words: { alt },
  });
}

/** The dot product of two rows against their distance. */
export function decay({ n, common }, { alt }, colours) {
  const lines = [{ y: Array.from(common), colour: hue(colours, 0) }];
  return overPositions(n, lines, { height: 170, grey: colours.grey, words: { alt } });
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
  rowNames(
    context,
    Array.from({ length: count }, (_, i) => String(i)),
    left,
    tall,
    2,
  );
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
