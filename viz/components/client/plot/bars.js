// Bars: a number for each name, of one series or several side by side.

import { stripes } from "../lib/canvas.js";
import { isolateAll } from "../lib/direction.js";
import { css, theme } from "../lib/colour.js";
import { answerCells, coveredCells, drawCover, drawAnswer } from "../lib/covers.js";
import { columnNames } from "./axis_labels.js";
import { AWAY, faint, levelTicks, TEXT } from "./axes.js";
import { Chart, TITLE } from "./chart.js";
import { formatNumber, tickNames, ticks } from "./ticks.js";

const NAMES = 90; // pixels: at most for names that stand upright
const GAP = 0.2; // the share of a place that is left free
const LEAST = 0.001; // what is smaller has too few digits behind the point

export class Bars extends Chart {
  covered;
  answers;

  receive(data) {
    this.areCounts = data.values.every((value) => Number.isInteger(value) || Number.isNaN(value));
    [this.covered, this.answers] = [coveredCells(data.covers), answerCells(data.covers)];
    super.receive(data);
  }

  series() {
    return this.data.series.length > 1 ? this.data.series : [];
  }

  drawLegendKey(context, i, { width, height }) {
    context.fillStyle = this.#hue(i, 0);
    context.fillRect(0, 0, width, height);
  }

  count() {
    return this.data.labels.length;
  }

  #hue(series, at) {
    const { hues, colours } = this.data;
    return css(colours ? colours[at] : hues[series % hues.length], 0.9);
  }

  #value(series, at) {
    return this.data.values[series * this.data.labels.length + at];
  }

  /** For the menu of the picture. */
  asTables() {
    const { labels, series, title } = this.data;
    return [
      {
        columns: [title, ...series],
        rows: labels.map((label, at) => [label, ...series.map((_, i) => this.#value(i, at))]),
      },
    ];
  }

  measure(context, width) {
    const { labels, values, top: most, height, title, value_title: upright } = this.data,
      finite = values.filter(Number.isFinite);
    const low = Math.min(0, ...finite),
      above = most ?? Math.max(0, ...finite),
      high = above > low ? above : 1,
      marks = ticks(low, high),
      names = tickNames(marks);
    const wide = (text) => context.measureText(text).width;
    const left = Math.max(...names.map(wide)) + 2 * AWAY + (upright ? TITLE : 0),
      w = (width - left - AWAY) / labels.length;
    const longest = labels.reduce((longest, label) => Math.max(longest, wide(label)), 0),
      level = longest + AWAY <= w;
    const room = level ? TEXT + 2 * AWAY : Math.min(longest + 3 * AWAY, NAMES),
      bottom = height - room - (title ? TITLE : 0),
      top = TEXT;
    return {
      left,
      w,
      marks,
      names,
      level,
      room,
      bottom,
      top,
      wide: w * labels.length,
      y: (value) => top + ((high - value) / (high - low)) * (bottom - top),
    };
  }

  paint(context) {
    const { left, w, top, bottom } = this.place,
      { title, value_title: upright } = this.data;
    if (this.at !== null) faint(context, () => context.fillRect(left + this.at * w, top, w, bottom - top), 0.1);
    levelTicks(context, { ...this.place, opacity: (mark) => (mark === 0 ? 0.5 : 0.15) });
    context.save();
    this.#bars(context);
    context.restore();
    this.#tell(context);
    this.#names(context);
    this.titles(context, title, upright);
  }

  #bars(context) {
    const { left, w, y, top, bottom } = this.place,
      { labels, series, hatches } = this.data, // `hatches`: a place without a number is hatched, not left free
      thick = ((1 - GAP) * w) / series.length;
    series.forEach((name, i) =>
      labels.forEach((_, at) => {
        const value = this.#value(i, at),
          cell = i * labels.length + at,
          x = left + (at + GAP / 2) * w + i * thick;
        if (this.away.has(name)) return;
        if (this.covered.has(cell)) drawCover(context, theme(this.root), x, top, thick, bottom - top);
        if (hatches && !Number.isFinite(value)) hatch(context, x, top, thick, bottom - top);
        if (!Number.isFinite(value)) return;
        context.fillStyle = this.#hue(i, at);
        context.fillRect(x, Math.min(y(0), y(value)), thick, Math.abs(y(value) - y(0)));
      }),
    );
  }

  /** The numbers that were covered, over their bars; of many, the largest. */
  #tell(context) {
    const { left, w, y } = this.place,
      { labels, series, values } = this.data,
      thick = ((1 - GAP) * w) / series.length;
    const labelled = [...this.answers].sort((a, b) => values[b] - values[a]).slice(0, this.answers.size > 3 ? 1 : 3);
    for (const cell of labelled) {
      const i = Math.floor(cell / labels.length),
        at = cell % labels.length;
      const text = this.areCounts ? formatNumber(values[cell]) : values[cell].toFixed(2).replace("-", "−");
      drawAnswer(
        context,
        theme(this.root),
        text,
        left + (at + GAP / 2) * w + (i + 0.5) * thick,
        Math.max(TEXT, y(values[cell]) - 10),
      );
    }
  }

  #names(context) {
    const { left, w, bottom, room, level } = this.place,
      { labels } = this.data;
    if (!level) return columnNames(context, labels, left, bottom, room, w, "below");
    [context.textAlign, context.textBaseline] = ["center", "top"];
    isolateAll(labels).forEach((label, at) => context.fillText(label, left + (at + 0.5) * w, bottom + AWAY));
  }

  under([x, y]) {
    const { left, w, bottom } = this.place,
      at = Math.floor((x - left) / w);
    return at >= 0 && at < this.count() && y <= bottom ? at : null;
  }

  read(at) {
    const { labels, series } = this.data,
      { left, w, y } = this.place,
      visible = series.map((name, i) => [name, i]).filter(([name]) => !this.away.has(name));
    const values = visible.map(([name, i]) => (series.length > 1 ? `${name} ${this.#read(i, at)}` : this.#read(i, at)));
    const heights = visible.map(([, i]) => y(this.#value(i, at) || 0));
    return { text: `${labels[at]}: ${values.join(" · ")}`, x: left + (at + 0.5) * w, y: Math.min(y(0), ...heights) };
  }

  /** A value as it is read off: four digits behind the point, or, of what is smaller than these show, four in all. */
  #read(series, at) {
    const value = this.#value(series, at),
      isSmall = value !== 0 && Math.abs(value) < LEAST;
    if (this.covered.has(series * this.data.labels.length + at)) return `? (${this.data.covers.word})`;
    if (!Number.isFinite(value)) return "–";
    return this.areCounts || isSmall ? formatNumber(Number(value.toPrecision(4))) : value.toFixed(4).replace("-", "−");
  }
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
