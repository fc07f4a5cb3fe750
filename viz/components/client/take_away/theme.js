// The colours of wherever a picture stands: a notebook, light or dark, or a page of its own. In the app Streamlit says
// them; elsewhere they are read off what is around.

const PRIMARY = { light: "#1a5cc8", dark: "#5a97f7" }; // as in .streamlit/config.toml
const WHITE = [255, 255, 255, 255],
  BLACK = [17, 20, 26, 255];

/** Any colour that CSS can write, as red, green, blue and alpha; of what is not on the page yet there is none.
 * @returns {number[]} */
function read(colour, context) {
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = "transparent";
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
}

/** @param {number[]} colour */
function isDark([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

/** The nearest background that can be seen through to `element`, or what fits the colour of its text. */
function behind(element, text, context) {
  for (let node = element; node; node = node.parentNode ?? node.host) {
    if (!(node instanceof Element)) continue;
    const colour = read(getComputedStyle(node).backgroundColor, context);
    if (colour[3] > 127) return colour;
  }
  return isDark(text) ? WHITE : BLACK;
}

const css = (/** @type {number[]} */ [red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;
const mixed = (/** @type {number[]} */ colour, page, share) =>
  css(colour.map((part, i) => Math.round(share * part + (1 - share) * page[i])));

/** Say the colours around `root` as the names that the app's views read; paper is white, whatever the screen is. */
export function dress(root, place, paper = false) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(place),
    around = read(style.color, context);
  const page = paper ? WHITE : behind(place, around, context);
  const text = paper || isDark(around) === isDark(page) ? (isDark(page) ? WHITE : BLACK) : around;
  const properties = {
    "text-color": css(text),
    "background-color": css(page),
    "primary-color": PRIMARY[isDark(page) ? "dark" : "light"],
    "border-color": mixed(text, page, 0.22),
    "secondary-background-color": mixed(text, page, 0.06),
    font: style.fontFamily,
    "button-radius": "0.4rem",
    "base-radius": "0.4rem",
  };
  for (const [name, value] of Object.entries(properties)) root.style.setProperty(`--st-${name}`, value);
  root.style.colorScheme = isDark(page) ? "dark" : "light"; // for the browser's own controls
}

/** Call `changed` whenever the page around may look otherwise; what it gives back ends that. */
export function watchTheme(onChange) {
  const scheme = matchMedia("(prefers-color-scheme: dark)"),
    watch = new MutationObserver(() => onChange());
  scheme.addEventListener("change", onChange);
  for (const element of [document.documentElement, document.body]) watch.observe(element, { attributes: true });
  const print = () => onChange(true),
    onPrint = () => onChange();
  addEventListener("beforeprint", print);
  addEventListener("afterprint", onPrint);
  return () => {
    watch.disconnect();
    scheme.removeEventListener("change", onChange);
    removeEventListener("beforeprint", print);
    removeEventListener("afterprint", onPrint);
  };
}
