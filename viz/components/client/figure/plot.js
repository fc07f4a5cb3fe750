// @ts-check
// What a figure of plotly holds: its numbers as they were sent, with the names it writes beside them.

/** @typedef {import("./tables.js").Cell} Cell */
/** @typedef {import("./tables.js").Table} Table */
/** @typedef {any} Trace plotly's own, as it filled it in @typedef {any} Layout */

/** Text as plotly was given it, which reads a little HTML: our figures escape what they write. @param {unknown} text */
function plain(text) {
  const read = new DOMParser().parseFromString(String(text ?? ""), "text/html");
  for (const end of read.querySelectorAll("br")) end.replaceWith(" ");
  return read.body.textContent.trim();
}

/** @param {any} axis */
function title(axis) {
  return plain(axis?.title?.text ?? "");
}

/**
 * What stands at a place of an axis: its label, if it has one there, else the number.
 *
 * @param {any} axis
 * @param {unknown} value
 * @returns {Cell}
 */
function named(axis, value) {
  const at = Array.from(axis?.tickvals ?? []).indexOf(value);
  return at >= 0 && axis.ticktext ? plain(axis.ticktext[at]) : typeof value === "number" ? value : plain(value);
}

/** @param {Layout} layout @param {Trace} trace */
function axesOf(layout, trace) {
  return ["x", "y"].map((letter) => layout[`${letter}axis${(trace[`${letter}axis`] ?? "").slice(1)}`]);
}

/** @param {unknown} value @returns {Cell} */
function asNumber(value) {
  return typeof value === "number" ? value : value === null || value === undefined ? null : plain(value);
}

/** A map: its rows from the top. @param {Trace} trace @param {Layout} layout @returns {Table} */
function ofMap(trace, layout) {
  const [across, down] = axesOf(layout, trace),
    first = Array.from(trace.z[0] ?? []);
  const names = (/** @type {any} */ axis, /** @type {any} */ values, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, i) => named(axis, values ? values[i] : i));
  const columns = names(across, trace.x, first.length),
    rows = names(down, trace.y, trace.z.length);
  return {
    title: plain(trace.name),
    columns: ["", ...columns],
    rows: rows.map((name, i) => [name, ...Array.from(trace.z[i], asNumber)]),
  };
}

/**
 * Bars, lines and points: a row for each, under the name of its series.
 *
 * @param {Trace[]} traces
 * @param {Layout} layout
 * @returns {Table}
 */
function ofSeries(traces, layout) {
  const [across, up] = axesOf(layout, traces[0]);
  const rows = traces.flatMap((trace) =>
    Array.from(trace.x, (/** @type {unknown} */ x, /** @type {number} */ i) => {
      const label =
        Array.isArray(trace.customdata) && typeof trace.customdata[i] === "string"
          ? plain(trace.customdata[i])
          : named(across, x);
      return [plain(trace.name ?? trace.legendgroup), label, asNumber(trace.y[i])];
    }),
  );
  return { columns: ["", title(across), title(up)], rows };
}

/**
 * The tables of a figure, of what is seen in it.
 *
 * @param {{_fullData: Trace[], _fullLayout: Layout}} figure
 * @returns {Table[]}
 */
export function tablesOf({ _fullData: traces, _fullLayout: layout }) {
  const seen = traces.filter((trace) => trace.visible === true && trace.marker?.opacity !== 0);
  const series = seen.filter(({ type, x, y }) => type !== "heatmap" && x && y);
  return [
    ...seen.filter(({ type }) => type === "heatmap").map((trace) => ofMap(trace, layout)),
    ...(series.length ? [ofSeries(series, layout)] : []),
  ];
}
