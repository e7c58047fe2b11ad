// Fills of frames, from the page's CSS variables.

const COLOURS = [
  ["change", "change", "change of the frame with all that it calls, for its own size"],
  ["self", "self change", "change of the frame's own (self) value, for its own size"],
  ["kind", "runtime", "what the Go runtime does there; grey: several things"],
];
const STEPS = [0, 0.05, 0.2, 0.5]; // least own ratio of each shade

function themeOf(section) {
  const style = getComputedStyle(section);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  const group = (id) => read("group-" + id.replaceAll("_", "-")) || read("group-user");
  const theme = { font: "12px " + style.fontFamily, group };
  for (const name of ["panel", "text", "faint", "match", "frame-text", "neutral"]) theme[name] = read(name);
  const steps = (name) => [1, 2, 3, 4].map((step) => read(name + step));
  theme.ramp = [...steps("better-").reverse(), theme.neutral, ...steps("worse-")];
  return theme;
}

function fillOf({ tree, theme, state, kinds }, i) {
  if (state.c === "kind") return kinds[tree.group[i] - 1] ?? theme.neutral;
  const { from, to, delta, beyond } = (state.c === "self" ? selfMoveOf : moveOf)(tree, i);
  if (!delta || beyond === false) return theme.neutral;
  const part = Math.abs(delta) / Math.max(Math.abs(from), Math.abs(to));
  const step = STEPS.filter((least) => part >= least).length;
  return theme.ramp[4 + (delta < 0 ? -step : step)];
}

// Diagonal lines for gone frames.
function hatching(context, colour, ratio) {
  const size = Math.round(7 * ratio), tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.globalAlpha = 0.4;
  pen.lineWidth = 1.3 * ratio;
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}
