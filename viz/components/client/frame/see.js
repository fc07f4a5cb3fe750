// Links from one section to another: they take along what was chosen, unless they stand alone, and open without a new
// visit.

import { follow as goTo, isBrowserClick } from "../lib/navigate.js";

const NEW = ["section", "embed", "embed_options"]; // these are the other section's own, or Streamlit's
let sharedNames = []; // what the pages share

/** The target of a link, with the address bar's query parameters that it does not set itself. */
function target(link) {
  link.dataset.to ??= link.getAttribute("href");
  const to = new URL(link.dataset.to, location.href),
    same = to.pathname === location.pathname;
  for (const [name, value] of new URLSearchParams(location.search))
    if ((same || sharedNames.includes(name)) && !NEW.includes(name) && !to.searchParams.has(name))
      to.searchParams.append(name, value);
  return to;
}

function follow(event) {
  const [inner] = event.composedPath(); // a link of a view, too
  const link = inner instanceof Element && /** @type {HTMLAnchorElement | null} */ (inner.closest("a.see"));
  if (!link) return;
  link.href = link.classList.contains("alone") ? link.href : target(link).href;
  if (link.target || isBrowserClick(event)) return;
  event.preventDefault();
  /** @type {HTMLElement | null} */ (link.closest("[popover]"))?.hidePopover();
  goTo(link.href);
}

export default function ({ data }) {
  sharedNames = data.shared;
  for (const kind of ["click", "auxclick"]) document.addEventListener(kind, follow);
  return () => {
    for (const kind of ["click", "auxclick"]) document.removeEventListener(kind, follow);
  };
}
