// @ts-check
// A matrix, as Python packs it (viz/components/matrix.py).

import { unpack } from "../lib/bytes.js";
import { mount } from "../lib/view.js";
import { Matrix } from "../plot/matrix.js";

export default mount((parent) => new Matrix(parent), unpack);
