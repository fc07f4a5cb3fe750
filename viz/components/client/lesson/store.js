// @ts-check
// A teacher's own lesson, and how far one has come in the app's, kept in this browser and nowhere else: there after a
// reload, and on every page.

import { normalise } from "./written.js";

const KEY = "headlight-lesson",
  PROGRESS = "headlight-finished";
let instead = ""; // where a browser keeps nothing: as long as the page is open

export function load() {
  try {
    return normalise(JSON.parse(localStorage.getItem(KEY) ?? (instead || "null")));
  } catch {
    return normalise(null);
  }
}

/** Keep a lesson; says whether the browser does. @param {import("./written.js").Lesson} lesson */
export function keep(lesson) {
  instead = JSON.stringify(lesson);
  try {
    localStorage.setItem(KEY, instead);
    return true;
  } catch {
    return false;
  }
}

/**
 * Put a view behind the steps there are; gives their number, or 0 if there are as many as there can be.
 *
 * @param {import("./written.js").Step} step
 * @param {number} most
 */
export function add(step, most) {
  const lesson = load();
  if (lesson.step.length >= most) return 0;
  lesson.step.push(step);
  keep(lesson);
  return lesson.step.length;
}

/** The steps of a lesson that are over. @param {string} lesson @returns {Set<number>} */
export function loadProgress(lesson) {
  try {
    return new Set(JSON.parse(localStorage.getItem(PROGRESS) ?? "{}")[lesson]);
  } catch {
    return new Set();
  }
}

/** Keep which steps are over, beside those that were before. @param {string} lesson @param {boolean[]} over */
export function saveProgress(lesson, over) {
  const steps = loadProgress(lesson);
  over.forEach((isOver, at) => isOver && steps.add(at + 1));
  try {
    const all = JSON.parse(localStorage.getItem(PROGRESS) ?? "{}");
    localStorage.setItem(PROGRESS, JSON.stringify({ ...all, [lesson]: [...steps] }));
  } catch {
    // A browser that keeps nothing shows no progress.
  }
}
