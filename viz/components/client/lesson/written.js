// @ts-check
// A teacher's own lesson as it is passed on: packed into a link, which the server reads, and holds to its limits
// (viz/lessons/custom_lesson.py).

/**
 * @typedef {{page: string, section: string, parameters: Record<string, string>, covers: boolean, title: string, ask: {question: string}}} Step
 * @typedef {{title: string, step: Step[]}} Lesson
 */

const VERSION = "1"; // as in viz/lessons/custom_lesson.py

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
