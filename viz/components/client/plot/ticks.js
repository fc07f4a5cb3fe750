// @ts-check
// Positions and labels of an axis' ticks.

const STEPS = 5; // about how many lines there are
const EXACT = 1e12;
const NEARLY = 0.9; // a step may be this much shorter than these need
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const MOST = 8; // ticks of a logarithmic axis
const SUPERSCRIPTS = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

/** Round numbers from the lowest to the highest, about five of them, and at least so far apart.
 * @param {number} low @param {number} high @param {number} least */
export function ticks(low, high, least = 0) {
  const rough = Math.max((high - low) / STEPS, least),
    power = 10 ** Math.floor(Math.log10(rough));
  const step = /** @type {number} */ ([1, 2, 5, 10].find((times) => times * power >= rough * NEARLY)) * power,
    marks = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; i++)
    marks.push(Number((i * step).toPrecision(9)));
  return marks;
}

/**
 * Powers of ten, every so many where there are many; 1, 2, 5, 10 … where there would be fewer than three.
 *
 * @param {number} low
 * @param {number} high
 */
export function logTicks(low, high) {
  const from = Math.ceil(Math.log10(low) - 1e-9),
    to = Math.floor(Math.log10(high) + 1e-9),
    every = Math.ceil((to - from + 1) / MOST);
  if (to - from >= 2)
    return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, i) => Number(`1e${from + i * every}`));
  const marks = [];
  for (let power = from - 1; power <= to; power++) {
    for (const times of [1, 2, 5])
      if (times * 10 ** power >= low * 0.999 && times * 10 ** power <= high * 1.001)
        marks.push(Number(`${times}e${power}`));
  }
  return marks.length > 1 ? marks : ticks(low, high);
}

/** Powers of two for an axis of bytes: a whole number of them apart, or, on a logarithmic one, of doublings.
 * @param {number} low @param {number} high @param {boolean} isLog */
export function byteTicks(low, high, isLog) {
  const [from, to] = isLog ? [Math.log2(low), Math.log2(high)] : [low, high],
    rough = (to - from) / (isLog ? MOST : STEPS),
    step = isLog
      ? ([1, 2, 5, 10, 20].find((doublings) => doublings >= rough) ?? 50)
      : 2 ** Math.ceil(Math.log2(Math.max(rough, 1) * NEARLY));
  const marks = [];
  for (let i = Math.ceil(from / step - 1e-6) || 0; i * step <= to + step * 1e-6; i++)
    marks.push(isLog ? 2 ** (i * step) : i * step);
  return marks;
}

/** 24576 -> "24 KiB": three digits, and whole units from 1,000 on, as viz/text/sizes.py has it.
 * @param {number} bytes */
export function formatBytes(bytes) {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${formatNumber(size < 999.5 ? Number(size.toPrecision(3)) : Math.round(size))} ${UNITS[unit]}`;
}

/** A number as it is read off: a count below a million million in full (viz/frame/format.py), else four digits and a
 * power of ten where it would be long. @param {number} value */
export function formatNumber(value) {
  if (Number.isInteger(value) ? Math.abs(value) >= EXACT : isLong(value)) return asPower(Number(value.toPrecision(4)));
  const [integer, part] = String(value).split("."),
    grouped = integer.replace(/\B(?=(\d{3})+$)/g, ",");
  return (part ? `${grouped}.${part}` : grouped).replace("-", "−");
}

/** The tick labels of an axis, all in one format. @param {number[]} marks */
export function tickNames(marks) {
  return marks.some(isLong) ? marks.map((mark) => (mark ? asPower(mark) : "0")) : marks.map(formatNumber);
}

/** @param {number} value */
function isLong(value) {
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4);
}

/** @param {number} value */
function asPower(value) {
  const [digits, power] = value.toExponential().replace("e-", "e⁻").replace("-", "−").replace("e+", "e").split("e");
  const ten = `10${power.replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)])}`;
  return /^−?1$/.test(digits) ? digits.replace("1", ten) : `${digits}·${ten}`;
}
