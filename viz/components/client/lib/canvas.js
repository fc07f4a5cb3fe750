// Setup of a canvas: size in device pixels, font, colours.

import { dotsOf } from "./place.js";

const sizes = new WeakMap();

/**
 * Measure all canvases before drawing on one: each measurement after a drawing forces a new layout.
 */
export function measure(canvases) {
  for (const canvas of canvases) sizes.set(canvas, { width: canvas.clientWidth, height: canvas.clientHeight });
}

/** Size a canvas to its device pixels and clear it. The size is cached while `colours.epoch` stays the same: measuring
 * in every frame would force a layout in every frame. */
export function start(canvas, colours) {
  const context = canvas.getContext("2d");
  if (colours.epoch === undefined || canvas.epoch !== colours.epoch) {
    canvas.scale = dotsOf(canvas);
    if (!sizes.has(canvas)) measure([canvas]);
    Object.assign(canvas, { epoch: colours.epoch, size: sizes.get(canvas) });
    sizes.delete(canvas);
    for (const side of ["width", "height"]) canvas[side] = Math.max(1, Math.round(canvas.size[side] * canvas.scale));
  } else {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
  }
  context.setTransform(canvas.scale, 0, 0, canvas.scale, 0, 0);
  context.globalAlpha = context.lineWidth = 1;
  context.font = `12px ${colours.font}`;
  context.fillStyle = context.strokeStyle = colours.text;
  return { context, ...canvas.size };
}

export function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Draw stripes over a rectangle, `apart` pixels apart, in the stroke's colour; the caller clips. */
export function stripes(context, x, y, width, height, apart = 6) {
  context.beginPath();
  for (let at = apart * Math.floor((x - height) / apart); at < x + width; at += apart) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
}

/** A picture of one pixel a cell, to be drawn at any size; `colour` gives the pixel of a cell. */
export function image(rows, columns, colour) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d"),
    data = context.createImageData(columns, rows);
  const pixels = new Uint32Array(data.data.buffer);
  for (let at = 0; at < pixels.length; at++) pixels[at] = colour(at);
  context.putImageData(data, 0, 0);
  return canvas;
}
