// Opening another place of the app without a new visit.

/** Streamlit opens what the address bar says, as after Back; the page begins at its top. @param {string} link */
export function open(link) {
  history.pushState(null, "", link);
  dispatchEvent(new PopStateEvent("popstate"));
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}

/** Open a link as somebody does who reads on there: if it leads into a lesson, its question takes the keyboard. @param {string} link */
export function follow(link) {
  const to = new URL(link, location.href).searchParams;
  document.documentElement.dataset.followed = to.get("lesson") ?? to.get("own_lesson") ?? "";
  open(link);
}

/** Whether a lesson has been opened so, for the first that asks. */
export function wasFollowed() {
  const { dataset } = document.documentElement, was = Boolean(dataset.followed);
  delete dataset.followed;
  return was;
}

/** Whether a click on a link is the browser's own: a new tab, a new window, a download. */
export function isTheBrowsers(event) {
  return Boolean(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
}
