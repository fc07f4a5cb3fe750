// @ts-check
// A teacher's own lesson as it is passed on: packed into a link, or as a file in the format of assets/lessons. What
// comes back from either is read, and held to its limits, by the server (viz/lessons/custom_lesson.py).

/**
 * @typedef {{page: string, section: string, parameters: Record<string, string>, covers: boolean, title: string, ask: {question: string}}} Step
 * @typedef {{title: string, step: Step[]}} Lesson
 */

const VERSION = "1"; // as in viz/lessons/custom_lesson.py
const BARE = /^[A-Za-z0-9_-]+$/;

/** @param {any} text */
const plain = (text) => (typeof text === "string" ? text : "");

/**
 * Whatever was kept, as a lesson: what is missing is empty, what is of the wrong kind is left out.
 *
 * @param {any} data
 * @returns {Lesson}
 */
export function normalise(data) {
  const steps = Array.isArray(data?.step) ? data.step : [];
  return {
    title: plain(data?.title),
    step: steps.filter((/** @type {any} */ step) => plain(step?.page) && plain(step?.section)).map(normaliseStep),
  };
}

/** @param {any} step @returns {Step} */
function normaliseStep({ page, section, parameters, covers, title, ask }) {
  const entries = Object.entries(parameters ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    page,
    section,
    parameters: Object.fromEntries(entries),
    covers: covers === true,
    title: plain(title),
    ask: { question: plain(ask?.question) },
  };
}

/** A lesson in letters that a link may hold. @param {Lesson} lesson */
export async function toCode(lesson) {
  const squeezed = new Blob([JSON.stringify(lesson)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(squeezed).arrayBuffer());
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return VERSION + letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** A lesson as a TOML file. @param {Lesson} lesson */
export function toToml({ title, step }) {
  const lines = [`title = ${tomlString(title)}`];
  for (const { page, section, parameters, covers, title: name, ask } of step) {
    lines.push(
      "",
      "[[step]]",
      `page = ${tomlString(page)}`,
      `section = ${tomlString(section)}`,
      `title = ${tomlString(name)}`,
      `covers = ${covers}`,
    );
    for (const [key, value] of Object.entries(parameters))
      lines.push(`parameters.${BARE.test(key) ? key : tomlString(key)} = ${tomlString(value)}`);
    if (ask.question) lines.push(`ask.question = ${tomlString(ask.question)}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * A text between quotes, as TOML and JSON both have it; TOML wants one sign more written by its number.
 *
 * @param {string} text
 */
function tomlString(text) {
  return JSON.stringify(
    text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd"),
  ).replaceAll("\u007f", "\\u007f");
}
