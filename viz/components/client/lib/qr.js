// A QR code from its rows of 0 and 1: dark on white in any theme, or no camera reads it.

const SVG = "http://www.w3.org/2000/svg",
  QUIET = 4; // modules that have to be free around it

export function drawCode(rows, alt) {
  const side = rows.length + 2 * QUIET,
    picture = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  const dark = rows.map((row, y) =>
    Array.from(row, (cell, x) => (cell === "1" ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")).join(""),
  );
  path.setAttribute("d", dark.join(""));
  path.setAttribute("fill", "#000");
  for (const [name, value] of Object.entries({
    viewBox: `0 0 ${side} ${side}`,
    role: "img",
    "aria-label": alt,
    "shape-rendering": "crispEdges",
  })) {
    picture.setAttribute(name, value);
  }
  picture.append(path);
  return picture;
}
