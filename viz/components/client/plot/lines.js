// Lines over an axis, with bands around them and marks laid over them.

import { line } from "../lib/canvas.js";
import { css } from "../lib/colour.js";
import { fill } from "../lib/dom.js";
import { AWAY, faint, levelTicks, TEXT, uprightTicks } from "./axes.js";
import { Chart, TITLE } from "./chart.js";
import { levelLabels } from "./labels.js";
import { scale } from "./scale.js";
import { drawBand, drawLine, drawSign } from "./signs.js";
import { formatBytes, formatNumber, tickNames } from "./ticks.js";

const APART = 16; // pixels between the labels of two marks
const COLUMN = 0.2; // how far right the second of two labels of level lines stands, as a share of the way
const MARGIN = 0.05,
  BAND = 0.15,
  FAINT = 0.45,
  THICK = 2; // what is left free beyond the values, the opacity of a band and of what is faint, a line's pixels

const AXIS = { title: "", log: false, grid: false, limits: null, ticks: null, from_zero: false, reversed: false };
const LINE = { name: "", dash: "solid", marker: 0, symbol: "circle", faint: false, says: "{x}: {y}", listed: true },
  MARK = { x: null, y: null, radius: null, label: "" };

/** The data of a chart that is made in the browser: what is left out is as Python's defaults (viz/figures/line_chart.py). */
export function lineChart({ lines, x, y, marks = [], ...more }) {
  const over = (defaults) => (part) => ({ ...defaults, ...part });
  return { ...more, lines: lines.map(over(LINE)), x: over(AXIS)(x), y: over(AXIS)(y), marks: marks.map(over(MARK)) };
}

export class Lines extends Chart {
  receive(data) {
    const numbers = (row) => row?.map((value) => value ?? NaN);
    this.every = data.lines.map((series) => ({
      ...series,
      x: numbers(series.x),
      y: numbers(series.y),
      low: numbers(series.low),
      high: numbers(series.high),
    }));
    this.keyed = data.legend ? this.every.filter(({ listed }) => listed) : [];
    super.receive(data);
  }

  series() {
    return this.keyed.map(({ name }) => name);
  }

  drawLegendKey(context, i, { width, height }) {
    this.#stroke(
      context,
      this.keyed[i],
      [
        [0, height / 2],
        [width, height / 2],
      ],
      [[width / 2, height / 2]],
    );
  }

  count() {
    return this.along.length;
  }

  choose() {
    this.seen = this.every.filter(({ name }) => !this.away.has(name));
    this.along = [
      ...new Set(this.#readable().flatMap(({ x, y }) => x.filter((at, i) => Number.isFinite(at + y[i])))),
    ].sort((a, b) => a - b);
    super.choose();
  }

  /** The visible lines whose values can be read. */
  #readable() {
    return this.seen.filter(({ says }) => says);
  }

  /** For the menu of the picture: a row for each point. */
  asTables() {
    const { x, y } = this.data,
      lines = this.#readable(),
      rows = lines.flatMap((series) => series.x.map((at, i) => [series.name, at, series.y[i]]));
    return [{ columns: ["", x.title, y.title], rows }];
  }

  measure(context, width) {
    const { x: across, y: up, height } = this.data,
      { every } = this; // the axes stay when a line is taken away
    const hasSigns = every.some(({ marker }) => marker > 0);
    const xs = scale(
      across,
      every.flatMap(({ x }) => x),
      hasSigns ? MARGIN / 2 : 0,
    );
    const ys = scale(
      up,
      every.flatMap(({ y, low, high }) => [...y, ...(low ?? []), ...(high ?? [])]),
      MARGIN,
    );
    [xs.names, ys.names] = [
      across.names ?? tickNames(xs.marks),
      up.in_bytes ? ys.marks.map(formatBytes) : tickNames(ys.marks),
    ];
    const room =
        Math.max(...ys.names.map((name) => context.measureText(name).width), 0) + 2 * AWAY + (up.title ? TITLE : 0),
      top = TEXT;
    const lowest = height - TEXT - 2 * AWAY - (across.title ? TITLE : 0),
      widest = width - room - 2 * AWAY,
      side = Math.min(widest, lowest - top);
    const [left, wide, bottom] = this.data.square
      ? [room + (widest - side) / 2, side, top + side]
      : [room, widest, lowest];
    return {
      left,
      bottom,
      wide,
      top,
      xs,
      ys,
      x: (value) => left + xs.share(value) * wide,
      y: (value) => bottom - ys.share(value) * (bottom - top),
    };
  }

  paint(context, colours) {
    this.#axes(context);
    this.titles(context, this.data.x.title, this.data.y.title);
    for (const series of this.seen) this.#series(context, series);
    this.#marks(context, colours);
    if (this.at !== null) this.#light(context, colours);
  }

  #axes(context) {
    const { left, bottom, wide, xs, ys } = this.place,
      { x: across, y: up } = this.data;
    levelTicks(context, { ...this.place, ...ys, opacity: () => (up.grid ? 0.15 : 0) });
    faint(context, () => line(context, left, bottom, left + wide, bottom));
    const most = left + wide + 2 * AWAY;
    uprightTicks(context, { ...this.place, ...xs, most, opacity: () => (across.grid ? 0.15 : 0) });
  }

  #stroke(context, { colour, dash, marker, symbol, faint: isFaint }, points, signs) {
    const ink = css(colour, isFaint ? FAINT : 1);
    [context.strokeStyle, context.fillStyle, context.lineWidth] = [ink, ink, THICK];
    if (dash) drawLine(context, points, dash);
    if (marker) for (const [x, y] of signs) if (Number.isFinite(x + y)) drawSign(context, symbol, x, y, marker);
  }

  #series(context, series) {
    const { x, y, left, bottom, wide, top } = this.place,
      points = series.x.map((at, i) => [x(at), y(series.y[i])]);
    context.save();
    context.beginPath();
    context.rect(left - AWAY, top - AWAY, wide + 2 * AWAY, bottom - top + 2 * AWAY);
    context.clip();
    if (series.low) {
      const edge = (values) =>
        series.x.map((at, i) => [x(at), y(values[i])]).filter(([, height]) => Number.isFinite(height));
      context.fillStyle = css(series.colour, BAND);
      drawBand(context, [...edge(series.high), ...edge(series.low).reverse()]);
    }
    this.#stroke(context, series, points, points);
    context.restore();
  }

  /** Upright and level lines, and dots, each with its label beside it. */
  #marks(context, colours) {
    const { left, bottom, wide, top, x, y } = this.place,
      { marks, grey } = this.data;
    [context.fillStyle, context.lineWidth] = [colours.text, 1.5];
    const write = (text, at, align, baseline) => {
      [context.textAlign, context.textBaseline] = [align, baseline];
      context.fillText(text, ...at);
    };
    for (const { radius } of marks.filter(({ radius }) => radius !== null)) {
      context.strokeStyle = css(grey, FAINT);
      context.beginPath();
      context.arc(x(0), y(0), x(radius) - x(0), 0, 2 * Math.PI);
      context.stroke();
    }
    context.strokeStyle = css(grey, 0.9);
    for (const mark of marks.filter((mark) => mark.x !== null && mark.y !== null)) {
      drawSign(context, "circle", x(mark.x), y(mark.y), 8);
      write(mark.label, [x(mark.x), y(mark.y) - AWAY], "center", "alphabetic");
    }
    marks
      .filter((mark) => mark.x !== null && mark.y === null)
      .forEach((mark, i) => {
        drawLine(
          context,
          [
            [x(mark.x), top],
            [x(mark.x), bottom],
          ],
          "dot",
        );
        const isRight = x(mark.x) > left + wide / 2; // the label stands on the side of the middle
        write(
          mark.label,
          [x(mark.x) + (isRight ? -AWAY / 2 : AWAY / 2), top + APART * i],
          isRight ? "right" : "left",
          "top",
        );
      });
    const levels = marks.filter((mark) => mark.x === null && mark.y !== null),
      heights = levels.map((mark) => y(mark.y));
    levelLabels(heights).forEach(({ isAbove, column }, i) => {
      drawLine(
        context,
        [
          [left, heights[i]],
          [left + wide, heights[i]],
        ],
        "dot",
      );
      write(
        levels[i].label,
        [left + AWAY + COLUMN * wide * column, heights[i] + (isAbove ? -AWAY / 2 : AWAY / 2)],
        "left",
        isAbove ? "alphabetic" : "top",
      );
    });
  }

  #light(context, colours) {
    const { bottom, top, x, y } = this.place,
      at = this.along[this.at];
    [context.strokeStyle, context.lineWidth] = [colours.text, 1];
    faint(context, () => line(context, x(at), top, x(at), bottom), 0.4);
    for (const [series, value] of this.#there(at)) {
      context.fillStyle = css(series.colour);
      drawSign(context, "circle", x(at), y(value), 8);
    }
  }

  /** The lines that have a value at a place, each with it. */
  #there(at) {
    return this.#readable()
      .map((series) => [series, series.y[series.x.indexOf(at)]])
      .filter(([, value]) => Number.isFinite(value));
  }

  /** The nearest place with a value; null beside the lines. */
  under([across, down]) {
    const { left, bottom, wide, top, x } = this.place;
    if (!this.along.length || across < left - AWAY || across > left + wide + AWAY || down > bottom || down < top)
      return null;
    const far = this.along.map((at) => Math.abs(x(at) - across));
    return far.indexOf(Math.min(...far));
  }

  read(at) {
    const place = this.along[at],
      there = this.#there(place),
      { x, y } = this.place,
      { in_bytes } = this.data.y;
    const short = (value) => formatNumber(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
    const sentences = there.map(([series, value]) => {
      const text = fill(series.says, { x: short(place), y: in_bytes ? formatBytes(value) : short(value) });
      return this.seen.length > 1 && series.name ? `${series.name}: ${text}` : text;
    });
    return { text: sentences.join("\n"), x: x(place), y: Math.min(...there.map(([, value]) => y(value))) };
  }
}
