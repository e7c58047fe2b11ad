// State in, picture out.

// The tree that a state asks for; those made once are kept.
function treeFor({ trees, tree, names }, { r, p, f }) {
  const whole = r ? (trees.r ??= pivoted(tree, tree.name[0], false, true)) : tree;
  const name = p ? names.lastIndexOf(f, names.length - 2) : -1;
  return name < 0 ? whole : (trees[[r, p, name]] ??= pivoted(whole, name, p === "callers"));
}

// Go to another state; whatever the patch doesn't say stays.
function update(app, patch, quietly) {
  const state = (app.state = { ...app.state, ...patch }), view = app.views[state.view];
  const tree = treeFor(view, state), layout = layoutOf(tree, state.w);
  const other = tree !== app.tree;
  if (tree === view.tree || tree === view.trees.r) state.p = state.f = "";
  if (state.c === "kind" && !view.groups.length) state.c = START.c;
  if ((other && app.tree && !("z" in patch)) || state.z >= tree.size) state.z = 0;
  while (state.z && !layout.width[state.z]) state.z = tree.parent[state.z];
  if (other || "z" in patch) app.at = state.z;
  Object.assign(app, { tree, layout, hit: -1, hits: state.q ? searched(tree, state.q) : null });
  refresh(app);
  if (!quietly) remember(app.views, state);
}

function refresh(app) {
  const { state, section, table, scroll, trail, search } = app;
  const held = [table, scroll, trail].some((part) => part.contains(document.activeElement));
  for (const [made, key, value] of app.choices) {
    made.ariaPressed = String(state[key] === value);
    made.disabled = value === "kind" && !app.tree.view.groups.length;
  }
  app.select.selectedIndex = state.view;
  search.value = state.q;
  app.found.value = app.hits?.words ?? "";
  app.tip.hidden = true;
  table.hidden = !state.t;
  scroll.hidden = !!state.t;
  fillTrail(app);
  legend(app);
  if (state.t) buildTable(app);
  else arrange(app, true);
  // What had the focus may be gone: it must not fall back to the top of the page.
  const lost = held && !section.querySelector(":focus")?.checkVisibility();
  if (lost) (state.t ? app.row : app.canvas).focus({ preventScroll: true });
}

// Where one is: the pivot, the frames above the zoom, ways on and back.
function fillTrail(app) {
  const { tree, state: { z, p }, trail } = app, path = [];
  for (let i = z; i >= 0; i = tree.parent[i]) {
    if (i && path.length > 2) continue; // the root and the last three
    const name = clipped(shortOf(tree, i), 48), cut = path.length === 2 && tree.depth[i] > 1;
    const crumb = button((cut ? "… › " : "") + name, () => update(app, { z: i }));
    if (i === z) crumb.ariaCurrent = "true";
    path.unshift(crumb);
  }
  const f = tree.view.names[tree.name[z]], ways = [];
  if (z || p) ways.push(button("reset", () => reset(app), "0 or Escape"));
  if (ways[0] && f) {
    const pivot = (text, p, title) => button(text, () => update(app, { p, f }), title);
    ways.unshift(pivot("callers", "callers", "who calls this function (c)"),
      pivot("merged callees", "merged", "what it calls, wherever it is called (m)"));
  }
  const head = { callers: "Callers of ", merged: "All calls, merged, of " }[p] ?? "";
  const note = p ? "from the frames kept here, without those that are folded" : z ? "" : "Click a frame to zoom.";
  trail.replaceChildren(el("span", {}, head, ...path), ...ways, el("span", { class: "flame-note" }, note));
}

const reset = (app) => (app.state.z ? update(app, { z: 0 }) : app.state.p && update(app, { p: "" }));

const rowTop = ({ state, count }, row) => (state.l ? count - 1 - row : row) * ROW;

// Find what is in the window and make room for its rows; scroll to where the zoom begins.
function arrange(app, move) {
  const { tree, layout, scroll, state: { z, l } } = app, { left, width } = layout;
  const pixels = (app.width = scroll.clientWidth);
  if (!pixels) return;
  Object.assign(app, { from: left[z], to: left[z] + width[z] });
  app.rows = visible(tree, layout, app.from, app.to, pixels);
  // Zooming must not make the page jump: rows of the whole picture stay reserved.
  app.count = Math.max(app.rows.length, Math.min(visible(tree, layout, 0, width[0], pixels).length, 30), 4);
  app.space.style.height = app.count * ROW + "px";
  const y = rowTop(app, tree.depth[z]);
  if (move) scroll.scrollTop = l ? y + 3 * ROW - scroll.clientHeight : y - 2 * ROW;
  draw(app);
}

function draw(app) {
  const { canvas, scroll: { clientHeight, scrollTop }, theme, state, rows, width, tree } = app;
  if (!rows || !width) return;
  const context = canvas.getContext("2d"), ratio = devicePixelRatio;
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(clientHeight * ratio) });
  canvas.style.height = clientHeight + "px";
  context.scale(ratio, ratio);
  theme.hatch ??= hatching(context, theme["frame-text"], ratio);
  const row = (y) => Math.floor((scrollTop + y) / ROW), last = app.count - 1, end = row(clientHeight);
  app.kinds = tree.view.groups.map(([id]) => theme.group(id));
  paint(context, app, Math.max(0, state.l ? last - end : row(0)), state.l ? last - row(0) : end);
  context.fillStyle = theme.faint;
  if (!rows.length) context.fillText("Nothing has a width here.", PAD, ROW);
  placeCursor(app);
}

// Where a frame is in the scrolled space; false if it can't be seen.
function boxOf(app, i) {
  const { layout, tree, width, from, to } = app, scale = width / (to - from);
  const x = (layout.left[i] - from) * scale, end = x + layout.width[i] * scale, left = Math.max(0, x);
  const seen = end > 0 && x < width;
  return seen && { left, top: rowTop(app, tree.depth[i]), width: Math.max(2, Math.min(width, end) - left) };
}

function placeCursor(app) {
  const place = app.pointed && boxOf(app, app.at);
  app.cursor.hidden = !place;
  for (const key in place) app.cursor.style[key] = place[key] + "px";
}
