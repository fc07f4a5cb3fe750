// Opening another place of the app without a new visit.

const NOTE = "history"; // viz/frame/connection/address.py
const EMBED = ["embed", "embed_options"]; // how the page itself is shown, which Streamlit keeps to itself

/**
 * An address with a unique note that marks a history navigation for the app; its answer removes the note.
 *
 * @param {string} address
 */
function withNote(address) {
  const noted = new URL(address, location.href);
  noted.searchParams.set(NOTE, Date.now().toString(36));
  return noted;
}

/** Note in the address bar that Back or Forward led here. */
export function noteHistory() {
  history.replaceState(history.state, "", withNote(location.href));
}

/** True if the address has that note. */
export const hasHistoryNote = () => new URLSearchParams(location.search).has(NOTE);

/** A link with what the address bar says of how the page is shown. @param {string} link */
export function withEmbedOptions(link) {
  const to = new URL(link, location.href),
    current = new URLSearchParams(location.search);
  for (const name of EMBED) for (const value of current.getAll(name)) to.searchParams.append(name, value);
  return to.href;
}

/** Streamlit opens what the address bar says, as after Back; the page begins at its top. @param {string} link */
export function open(link) {
  history.pushState(null, "", withNote(link));
  dispatchEvent(new PopStateEvent("popstate"));
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}

/**
 * Open a link and move the focus there: if it leads into a lesson, to its question.
 *
 * @param {string} link
 */
export function follow(link) {
  const to = new URL(link, location.href).searchParams;
  document.documentElement.dataset.followed = to.get("lesson") ?? to.get("own_lesson") ?? "";
  open(link);
}

/** True for the first call after a lesson was opened by such a link. */
export function wasFollowed() {
  const { dataset } = document.documentElement,
    was = Boolean(dataset.followed);
  delete dataset.followed;
  return was;
}

/** True for a click on a link that the browser handles: a new tab, a new window, a download. */
export function isBrowserClick(event) {
  return Boolean(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
}
