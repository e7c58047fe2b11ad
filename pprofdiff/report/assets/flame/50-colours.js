// Fills of frames, from the page's CSS variables.

const COLOURS = [
  ["change", "change", "what the frame, with all that it calls, adds to the change"],
  ["self", "self change", "what the frame itself (self) adds to the change"],
  ["kind", "runtime", "what the Go runtime does there; grey: several things"],
];
const coloursOf = ({ waits }) => !waits ? COLOURS : [
  ["change", "change", "what the frame, with all that it waits for, adds to the change"],
  COLOURS[1],
  ["kind", "end", "what the wait ends at; grey: several ends"],
];
const STEPS = [0, 0.05, 0.2, 0.5]; // least part of the largest change of each shade

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

const movedBy = (colour) => (colour === "self" ? selfMoveOf : moveOf);

// The largest change of a frame, noise apart: the total's, where parts do not cancel. All
// trees of a view are coloured by it, so that a shade always means the same.
function largestOf({ tree, largest }, colour) {
  if (colour in largest) return largest[colour];
  let most = 0;
  for (let i = 0; i < tree.size; i++) {
    const { delta, beyond } = movedBy(colour)(tree, i);
    if (beyond !== false) most = Math.max(most, Math.abs(delta));
  }
  return (largest[colour] = most);
}

function fillOf({ tree, theme, state, kinds }, i) {
  if (state.c === "kind") return kinds[tree.group[i] - 1] ?? theme.neutral;
  const { delta, beyond } = movedBy(state.c)(tree, i);
  if (!delta || beyond === false) return theme.neutral;
  const part = Math.abs(delta) / largestOf(tree.view, state.c);
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
