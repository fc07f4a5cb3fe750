// A picture as a file: with what it is, whose numbers it shows and where it is to be found again written below it.

import { paintElements } from "./dom_to_svg.js";
import { svgElement } from "../lib/dom.js";
import { colourOf } from "./svg_recorder.js";

const EDGE = 16,
  LINE = 18,
  SIZE = 13,
  TIMES = 2; // pixels, and how many of them a PNG has for each
const LEAST = 360; // pixels: what is written below has room, however narrow the picture

/** A text in lines no wider than there is room; an address is broken where the room ends. */
function lines(context, text, room) {
  const wrapped = [""];
  for (const word of text.split(/(?<=\s)/)) {
    if (wrapped.at(-1) && context.measureText(wrapped.at(-1) + word.trimEnd()).width > room) wrapped.push("");
    wrapped[wrapped.length - 1] += word;
    while (context.measureText(wrapped.at(-1)).width > room && wrapped.at(-1).length > 1) {
      const line = wrapped.pop();
      let end = line.length - 1;
      while (end > 1 && context.measureText(line.slice(0, end)).width > room) end--;
      wrapped.push(line.slice(0, end), line.slice(end));
    }
  }
  return wrapped.map((line) => line.trim()).filter(Boolean);
}

/** The picture as SVG, on the page's own background. */
export function toSvg({ elements, redraw, caption, facts, link }, page) {
  const { group, width: wide, height: high } = paintElements(elements, redraw),
    width = Math.ceil(Math.max(wide, LEAST) + 2 * EDGE);
  const context = document.createElement("canvas").getContext("2d"),
    style = getComputedStyle(page);
  const [ink] = colourOf(context, style.color),
    [paper] = colourOf(context, style.backgroundColor),
    family = style.fontFamily;
  const below = [[caption, 600], ...facts.map((fact) => [fact, 400]), [link, 400]].flatMap(([text, weight]) => {
    context.font = `${weight} ${SIZE}px ${family}`;
    return lines(context, text, width - 2 * EDGE).map((line) => [line, weight]);
  });
  const height = Math.ceil(high + 3 * EDGE + below.length * LINE);
  const root = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  root.append(svgElement("title", {}, caption), svgElement("rect", { width, height, fill: paper }));
  const frame = svgElement("g", { transform: `translate(${EDGE} ${EDGE})` });
  frame.append(group);
  root.append(frame);
  below.forEach(([line, weight], i) => {
    const place = { x: EDGE, y: high + 2 * EDGE + (i + 0.8) * LINE, fill: ink };
    root.append(svgElement("text", { ...place, style: `font: ${weight} ${SIZE}px ${family}; white-space: pre` }, line));
  });
  return root;
}

export function serialise(root) {
  return new XMLSerializer().serializeToString(root);
}

/**
 * The page's own letters as they lie on the server: a picture that a browser draws from a file has none but its own.
 */
async function letters(root) {
  const families = new Set(
    [...root.querySelectorAll("text")].map((text) => text.style.fontFamily.split(",")[0].replace(/["']/g, "").trim()),
  );
  /** @type {{rule: any, base: string}[]} */
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].map((rule) => ({ rule, base: sheet.href ?? document.baseURI }));
    } catch {
      return []; // a sheet of an extension's
    }
  });
  const faces = rules.filter(
    ({ rule }) =>
      rule instanceof CSSFontFaceRule &&
      families.has(rule.style.getPropertyValue("font-family").replace(/["']/g, "").trim()) &&
      rule.style.getPropertyValue("font-style") !== "italic",
  );
  return (
    await Promise.all(
      faces.map(async ({ rule, base }) => {
        const [, address] = rule.style.getPropertyValue("src").match(/url\("?([^")]+)"?\)/) ?? [];
        const answer = address && (await fetch(new URL(address, base)));
        if (!answer?.ok) return "";
        const file = await new Promise((resolve) => {
          const reader = new FileReader();
          reader.onload = () => resolve(reader.result);
          answer.blob().then((blob) => reader.readAsDataURL(blob));
        });
        return rule.cssText.replace(/url\("?[^")]+"?\)/, `url("${file}")`);
      }),
    )
  ).join("\n");
}

/** The same as PNG. */
export async function toPng(root) {
  const copy = root.cloneNode(true),
    picture = new Image(),
    canvas = document.createElement("canvas");
  copy.prepend(svgElement("style", {}, await letters(root).catch(() => "")));
  await new Promise((resolve, fail) => {
    [picture.onload, picture.onerror] = [resolve, () => fail(new Error("picture"))];
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialise(copy))}`;
  });
  [canvas.width, canvas.height] = ["width", "height"].map((side) => TIMES * Number(root.getAttribute(side)));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, fail) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : fail(new Error("picture"))), "image/png"),
  );
}
