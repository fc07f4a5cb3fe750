// @ts-check

/** A number under the pointer: four decimals, and never a zero that is none. @param {number} value */
export function fourDigits(value) {
  const text = value.toFixed(4).replace("-", "−");
  return value && Math.abs(value) < 0.00005 ? (value > 0 ? "<0.0001" : ">−0.0001") : text;
}
