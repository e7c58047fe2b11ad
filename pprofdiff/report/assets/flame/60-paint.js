// Frames and their labels on the canvas.

const PAD = 4, BADGE = 14;

// The longest beginning of text that fits, with …; "" where it would say nothing.
function fitted(text, room, measure) {
  let low = 0, high = Math.min(text.length, Math.ceil(room / 2));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(clipped(text, middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return low > 2 ? clipped(text, low) : "";
}

// Name and change as the width allows: a shorter name, then only the sign of the change.
function labelOf(names, moved, room, measure) {
  // No letter is narrower than 2 px: longer names aren't worth measuring.
  const sign = /[▲▼]/.test(moved) ? moved.slice(0, 3) : "";
  for (const tail of [moved, sign]) {
    const name = names.find((text) => text.length < room / 2 && measure(text + tail) <= room);
    if (name) return name + tail;
  }
  const cut = fitted(names.at(-1), room - measure(sign), measure);
  return cut ? cut + sign : sign.trim();
}

// Paint rows first..last.
function paint(context, app, first, last) {
  const { tree, layout: { left, width }, rows, theme, from, to, scroll, hits } = app;
  const scale = app.width / (to - from);
  context.font = theme.font;
  context.textBaseline = "middle";
  context.direction = "ltr";
  for (let row = first; row <= last; row++) {
    const y = rowTop(app, row) - scroll.scrollTop;
    for (const i of rows[row] ?? []) {
      const x = Math.max(0, (left[i] - from) * scale);
      const w = Math.min(app.width, (left[i] + width[i] - from) * scale) - x;
      // Frames above the zoomed one are wider than the window: they stay as faint rows.
      const above = width[i] > (to - from) * 1.000001;
      const hit = !above && hits?.names?.[tree.name[i]];
      const fill = above ? theme.panel : hit ? theme.match : fillOf(app, i);
      context.fillStyle = fill;
      context.fillRect(x, y, w > 2.5 ? w - 1 : w, ROW - 1);
      if (w > 4) paintFrame(context, app, i, { x, y, w, fill, above, hit });
    }
  }
}

// What says that only one side has a frame.
function decorate(context, theme, { x, y, w, h }, { gone, fresh, beyond }) {
  if (gone) {
    context.fillStyle = theme.hatch;
    context.fillRect(x, y, w, h);
  } else if (fresh) {
    const line = beyond === false || w < 8 ? 1 : 2;
    context.strokeStyle = beyond === false ? theme.faint : theme.text;
    context.lineWidth = line;
    context.strokeRect(x + line / 2, y + line / 2, w - line, h - line);
  }
}

// The number of the cause that a frame is of, or a bar where there is no room for it.
function badge(context, { text, background }, number, x, y, w) {
  const wide = w > 2 * BADGE ? BADGE : 3;
  context.fillStyle = text;
  context.fillRect(x, y, wide, ROW - 1);
  context.fillStyle = background;
  if (wide > 3) context.fillText(number, x + 3, y + ROW / 2);
  return wide;
}

function paintFrame(context, app, i, { x, y, w, fill, above, hit }) {
  const { tree, theme, state } = app, move = moveOf(tree, i), hatched = move.gone && !above;
  if (hit) {
    context.fillStyle = fillOf(app, i);
    context.fillRect(x, y, PAD, ROW - 1);
  }
  if (!above) decorate(context, theme, { x, y, w: w - 1, h: ROW - 1 }, move);
  const cause = !above && tree.view.causeOf.get(tree.name[i]), edge = x + (hit ? PAD : 0);
  const inner = edge + (cause ? badge(context, theme, cause, edge, y, w) : 0);
  if (w < 24) return;
  const side = !i && app.side, title = side || shortOf(tree, i), measure = (text) => context.measureText(text).width;
  const names = side || tree.name[i] < 0 ? [title] : (tree.view.spelt[tree.name[i]] ??= spellings(tree.view, title));
  const moved = change(tree.view, state.c === "self" ? selfMoveOf(tree, i) : move);
  const start = inner + PAD, label = labelOf(names, "  " + moved, w + x - start - PAD, measure);
  if (hatched && label) {
    context.fillStyle = fill;
    context.fillRect(start - 2, y, measure(label) + PAD, ROW - 1);
  }
  context.fillStyle = above ? theme.faint : theme["frame-text"];
  context.fillText(label, start, y + ROW / 2);
}
