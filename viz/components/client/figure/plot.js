// @ts-check
// The numbers of a figure that plotly draws on a page. It gives a figure's element its `data` and `layout`, as they
// were sent (plotly.com/javascript/plotlyjs-events): our figures have lists of numbers, and escape what they write.

/** @typedef {import("./tables.js").Cell} Cell */
/** @typedef {import("./tables.js").Table} Table */
/** @typedef {any} Trace */
/** @typedef {{data: Trace[], layout: any}} Figure */

/** The text of plotly's little HTML. @param {unknown} text */
function plain(text) {
  const read = new DOMParser().parseFromString(String(text ?? ""), "text/html");
  for (const end of read.querySelectorAll("br")) end.replaceWith(" ");
  return read.body.textContent.trim();
}

/** @param {any} layout @param {Trace} trace */
function axesOf(layout, trace) {
  return ["x", "y"].map((letter) => layout[`${letter}axis${(trace[`${letter}axis`] ?? "").slice(1)}`]);
}

/**
 * The label at a place of an axis, if it has one there, else the place.
 *
 * @param {any} axis
 * @param {number} place
 * @returns {Cell}
 */
function tickName(axis, place) {
  const at = Array.from(axis?.tickvals ?? []).indexOf(place);
  return at >= 0 && axis.ticktext ? plain(axis.ticktext[at]) : place;
}

/** @param {any} axis */
function side({ title, type, range, autorange }) {
  const isReversed = autorange === "reversed" || (range && range[0] > range[1]);
  return { title: plain(title?.text), log: type === "log", reversed: Boolean(isReversed) };
}

/** A map: its rows from the top. @param {Trace} trace @param {any} layout @returns {Table} */
function ofMap(trace, layout) {
  const [across, down] = axesOf(layout, trace);
  return {
    kind: "map",
    title: plain(trace.name),
    columns: ["", ...trace.z[0].map((/** @type {unknown} */ _, /** @type {number} */ j) => tickName(across, j))],
    rows: trace.z.map((/** @type {number[]} */ row, /** @type {number} */ i) => [tickName(down, i), ...row]),
    x: { title: side(across).title },
    scale: [trace.zmin, trace.zmax],
  };
}

/**
 * Lines and points: a row for each point, under the name of its series.
 *
 * @param {Trace[]} traces
 * @param {any} layout
 * @returns {Table}
 */
function ofSeries(traces, layout) {
  const [x, y] = axesOf(layout, traces[0]).map(side),
    hasLabels = traces.some(({ customdata }) => customdata);
  const rows = traces.flatMap((trace) =>
    trace.x.map((/** @type {number} */ at, /** @type {number} */ i) => [
      plain(trace.name),
      ...(hasLabels ? [plain(trace.customdata?.[i])] : []),
      at,
      trace.y[i],
    ]),
  );
  return {
    kind: traces.some(({ mode }) => mode.includes("lines")) ? "lines" : "points",
    columns: ["", ...(hasLabels ? [""] : []), x.title, y.title],
    rows,
    x,
    y,
  };
}

/**
 * The tables of what is seen in a figure; a frame around a point is none of it.
 *
 * @param {Element} chart
 * @returns {Table[]}
 */
export function tablesOf(chart) {
  const figure = /** @type {Figure} */ (
    /** @type {unknown} */ ([...chart.querySelectorAll("div")].find((part) => "data" in part && "layout" in part))
  );
  const { data: traces, layout } = figure,
    visibleTraces = traces.filter(({ visible, hoverinfo }) => (visible ?? true) === true && hoverinfo !== "skip");
  const series = visibleTraces.filter(({ type }) => type !== "heatmap");
  return [
    ...visibleTraces.filter(({ type }) => type === "heatmap").map((trace) => ofMap(trace, layout)),
    ...(series.length ? [ofSeries(series, layout)] : []),
  ];
}
