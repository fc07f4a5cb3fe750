// Code that has come is there. Streamlit puts a script into the page for each place that a view is shown in, and calls the
// view when the browser says that the script is loaded: for a file that is there long since, in a task of its own, behind
// all that waits. Here that is said at once.
() => {
  const come = new Set();
  new MutationObserver((changes) => {
    for (const script of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (script.type !== "module") continue;
      if (come.has(script.src)) script.dispatchEvent(new Event("load"));
      else script.addEventListener("load", () => come.add(script.src));
    }
  }).observe(document.head, { childList: true });
}
