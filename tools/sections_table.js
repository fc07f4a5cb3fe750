// Measure the page that is open, for tools/sections_table.py; views draw in roots of their own, which are searched too.
() => {
  const main = document.querySelector("[data-testid=stMain]");
  const PICTURE = "canvas, svg, img, table, .js-plotly-plot, .stDataFrame", PROSE = "p, li, dd, figcaption";
  const CONTROL = "button, input:not([type=hidden]), textarea, select, a[href], [role=slider], [tabindex='0']";
  const LARGE = { width: 90, height: 40 }; // of a picture; what is smaller is a sign on a button

  const boxOf = (element) => element.getBoundingClientRect();
  const isVisible = (element) => {
    const { width, height } = boxOf(element);
    return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  function* all(root, selector) {
    for (const element of root.querySelectorAll("*")) {
      if (element.matches(selector) && isVisible(element)) yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot, selector);
    }
  }
  /** Of a picture, the part that no box around it cuts off. */
  const shown = (element) => {
    let { top, bottom } = boxOf(element);
    for (let around = element.parentElement; around && around !== main; around = around.parentElement ?? around.getRootNode().host) {
      if (getComputedStyle(around).overflowY === "visible") continue;
      const box = boxOf(around);
      [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { top: top + main.scrollTop, bottom: bottom + main.scrollTop };
  };

  const section = main.querySelector('[class*="st-key-section_"]') ?? main;
  const views = [...section.querySelectorAll(".stBidiComponent, .stPlotlyChart, .stImage, .stDataFrame, .stMarkdown:has(table)")];
  let top = null, bottom = null;
  for (const view of views.filter(isVisible)) {
    const root = view.shadowRoot ?? view, inner = [...all(root, PICTURE)];
    for (const host of view.querySelectorAll("*")) if (host.shadowRoot) inner.push(...all(host.shadowRoot, PICTURE));
    const large = inner.filter((element) => boxOf(element).width >= LARGE.width && boxOf(element).height >= LARGE.height);
    const drawn = (large.length ? large : inner.length > 3 ? inner : []).map(shown).filter((part) => part.bottom > part.top);
    if (!drawn.length && boxOf(view).height >= 80) drawn.push(shown(view)); // words and boxes that are the picture
    if (!drawn.length) continue;
    top = Math.round(Math.min(...drawn.map((part) => part.top)));
    bottom = Math.round(Math.max(...drawn.map((part) => part.bottom)));
    break;
  }

  const prose = [...all(main, PROSE)].filter((element) =>
    !element.closest('label, button, summary, [role=tooltip], .live, .unseen, [data-testid="stWidgetLabel"]') && boxOf(element).width > 2);
  const written = prose.filter((element) => !prose.some((other) => other !== element && element.contains(other)));
  const words = written.reduce((n, element) => n + (element.innerText.match(/[\p{L}\p{N}’'-]+/gu)?.length ?? 0), 0);

  const controls = new Set(all(main, CONTROL)), groups = new Set(), stops = [];
  for (const element of all(document, CONTROL)) {
    if (element.disabled || element.tabIndex < 0) continue;
    const group = element.matches("[role=radio], input[type=radio]") && element.closest("[role=radiogroup]");
    if (group && groups.has(group)) continue;
    if (group) groups.add(group);
    stops.push(element);
  }
  return { top, bottom, height: innerHeight, words, controls: controls.size, stops: stops.length };
}
