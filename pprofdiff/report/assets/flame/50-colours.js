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
// Least part of the largest change of each shade: of changes within noise, of significant ones.
const FAINT = [0, 0.1], STEPS = [0, 0.1, 0.4], MIDDLE = FAINT.length + STEPS.length; // neutral in the ramp

function themeOf(section) {
  const style = getComputedStyle(section);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  const group = (id) => read("group-" + id.replaceAll("_", "-")) || read("group-user");
  const theme = { font: "12px " + style.fontFamily, group };
  for (const name of ["background", "panel", "text", "faint", "match", "frame-text", "neutral"]) theme[name] = read(name);
  const steps = (name) => [0, 1, 2, 3, 4].map((step) => read(name + step));
  theme.ramp = [...steps("better-").reverse(), theme.neutral, ...steps("worse-")];
  return theme;
}

const movedBy = (colour) => (colour === "self" ? selfMoveOf : moveOf);

// The largest significant change of a frame, and the largest of all. All trees of a view are
// coloured by them, so that a shade always means the same.
function largestOf({ tree, largest }, colour) {
  if (colour in largest) return largest[colour];
  let most = 0, any = 0;
  for (let i = 0; i < tree.size; i++) {
    const { delta, beyond } = movedBy(colour)(tree, i), size = Math.abs(delta);
    any = Math.max(any, size);
    if (beyond !== false) most = Math.max(most, size);
  }
  return (largest[colour] = [most, any]);
}

function fillOf({ tree, theme, state, kinds }, i) {
  if (state.c === "kind") return kinds[tree.group[i] - 1] ?? theme.neutral;
  const { delta, beyond } = movedBy(state.c)(tree, i);
  if (!delta || (state.s && beyond === false)) return theme.neutral;
  const above = (steps, most) => steps.filter((least) => Math.abs(delta) >= least * most).length;
  const [most, any] = largestOf(tree.view, state.c);
  const step = beyond === false ? above(FAINT, any) : FAINT.length + above(STEPS, most || any);
  return theme.ramp[MIDDLE + Math.sign(delta) * step];
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
