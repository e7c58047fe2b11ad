// Where frames are: widths in each mode, and what can be seen of them.

const ROW = 19;
const WIDTHS = [
  ["max", "larger", "larger of base and new: gone frames stay"],
  ["new", "new", "new"],
  ["base", "base", "base"],
  ["delta", "|Δ|", "increases and decreases of self values, added up"],
  ["both", "both", "base left, new right, on one scale"],
];
const GAP = 9;

// The pictures next to each other, each with the frames to paint: one, or base and new.
function panesOf(tree, { w, z }, pixels) {
  const modes = w === "both" ? ["base", "new"] : [w], layouts = modes.map((mode) => layoutOf(tree, mode));
  const room = (pixels + GAP) / modes.length - GAP, most = Math.max(...layouts.map(({ width }) => width[z]));
  return layouts.map((layout, at) => {
    // Zooming must not make the page jump: rows of the whole picture stay reserved.
    const { left: { [z]: from }, width: { [z]: own, 0: all } } = layout, width = (room * own) / most || 0;
    if (layout.pixels !== room) Object.assign(layout, { pixels: room, deep: visible(tree, layout, 0, all, room).length });
    const side = modes[1] && tree.view.labels[at], to = from + own;
    return { layout, from, to, width, side, x: at * (room + GAP), rows: visible(tree, layout, from, to, width) };
  });
}

// Widths and left edges of all nodes; a parent is as wide as its children at least.
function layoutOf(tree, mode) {
  if (tree.layouts[mode]) return tree.layouts[mode];
  const { size, parent, churn } = tree;
  const width = new Float64Array(size), left = new Float64Array(size), inside = new Float64Array(size);
  for (let i = size - 1; i >= 0; i--) {
    const { from, to } = moveOf(tree, i), [b, n] = [Math.abs(from), Math.abs(to)];
    width[i] = Math.max({ max: Math.max(b, n), new: n, base: b, delta: churn[i] }[mode], inside[i]);
    if (i) inside[parent[i]] += width[i];
  }
  inside.fill(0);
  for (let i = 1; i < size; i++) {
    left[i] = left[parent[i]] + inside[parent[i]];
    inside[parent[i]] += width[i];
  }
  return (tree.layouts[mode] = { width, left });
}

// Nodes of half a pixel or more between from and to, by row, left to right.
function visible(tree, { width, left }, from, to, pixels) {
  const least = (to - from) / pixels / 2, rows = [];
  for (let i = 0; to > from && i < tree.size; ) {
    const hidden = width[i] < least || left[i] >= to || left[i] + width[i] <= from;
    if (!hidden) (rows[tree.depth[i]] ??= []).push(i);
    i = hidden ? tree.end[i] : i + 1;
  }
  return rows;
}

// The node of a row that holds position x, −1 for none.
function nodeAt({ width, left }, row, x) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (left[row[middle]] > x) high = middle;
    else low = middle + 1;
  }
  const i = row[low - 1] ?? -1;
  return i >= 0 && x < left[i] + width[i] ? i : -1;
}
