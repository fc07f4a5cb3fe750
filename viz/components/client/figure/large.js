// @ts-check
// The numbers of a picture as Python takes them for a large figure (viz/frame/large_figure).

/** @typedef {import("./tables.js").Cell} Cell @typedef {import("./tables.js").Table} Table */
/** @typedef {{kind: string, names: Cell[], notes: string[], columns: Cell[], values: number[][]}} Split */

const COVER_SIGN = "?"; // of a number that a lesson's open question covers
const AXIS = { title: "", log: false, reversed: false, in_bytes: false };
const CHUNK = 0x8000; // arguments of one call

/** @param {Cell} cell */
const isText = (cell) => typeof cell === "string" && cell !== COVER_SIGN;
/** @param {Cell} cell */
const asNumber = (cell) => (typeof cell === "number" ? cell : NaN);

/**
 * Names, what else is written beside them, and numbers. A single row or column of numbers is a chart of bars.
 *
 * @param {Table} table
 * @returns {Split}
 */
function split({ kind, columns, rows }) {
  const width = Math.max(columns.length, ...rows.map((row) => row.length)), // a table's first row may be shorter
    rest = Array.from({ length: width }, (_, j) => j).slice(1),
    texts = rest.filter((j) => rows.some((row) => isText(row[j])) && !rows.some((row) => Number.isFinite(row[j]))),
    numbers = rest.filter((j) => !texts.includes(j));
  const table = {
    kind: kind ?? (texts.length || numbers.length === 1 ? "bars" : "map"),
    names: rows.map(([name]) => name),
    notes: rows.map((row) => texts.map((j) => String(row[j] ?? "")).join(" · ")),
    columns: numbers.map((j) => columns[j]),
    values: rows.map((row) => numbers.map((j) => asNumber(row[j]))),
  };
  if (table.kind !== "map" || rows.length !== 1) return table;
  const [names, [row]] = [table.columns, table.values];
  return { kind: "bars", names, notes: names.map(() => ""), columns: table.names, values: row.map((value) => [value]) };
}

/** Equal neighbours in one: a line has its name at each of its points. @param {Cell[]} texts */
function runs(texts) {
  /** @type {[string, number][]} */
  const pairs = [];
  for (const text of texts) {
    const last = pairs.at(-1);
    if (last && last[0] === String(text ?? "")) last[1]++;
    else pairs.push([String(text ?? ""), 1]);
  }
  return pairs;
}

/** @param {Uint8Array | Uint16Array | Float32Array | Float64Array} numbers */
function base64({ buffer }) {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/**
 * Every number exactly, in as few bytes as that takes: all, or the different ones and where each stands.
 *
 * @param {number[]} numbers
 */
function packBytes(numbers) {
  const isSingle = numbers.every((value) => Object.is(Math.fround(value), value)),
    size = isSingle ? 4 : 8,
    floats = isSingle ? Float32Array : Float64Array;
  const places = new Map([...new Set(numbers)].map((value, i) => [value, i])),
    codes = places.size <= 0x100 ? Uint8Array : Uint16Array,
    isCoded =
      places.size <= 0x10000 && places.size * size + numbers.length * codes.BYTES_PER_ELEMENT < numbers.length * size;
  return {
    size,
    values: base64(floats.from(isCoded ? places.keys() : numbers)),
    codes: isCoded ? base64(codes.from(numbers.map((value) => places.get(value) ?? 0))) : "",
  };
}

/** The tables that have numbers. @param {Table[]} tables */
export function numberedTables(tables) {
  return tables.filter(({ rows }) => rows.some((row) => row.slice(1).some(Number.isFinite)));
}

/** Tables as they are sent; those without a number are left out. @param {Table[]} tables */
export function packTables(tables) {
  return numberedTables(tables)
    .map((table) => ({ table, parts: split(table) }))
    .filter(({ parts }) => parts.values.some((row) => row.some(Number.isFinite)))
    .map(({ table: { title, x, y, dots, scale }, parts: { kind, names, notes, columns, values } }) => ({
      kind,
      title: title ?? "",
      x: { ...AXIS, ...x },
      y: { ...AXIS, ...y },
      dots: dots ?? [],
      scale: scale ?? null,
      names: runs(names),
      notes: runs(notes),
      columns: columns.map((name) => String(name ?? "")),
      ...packBytes(values.flat()),
    }));
}

/**
 * The tables that may be sent together, without the largest if that are too many; the names of those; and how many
 * numbers there may be.
 *
 * @param {ReturnType<typeof packTables>} tables
 * @param {{most: number, room: number, free: number}} limits bytes of numbers; of a message; and of a message's link,
 *     with its texts once more in their boxes, as far as that takes no room
 * @param {number} link bytes of the link
 */
export function fitting(tables, { most, room, free }, link) {
  const bytes = (/** @type {{values: string, codes: string}} */ { values, codes }) =>
    ((values.length + codes.length) * 3) / 4;
  const included = [...tables],
    omitted = [];
  const left = room - Math.max(0, 2 * link - free);
  const length = () => new TextEncoder().encode(JSON.stringify(included)).length;
  while (included.length && (included.reduce((sum, table) => sum + bytes(table), 0) > most || length() > left)) {
    const largest = included.reduce((a, b) => (bytes(b) > bytes(a) ? b : a));
    omitted.push(...included.splice(included.indexOf(largest), 1).map(({ title }) => title));
  }
  return { sent: included, left: omitted, n: Math.floor(Math.min(most, (left * 3) / 4) / 4) };
}
