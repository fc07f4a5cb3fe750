// @ts-check
// A chart of bars, as Python packs it (viz/components/bars.py).

import { unpack } from "../lib/bytes.js";
import { mount } from "../lib/view.js";
import { Bars } from "../plot/bars.js";

export default mount((parent) => new Bars(parent, "bars"), unpack);
