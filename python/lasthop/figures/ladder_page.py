"""A ladder as one HTML file that needs no network: a drawing with zoom and details on pointing."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from lasthop.figures.scene import svg

if TYPE_CHECKING:
    from lasthop.figures.scene import Scene

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #000; --pale: #ddd; --grey: #6b6b6b; --strip: #eee;
  --data: #0072b2; --ack: #b84f00; --control: #6b6b6b; --mac: #007a5a; --agent: #a84a80; --datagram: #8f6200 }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e8e8e8; --pale: #33373d;
  --grey: #a0a5ac; --strip: #25292f; --data: #5db4ec; --ack: #ff9c57; --control: #a0a5ac; --mac: #3fcf9f;
  --agent: #ee9ccb; --datagram: #e0ac3f } }
* { box-sizing: border-box }
html, body { height: 100%; margin: 0; background: var(--paper); color: var(--ink) }
body { display: flex; flex-direction: column; font: 14px/1.4 "DejaVu Sans", Verdana, sans-serif }
header { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; padding: 8px 12px;
  border-bottom: 1px solid var(--pale) }
h1 { flex: 1 1 220px; font-size: 16px; margin: 0 }
button { font: inherit; min-width: 34px; padding: 3px 9px; color: inherit; background: var(--strip);
  border: 1px solid var(--pale); border-radius: 4px; cursor: pointer }
main { flex: 1; min-height: 0; position: relative }
main svg { position: absolute; width: 100%; height: 100%; cursor: grab; touch-action: none }
main svg:focus-visible { outline: 2px solid var(--data) }
#said { min-height: 38px; padding: 8px 12px; border-top: 1px solid var(--pale); overflow-wrap: anywhere }
@media print { header button, #said { display: none } main svg { position: static; height: auto } }
"""
# The variables that replace the colours of the drawing, for light and dark mode.
_COLOURS = {
    "#ffffff": "paper",
    "#000000": "ink",
    "#dddddd": "pale",
    "#767676": "grey",
    "#eeeeee": "strip",
    "#0072B2": "data",
    "#D55E00": "ack",
    "#009E73": "mac",
    "#C46A9C": "agent",
    "#B97F00": "datagram",
}

_SCRIPT = """
const svg = document.querySelector("main svg"), said = document.getElementById("said");
const whole = svg.viewBox.baseVal, full = [0, 0, whole.width, whole.height];
const rest = said.textContent;
// Pixels for a unit of the drawing, in which labels are 6 and 7 high.
const LEAST = 1.5, MOST = 2;
let view = full.slice(), held = new Map();
const show = () => svg.setAttribute("viewBox", view.join(" "));
function fit() {
  const box = svg.getBoundingClientRect(), height = full[2] * box.height / box.width;
  view = height < full[3] ? [0, 0, full[2], height] : full.slice();
  show();
}
// Opens at the first packets: neither so far away that labels cannot be read, nor closer than that takes.
function open() {
  const box = svg.getBoundingClientRect(), scale = Math.min(Math.max(box.width / full[2], LEAST), MOST);
  const wide = box.width / scale;
  view = [Math.min(full[2] - wide, 0) / 2, 0, wide, box.height / scale];
  show();
}
function at(x, y) {
  const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
  return [p.x, p.y];
}
function zoom(by, x, y) {
  const wide = Math.min(Math.max(view[2] * by, full[2] / 40), 2 * full[2]), k = wide / view[2];
  view = [x - k * (x - view[0]), y - k * (y - view[1]), wide, view[3] * k];
  show();
}
function move(dx, dy) { view[0] += dx; view[1] += dy; show(); }
svg.addEventListener("wheel", e => {
  e.preventDefault();
  const unit = e.deltaMode ? 20 : 1;
  if (e.shiftKey) move(0, unit * e.deltaY * view[3] / svg.clientHeight);
  else zoom(Math.exp(unit * e.deltaY / 400), ...at(e.clientX, e.clientY));
}, { passive: false });
svg.addEventListener("pointerdown", e => {
  held.set(e.pointerId, [e.clientX, e.clientY]);
  svg.setPointerCapture(e.pointerId);
});
svg.addEventListener("pointermove", e => {
  const last = held.get(e.pointerId);
  if (last) {
    const others = [...held].filter(([id]) => id !== e.pointerId).map(([, place]) => place);
    if (others.length) {
      const far = p => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]) || 1;
      const now = [e.clientX, e.clientY];
      zoom(far(last) / far(now), ...at((now[0] + others[0][0]) / 2, (now[1] + others[0][1]) / 2));
    } else {
      const [a, b] = [at(...last), at(e.clientX, e.clientY)];
      move(a[0] - b[0], a[1] - b[1]);
    }
    held.set(e.pointerId, [e.clientX, e.clientY]);
  }
});
const free = e => held.delete(e.pointerId);
svg.addEventListener("pointerup", free);
svg.addEventListener("pointercancel", free);
svg.addEventListener("pointerover", e => {
  const group = e.target.closest("g[aria-label]");
  said.textContent = group ? group.getAttribute("aria-label") : rest;
});
svg.addEventListener("dblclick", fit);
svg.addEventListener("keydown", e => {
  const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[e.key];
  if (step) { e.preventDefault(); move(step[0] * view[2] / 10, step[1] * view[3] / 10); }
  if (e.key === "+" || e.key === "-") act(e.key);
  if (e.key === "0") fit();
});
function act(what) {
  if (what === "0") fit();
  else zoom(what === "+" ? 0.8 : 1.25, view[0] + view[2] / 2, view[1] + view[3] / 2);
}
for (const button of document.querySelectorAll("button")) button.onclick = () => act(button.value);
addEventListener("resize", open);
open();
"""


def page(scene: Scene) -> str:
    """The complete file."""
    drawing = svg(scene)
    for colour, name in _COLOURS.items():
        drawing = drawing.replace(f'"{colour}"', f'"var(--{name})"')
    # The page shows the text of a group below the drawing; the browser's own tooltip would cover it.
    drawing = drawing.replace('<svg xmlns="http://www.w3.org/2000/svg"', '<svg tabindex="0"', 1)
    drawing = re.sub(r"<title>.*?</title>\n", "", drawing)
    help_text = "wheel: zoom; drag: move; point at an arrow for more"
    buttons = "".join(
        f'<button value="{value}" aria-label="{label}" title="{label}">{sign}</button>'
        for value, label, sign in (("+", "zoom in", "+"), ("-", "zoom out", "−"), ("0", "whole width", "↔"))
    )
    title = escape(scene.title or "Ladder")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<header><h1>{title}</h1>{buttons}</header>\n<main>{drawing}</main>\n"
        f'<div id="said" role="status">{help_text}</div>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n'
    )
