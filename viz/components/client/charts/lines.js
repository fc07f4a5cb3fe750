// @ts-check
// A line chart, as Python sends it (viz/components/lines.py).

import { mount } from "../lib/view.js";
import { Lines } from "../plot/lines.js";

export default mount((parent) => new Lines(parent, "lines"));
