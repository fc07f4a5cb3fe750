// Streamlit loads this file for each view, at an address of its own. The view's code is in a file that is named by its
// content: Python puts that name beside it (viz/components/view.py).

const views = new Map();
const latest = new WeakMap();

export default (sent) => {
  const address = new URL(sent.parentElement.querySelector("data").value, import.meta.url).href;
  const view = views.get(address);
  return view ? view(sent) : load(address, sent);
};

async function load(address, sent) {
  latest.set(sent.parentElement, sent);
  const { default: view } = await import(address);
  views.set(address, view);
  if (latest.get(sent.parentElement) === sent) return view(sent); // else newer data has come, and is shown instead
}
