// Key handling while a page is presented, and the name that its two windows share.

export const CHANNEL = "headlight-presenter";
const STORAGE_KEY = "headlight-presenter",
  WINDOW = "headlight-notes-";
const WRITES =
  'input:not([type="radio"], [type="checkbox"], [type="range"], [type="button"]), textarea, select, [contenteditable=""], [contenteditable="true"]';
const PRESSED = 'button, a, summary, input, [role="button"], [role="switch"], [role="checkbox"]';
const PLAIN = 'html, body, main, section, [tabindex="-1"], button, a';
const WALKS =
  '[role="radio"], [role="slider"], [role="tab"], [role="option"], [role="menuitem"], [role="combobox"], [role="grid"] *, [role="listbox"] *';

/** The keys that both windows take. */
export const STEP_KEYS = {
  ArrowRight: "next",
  PageDown: "next",
  " ": "next",
  ArrowLeft: "previous",
  PageUp: "previous",
  ".": "blank",
  b: "blank",
};

/** True if the focused element handles this key itself, for instance a text field. */
export function belongsToPage(event) {
  const at = event.composedPath().find((node) => node instanceof Element);
  if (!at) return false;
  if (at.matches(WRITES)) return true;
  if (event.key === "PageDown" || event.key === "PageUp" || event.key === "Escape") return false;
  if (event.key === " " || event.key === "Enter") return at.matches(PRESSED) || at.matches(WALKS);
  if (event.key.startsWith("Arrow")) return !at.matches(PLAIN) || at.matches(WALKS);
  return false;
}

/** The id that the windows of one presentation share; it survives a reload. */
export function idOf() {
  if (!sessionStorage.getItem(STORAGE_KEY)) sessionStorage.setItem(STORAGE_KEY, Math.random().toString(36).slice(2));
  return sessionStorage.getItem(STORAGE_KEY);
}

/** The name of the window with the notes. */
export function windowOf() {
  return WINDOW + idOf();
}

/** The presentation's id from the notes window's name; "" if no presented page opened the window. */
export function idFromWindow() {
  return window.name.startsWith(WINDOW) ? window.name.slice(WINDOW.length) : "";
}
