// State in, picture out.

const READ = 40; // pixels in which the number of a cause and a little of its name are seen
const WORTH = 0.01; // share of the total from which a frame is worth a zoom, as policy.MINOR

// The tree that a state asks for; those made once are kept.
function treeFor(view, { r, p, f, x }) {
  const { trees, place } = view, part = x && view.parts.find(({ id }) => id === x);
  const all = part ? (trees["part " + x] ??= partial(view, part)) : view.tree;
  const whole = r ? (trees["r " + x] ??= pivoted(all, all.name[0], false, true)) : all;
  const name = p ? place.get(f) : undefined;
  return name === undefined ? whole : (trees[`${p} ${name} ${r} ${x}`] ??= pivoted(whole, name, p === "callers"));
}

// Go to another state; whatever the patch doesn't say stays.
function update(app, patch, quietly) {
  const last = app.state, before = !quietly && fragmentOf(app.views, last, app.tree);
  const state = (app.state = { ...last, ...patch }), view = app.views[state.view];
  const lost = state.x && !view.parts.some(({ id }) => id === state.x) && `${printable(state.x)} is not in this report: ${saidOf(view).all} are shown. `;
  if (lost) state.x = "";
  if (!view.place.has(state.f)) state.p = "";
  const tree = treeFor(view, state), layout = layoutOf(tree, state.w === "both" ? "max" : state.w);
  const other = tree !== app.tree;
  if (patch.q && !state.p) state.f = "";
  if (state.c === "kind" && !view.groups.length) state.c = START.c;
  const sought = ["q", "f", "p"].some((key) => state[key] !== app.sought?.[key]);
  if (other || sought) app.hits = searched(tree, (app.sought = state));
  Object.assign(app, { tree, layout, hit: -1, notice: "" });
  if (other && !("z" in patch)) state.z = 0;
  if (state.z.map) [state.z, app.notice] = frameAt(tree, state.z);
  else if (patch.f && !state.p && !state.z) toHeaviest(app);
  while (state.z && !layout.width[state.z]) state.z = tree.parent[state.z];
  if (other || "z" in patch) app.at = state.z;
  app.notice = (lost || "") + app.notice;
  // Before anything grows: Back returns to where one was.
  if (!quietly) remember(app, STEPS_BACK.some((key) => state[key] !== last[key]) && before);
  refresh(app);
}

// Begin in the first profile where a cause costs something, with as much of the picture as leaves
// that cause's frame wide enough to be seen, once there is a width.
function openAtCause(app) {
  if (!app.fresh || !app.scroll.clientWidth) return;
  app.fresh = false;
  for (const [view, { tree, causes, names }] of app.views.entries()) {
    const { width } = layoutOf(tree, "max");
    for (const [number, ...of] of causes) {
      const [seen] = of.map((name) => heaviest(tree, names[name])).sort((a, b) => width[b] - width[a]);
      if (!seen || width[seen] < WORTH * width[0]) continue;
      let z = seen;
      while (z && width[seen] * app.scroll.clientWidth >= READ * width[tree.parent[z]]) z = tree.parent[z];
      update(app, { view, z }, true);
      if (z) app.status.textContent = `Zoomed to cause ${number}. ` + sentence(tree, seen);
      return intoView(app, rowTop(app, tree.depth[seen]));
    }
  }
}

const intoView = ({ scroll }, top) => (scroll.scrollTop = Math.max(top + ROW - scroll.clientHeight, Math.min(top, scroll.scrollTop)));

// Zoom to the heaviest frame of the function that the state names, and say how many there are.
function toHeaviest(app) {
  const { tree, state, hits } = app, name = clipped(printable(state.f), 120);
  if (!hits) app.notice = `${name} is not in ${printable(tree.view.title)} of this report. `;
  else if (!hits.nodes.length) app.notice = `${name} is in folded frames alone. `;
  else {
    state.z = heaviest(tree, state.f);
    if (hits.nodes[1]) app.notice = `The heaviest of ${hits.nodes.length} frames (n: next). `;
  }
}

function refresh(app) {
  const { state, section, table, scroll, trail, search, tree } = app;
  const held = [table, scroll, trail].some((part) => part.contains(document.activeElement));
  for (const [made, key, value] of app.choices) {
    made.ariaPressed = String(state[key] === value);
    made.disabled = value === "kind" && !tree.view.groups.length;
  }
  app.select.selectedIndex = state.view;
  offerParts(app);
  search.value = state.q;
  app.found.value = app.hits?.words ?? "";
  listMoves(app);
  app.status.textContent = app.notice + sentence(tree, state.z);
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
  const { tree, state: { z, p, f: sought }, trail } = app, path = [];
  for (let i = z; i >= 0; i = tree.parent[i]) {
    if (i && path.length > 2) continue; // the root and the last three
    const name = clipped(shortOf(tree, i), 48), cut = path.length === 2 && tree.depth[i] > 1;
    const crumb = button((cut ? "… › " : "") + name, () => update(app, { z: i }));
    if (i === z) crumb.ariaCurrent = "true";
    path.unshift(crumb);
  }
  const f = tree.view.names[tree.name[z]], said = saidOf(tree.view), ways = [];
  if (z || sought) ways.push(button("reset", () => reset(app), "0 or Escape"));
  if ((z || p) && f) {
    const pivot = (text, p, title) => button(text, () => update(app, { p, f }), title);
    ways.unshift(pivot(said.callers, "callers", said.who), pivot(said.merged, "merged", said.what));
    const row = rowFor(app, f), lanes = rowFor(app, f, app.lanesOf);
    if (lanes) ways.unshift(button("lanes", () => toRow(lanes), "its worst moment, lane by lane"));
    if (row) ways.unshift(button("row", () => toRow(row), "its row in a table (o)"));
  }
  const head = { callers: said.above, merged: said.below }[p] ?? "";
  const note = p || z ? "" : "Click a frame to zoom.";
  trail.replaceChildren(el("span", {}, head, ...path), ...ways, el("span", { class: "flame-note" }, note));
}

const reset = (app) => (app.state.z ? update(app, { z: 0 }) : app.state.f && update(app, { p: "", f: "" }));

const rowTop = ({ state, count }, row) => (state.l ? count - 1 - row : row) * ROW;

// Find what is in the window and make room for its rows; scroll to where the zoom begins.
function arrange(app, move) {
  const { tree, scroll, state: { z, l } } = app, pixels = (app.pixels = scroll.clientWidth);
  if (!pixels) return;
  app.panes = panesOf(tree, app.state, pixels);
  app.count = Math.max(4, ...app.panes.map(({ rows, layout }) => Math.max(rows.length, Math.min(layout.deep, 30))));
  Object.assign(app, app.panes[0]); // the one that the pointer is in
  app.space.style.height = app.count * ROW + "px";
  const y = rowTop(app, tree.depth[z]);
  if (move) scroll.scrollTop = l ? y + 3 * ROW - scroll.clientHeight : y - 2 * ROW;
  draw(app);
  placeCursor(app);
}

function draw(app) {
  const { canvas, scroll: { clientHeight, scrollTop }, theme, state, panes, pixels, tree } = app;
  if (!panes) return;
  const context = canvas.getContext("2d"), ratio = devicePixelRatio;
  Object.assign(canvas, { width: Math.round(pixels * ratio), height: Math.round(clientHeight * ratio) });
  canvas.style.height = clientHeight + "px";
  context.scale(ratio, ratio);
  theme.hatch ??= hatching(context, theme["frame-text"], ratio);
  const row = (y) => Math.floor((scrollTop + y) / ROW), last = app.count - 1, end = row(clientHeight);
  app.kinds = tree.view.groups.map(([id]) => theme.group(id));
  for (const pane of panes) {
    context.setTransform(ratio, 0, 0, ratio, pane.x * ratio, 0);
    paint(context, { ...app, ...pane }, Math.max(0, state.l ? last - end : row(0)), state.l ? last - row(0) : end);
    context.fillStyle = theme.faint;
    if (!pane.rows.length) context.fillText("Nothing has a width here.", PAD, ROW);
  }
}

// Where a frame is in the scrolled space; false if it can't be seen.
function boxOf(app, i) {
  for (const { layout, width, from, to, x } of [app, ...app.panes]) {
    const scale = width / (to - from), start = (layout.left[i] - from) * scale;
    const end = start + layout.width[i] * scale, left = Math.max(0, start);
    if (end <= left || start >= width) continue;
    return { left: left + x, top: rowTop(app, app.tree.depth[i]), width: Math.max(2, Math.min(width, end) - left) };
  }
  return false;
}

function placeCursor(app) {
  const place = app.pointed && boxOf(app, app.at);
  app.cursor.hidden = !place;
  for (const key in place) app.cursor.style[key] = place[key] + "px";
}
