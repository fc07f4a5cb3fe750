// @ts-check
// The numbers of a picture as text: for a spreadsheet, or for a page of Markdown.

/** @typedef {string | number | null} Cell a name, a number as it is, or nothing */
/**
 * @typedef {object} Table a first row of names, and the rows below it
 * @property {string} [title]
 * @property {Cell[]} columns
 * @property {Cell[][]} rows
 */

const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/; // what a spreadsheet takes for the beginning of a formula (OWASP, CSV injection)
const SIGNS = /[!#$%&*+.:<=>?@[\\\]^_`{|}~]/g; // what may mean something else in Markdown
const MOST = 16; // rows and columns of numbers that are still read in a table

/** Names stay names, whatever they begin with; numbers are written with every digit they have. @param {Cell} cell */
function csvCell(cell) {
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  if (cell === null) return "";
  return `"${(FORMULA.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;
}

/**
 * Tables below each other, parted by an empty line, with a mark by which spreadsheets know UTF-8.
 *
 * @param {Table[]} tables
 */
export function csv(tables) {
  const parts = tables.map(({ title, columns, rows }) => {
    const heading = title && tables.length > 1 ? [[title]] : [];
    return [...heading, columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n");
  });
  return `\ufeff${parts.join("\r\n\r\n")}\r\n`;
}

/** Text that Markdown shows as it is, on one line. @param {string} text */
function escapeMarkdown(text) {
  return text.replace(/\s+/g, " ").replace(SIGNS, "\\$&");
}

/** @param {Cell} cell */
function markdownCell(cell) {
  if (typeof cell === "number")
    return !Number.isFinite(cell) ? "–" : Number.isInteger(cell) ? String(cell) : cell.toFixed(4);
  return escapeMarkdown(cell ?? "");
}

/**
 * One small table as a table; anything else as a line for the picture, under the name it is saved by.
 *
 * @param {Table[]} tables
 * @param {{caption: string, facts: string[], link: string, name: string}} said what stands below it
 */
export function markdown(tables, { caption, facts, link, name }) {
  const [table] = tables,
    isSmall = tables.length === 1 && table.rows.length <= MOST && table.columns.length <= MOST + 1;
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const content = !isSmall
    ? [`![${escapeMarkdown(caption)}](${name}.png)`]
    : [
        line(table.columns.map(markdownCell)),
        line(table.columns.map((_, i) => (i ? "---:" : "---"))),
        ...table.rows.map((row) => line(row.map(markdownCell))),
      ];
  const below = [escapeMarkdown(caption), ...facts.map(escapeMarkdown), `[Headlight](<${link}>)`].join(" · ");
  return [...content, "", below, ""].join("\n");
}
