// Write a page's link into the address bar, in place of the entry that the history has for the page.

const EMBED = ["embed", "embed_options"]; // Streamlit's own, which it keeps itself
let last = 0; // this runs again with a change of theme, when the user may be elsewhere in the history

export default function ({ data }) {
  const left = location.pathname.split("/").pop() !== data.page; // by Back, before this came
  if (data.run === last || left) return;
  last = data.run;
  const link = new URLSearchParams(data.link);
  for (const [name, value] of new URLSearchParams(location.search)) if (EMBED.includes(name)) link.append(name, value);
  history.replaceState(history.state, "", location.pathname + (link.size ? `?${link}` : ""));
}
