// The frame of the grid: its controls and the places its pictures go to. head_grid.js has their behaviour.

import { clickable, dropdown, element, fill, segments } from "../lib/dom.js";
import { spoken } from "../lib/view.js";
import { scoreColour, weightColour } from "../lib/colour.js";
import { colourStrip, legendKey } from "../plot/legend.js";

const SORTS = ["model", "entropy", "distance", "previous", "next", "same", "first", "link"];
const always = (code) => code === "model" || code === "link"; // the others are numbers that a wall may lack

/** Build the panel. `measures` are the keys by which the heads of this wall can be sorted. */
export function buildPanel(root, words, measures, act) {
  const option = (prefix) => (code) => [code, words[`${prefix}_${code.replace("-", "_")}`]];
  const panel = {
    sort: dropdown(
      words.sort,
      SORTS.filter((code) => always(code) || measures.includes(code)).map(option("sort")),
      act.sort,
    ),
    show: segments(words.show, ["all", "layer", "top"].map(option("show")), act.show),
    look: segments(words.look, ["map", "lines", "across"].map(option("look")), act.look),
    combine: segments(words.combine, ["one", "mean", "max"].map(option("combine")), act.combine),
    note: element("p", "note"),
    wall: element("div"),
    legend: element("div", "legend", { "aria-hidden": "true" }),
    left: element("div", "left"),
    right: element("div", "right"),
    name: element("h3", "title"),
    says: element("p", "says"),
    lock: element("div", "lock"),
    tokens: element("div"),
    large: element("div", "large", { tabindex: "0", role: "application", "aria-roledescription": words.map }),
    axes: element("p", "axes", {}, words.axes),
    keys: element("p", "note keys", {}, words.keys_help),
    live: spoken("live", "div"),
  };
  panel.temperature = temperature(words, act);
  panel.zoom = zoom(words, act);
  panel.save = save(words, act);
  panel.hint = element("p", "note hint", {}, words.combine_hint);
  const bar = (...parts) => {
    const row = element("div", "bar");
    row.append(...parts);
    return row;
  };
  // The pictures first, what changes them below.
  panel.left.append(panel.wall, bar(panel.sort.element, panel.show.element), panel.note, panel.legend, panel.keys);
  panel.right.append(panel.look.element, panel.name, panel.says, panel.large, panel.axes, panel.lock, panel.tokens);
  panel.right.append(bar(panel.combine.element, panel.zoom.element, panel.save.element), panel.hint);
  panel.right.append(panel.temperature.element);
  const panes = element("div", "panes");
  panes.append(panel.left, panel.right);
  root.replaceChildren(panes, panel.live);
  return panel;
}

function temperature(words, act) {
  const box = element("div", "temperature"),
    label = element("label", "", {}, words.temperature);
  const slider = element("input", "", { type: "range", min: "-20", max: "20", step: "1" });
  const value = element("output"),
    reset = clickable("plain", words.temperature_reset, () => act.temperature(1, true));
  const note = element("p", "note");
  label.append(slider);
  box.append(label, value, reset, note);
  const read = () => Number((10 ** (slider.value / 20)).toFixed(2)); // 0.1 to 10, even steps of a ratio
  slider.addEventListener("input", () => act.temperature(read(), false));
  slider.addEventListener("change", () => act.temperature(read(), true));
  return {
    element: box,
    slider,
    show(choice, off) {
      if (read() !== choice.temperature) slider.value = String(20 * Math.log10(choice.temperature));
      value.textContent = `T = ${choice.temperature.toFixed(2)}`;
      slider.setAttribute("aria-valuetext", value.textContent);
      slider.disabled = off;
      reset.disabled = off || choice.temperature === 1;
      const sentence = choice.temperature === 1 ? words.temperature_one : words.temperature_other;
      note.textContent = off ? words.temperature_off : sentence;
    },
  };
}

function zoom(words, act) {
  const group = element("div", "segments", { role: "group", "aria-label": words.zoom });
  const steps = [
    ["−", words.zoom_out, 1 / 1.5],
    ["+", words.zoom_in, 1.5],
    ["⤢", words.zoom_whole, 0],
  ];
  for (const [text, label, factor] of steps) {
    group.append(clickable("", text, () => act.zoom(factor), { "aria-label": label, title: label }));
  }
  return { element: group };
}

function save(words, act) {
  const group = element("div", "segments", { role: "group", "aria-label": words.save });
  for (const kind of ["png", "svg"]) {
    const label = words[`save_${kind}`];
    group.append(clickable("", kind.toUpperCase(), () => act.save(kind), { "aria-label": label, title: label }));
  }
  return { element: group };
}

/** Show the locked query and key as buttons that unlock them. */
export function showLock(panel, words, locked, labels, act) {
  const chips = [];
  if (locked.query !== null) chips.push(["query", fill(words.locked_query, { q: labels.rows[locked.query] })]);
  if (locked.key !== null) chips.push(["key", fill(words.locked_key, { k: labels.columns[locked.key] })]);
  panel.lock.replaceChildren(
    ...chips.map(([along, text]) => {
      const attributes = { title: words.unlock, "aria-label": `${text} · ${words.unlock}` },
        button = clickable("chip", "", () => act.unlock(along), attributes);
      button.append(element("span", "", {}, text), element("span", "", { "aria-hidden": "true" }, " ✕"));
      return button;
    }),
  );
}

/** The one scale of all maps, and the hues of the heads where each has its own. */
export function showLegend(panel, words, palette, limit, hasMasked, heads) {
  const colour = (share) => (limit ? scoreColour(palette.scores, 2 * share - 1) : weightColour(palette.weights, share));
  const ends = limit ? [`−${limit.toFixed(1)}`, `+${limit.toFixed(1)}`] : ["0", "1"];
  panel.legend.replaceChildren(
    ...colourStrip(ends, colour, limit ? words.legend_scores : words.legend_weights),
    ...(hasMasked ? [legendKey(words.legend_masked)] : []),
    ...heads.map(({ name, colour }) => legendKey(name, colour)),
  );
}
