// What every picture on a canvas begins with.

/** Make a canvas as many pixels large as it is shown, and start afresh. */
export function start(canvas, colours) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  [canvas.width, canvas.height] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = `11px ${colours.font}`;
  context.fillStyle = context.strokeStyle = colours.text;
  return { context, width, height };
}

export function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** A picture of one pixel a cell, to be drawn at any size; `colour` gives the pixel of a cell. */
export function image(rows, columns, colour) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d"), data = context.createImageData(columns, rows);
  const pixels = new Uint32Array(data.data.buffer);
  for (let at = 0; at < pixels.length; at++) pixels[at] = colour(at);
  context.putImageData(data, 0, 0);
  return canvas;
}

