// Links from one section to another: they take along what was chosen, and open without a new visit.

const NEW = ["section", "embed", "embed_options"]; // these are the other section's own, or Streamlit's
let carried = []; // what the pages share

/** Where a link leads, with what the address bar says of the choices it does not name. */
function target(link) {
  link.dataset.to ??= link.getAttribute("href");
  const to = new URL(link.dataset.to, location.href), same = to.pathname === location.pathname;
  for (const [name, value] of new URLSearchParams(location.search))
    if ((same || carried.includes(name)) && !NEW.includes(name) && !to.searchParams.has(name)) to.searchParams.append(name, value);
  return to;
}

function open(event) {
  const link = event.target instanceof Element && event.target.closest("a.see");
  if (!link) return;
  link.href = target(link).href;
  if (link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser's
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  history.pushState(null, "", link.href);
  dispatchEvent(new PopStateEvent("popstate")); // Streamlit opens what the address bar says, as after Back
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}

export default function ({ data }) {
  carried = data;
  for (const kind of ["click", "auxclick"]) document.addEventListener(kind, open);
  return () => {
    for (const kind of ["click", "auxclick"]) document.removeEventListener(kind, open);
  };
}
