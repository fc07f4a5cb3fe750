// @ts-check
// The numbers of a figure that plotly draws on a page. It gives a figure's element its `data` and `layout`, as they
// were sent (plotly.com/javascript/plotlyjs-events): our figures have lists of numbers, and escape what they write.

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
 * Lines and points: a row for each point, under the name of its series.
 *
 * @param {Trace[]} traces
 * @param {any} layout
 * @returns {Table}
 */
function ofSeries(traces, layout) {
  const [x, y] = axesOf(layout, traces[0]).map(({ title }) => plain(title?.text)),
    hasLabels = traces.some(({ customdata }) => customdata);
  const rows = traces.flatMap((trace) =>
    trace.x.map((/** @type {number} */ at, /** @type {number} */ i) => [
      plain(trace.name),
      ...(hasLabels ? [plain(trace.customdata?.[i])] : []),
      at,
      trace.y[i],
    ]),
  );
  return { columns: ["", ...(hasLabels ? [""] : []), x, y], rows };
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
  return visibleTraces.length ? [ofSeries(visibleTraces, layout)] : [];
}
