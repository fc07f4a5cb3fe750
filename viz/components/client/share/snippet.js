// @ts-check
// The lines of HTML that show a section in somebody else's page.

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);
}

/**
 * A frame, and what gives it the height it asks for: it believes the frame itself alone, and of it a number alone.
 *
 * @param {string} address of the section
 * @param {{theme: string, without: string[], title: string}} how
 */
export function snippet(address, { theme, without, title }) {
  const link = new URL(address);
  if (theme) {
    link.searchParams.set("theme", theme);
    link.searchParams.set("embed_options", `${theme}_theme`); // the frame begins in it, and is not opened a second time
  }
  if (without.length) link.searchParams.set("without", without.join("-"));
  return [
    `<iframe src="${escapeHtml(link.href)}" title="${escapeHtml(title)}" width="100%" height="640" style="border:0" loading="lazy"></iframe>`,
    "<script>",
    "(function (frame) {",
    '  addEventListener("message", function (event) {',
    "    if (event.source === frame.contentWindow && event.data && event.data.headlightHeight > 0)",
    '      frame.style.height = Math.min(event.data.headlightHeight, 4000) + "px";',
    "  });",
    "})(document.currentScript.previousElementSibling);",
    "</script>",
  ].join("\n");
}
