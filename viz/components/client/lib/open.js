// Opening another place of the app without a new visit.

/** Streamlit opens what the address bar says, as after Back; the page begins at its top. @param {string} link */
export function open(link) {
  history.pushState(null, "", link);
  dispatchEvent(new PopStateEvent("popstate"));
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}

/** Whether a click on a link is the browser's own: a new tab, a new window, a download. */
export function isTheBrowsers(event) {
  return Boolean(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
}
