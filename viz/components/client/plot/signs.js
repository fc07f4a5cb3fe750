// Line styles of a chart: dashes, and the marker at each point.

const DASHES = {
  solid: [],
  dash: [8, 5],
  shortdash: [4, 3],
  dot: [2, 3],
  longdash: [14, 5],
  dashdot: [8, 4, 2, 4],
  longdashdot: [14, 4, 2, 4],
};

/** Draw through points [x, y]; one that is not there leaves a gap. */
export function drawLine(context, points, dash) {
  context.setLineDash(DASHES[dash]);
  context.beginPath();
  let isGap = true;
  for (const [x, y] of points) {
    if (!Number.isFinite(x + y)) isGap = true;
    else if (isGap) [isGap] = [false, context.moveTo(x, y)];
    else context.lineTo(x, y);
  }
  context.stroke();
  context.setLineDash([]);
}

/** A sign of `size` pixels; of some only the outline is drawn. */
export function drawSign(context, symbol, x, y, size) {
  const half = size / 2;
  context.beginPath();
  if (symbol === "square") context.rect(x - half, y - half, size, size);
  else if (symbol === "diamond")
    outline(context, [
      [x, y - half],
      [x + half, y],
      [x, y + half],
      [x - half, y],
    ]);
  else if (symbol === "triangle-up")
    outline(context, [
      [x, y - half],
      [x + half, y + half],
      [x - half, y + half],
    ]);
  else if (symbol === "cross" || symbol === "x") {
    const [dx, dy] = symbol === "cross" ? [half, 0] : [half * 0.8, half * 0.8];
    for (const [ax, ay] of [
      [dx, dy],
      [dy, -dx],
    ]) {
      context.moveTo(x - ax, y - ay);
      context.lineTo(x + ax, y + ay);
    }
    return context.stroke();
  } else context.arc(x, y, half, 0, 2 * Math.PI);
  context.fill();
}

function outline(context, points) {
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

/** Fill the area between the two edges of a band. */
export function drawBand(context, points) {
  context.beginPath();
  outline(context, points);
  context.fill();
}
