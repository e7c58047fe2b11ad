// Pointer and keyboard, and the beginning of it all: flames(section).

// Make a frame the current one, reached by a pointer's event or else by keyboard.
function point(app, i, event) {
  const { tip, tree } = app, place = boxOf(app, i);
  if (i !== app.at || tip.hidden) tip.replaceChildren(...tooltip(tree, i));
  Object.assign(app, { at: i, pointed: true });
  placeCursor(app);
  if (!event) {
    app.status.textContent = sentence(tree, i);
    if (!place) return;
    intoView(app, place.top);
  }
  tip.hidden = false;
  placeTip(app, event);
}

function placeTip({ tip, cursor }, event) {
  const { left, top } = cursor.getBoundingClientRect(), { width, height } = tip.getBoundingClientRect();
  const x = event?.clientX ?? left, y = event?.clientY ?? top, below = y + 22 + height < innerHeight;
  tip.style.left = Math.max(8, Math.min(x + 12, innerWidth - width - 8)) + "px";
  tip.style.top = Math.max(8, below ? y + 22 : y - height - 12) + "px";
}

function leave(app) {
  app.tip.hidden = true;
  app.pointed = false;
  placeCursor(app);
}

function frameUnder(app, { clientX, clientY }) {
  const { space, count, state, panes } = app, edge = space.getBoundingClientRect(), row = Math.floor((clientY - edge.top) / ROW);
  const at = clientX - edge.left, { from, to, width, rows, layout, x: start } = Object.assign(app, panes.findLast(({ x }) => x <= at));
  const x = from + ((at - start) / width) * (to - from);
  return nodeAt(layout, rows[state.l ? count - 1 - row : row] ?? [], x);
}

function listen(app) {
  const { canvas } = app;
  let touch;
  const on = (name, done) => canvas.addEventListener(name, done);
  const hint = (i, event) => (i < 0 ? leave(app) : point(app, i, event));
  on("pointerdown", (event) => (touch = event.pointerType === "touch"));
  on("pointermove", (event) => event.pointerType === "touch" || hint(frameUnder(app, event), event));
  on("pointerleave", () => touch || leave(app));
  on("click", (event) => {
    const i = frameUnder(app, event);
    // A finger can't hover: its first tap shows the hint, its second zooms.
    if (i < 0 || (touch && (i !== app.at || app.tip.hidden))) hint(i, event);
    else update(app, { z: i });
  });
  on("blur", () => leave(app));
  on("focus", () => canvas.matches(":focus-visible") && point(app, app.at));
  app.scroll.addEventListener("scroll", () => draw(app));
  addEventListener("scroll", () => {
    if (!canvas.matches(":focus-visible")) app.tip.hidden = true;
    else if (!app.tip.hidden) requestAnimationFrame(() => placeTip(app));
  });
}

// The next frame for an arrow key: child, parent, or neighbour in the row.
function neighbour({ tree, at, rows, state }, key) {
  const row = rows[tree.depth[at]] ?? [], side = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (side) return row[row.indexOf(at) + side] ?? at;
  if ((key === "ArrowUp") !== !!state.l) return Math.max(0, tree.parent[at]);
  return rows[tree.depth[at] + 1]?.find((c) => tree.parent[c] === at) ?? at;
}

function nextMatch(app, step) {
  const nodes = app.hits?.nodes ?? [], { length } = nodes;
  if (!length || app.state.t) return;
  const hit = app.hit < 0 && step < 0 ? length - 1 : (app.hit + step + length) % length, i = nodes[hit];
  if (!(boxOf(app, i)?.width > 8)) update(app, { z: i });
  app.hit = hit;
  point(app, i);
  app.status.textContent = `match ${hit + 1} of ${length}: ${sentence(app.tree, i)}`;
}

const pivotTo = (p) => (app) => {
  const f = app.tree.view.names[app.tree.name[app.at]];
  if (f && (app.at || app.state.p)) update(app, { p, f });
};

const PRESSED = {
  "/": (app) => app.search.focus(), n: (app) => nextMatch(app, 1), N: (app) => nextMatch(app, -1),
  0: reset, Escape: reset,
  s: (app) => flip(app, "s", "1"), i: (app) => flip(app, "l", "flame"), r: (app) => flip(app, "r", "1"), t: (app) => flip(app, "t", "1"),
  c: pivotTo("callers"), m: pivotTo("merged"),
  o: (app) => toRow(rowFor(app, app.tree.view.names[app.tree.name[app.at]])),
};
WIDTHS.forEach(([w], at) => (PRESSED[at + 1] = (app) => update(app, { w })));

const modified = (event) => event.ctrlKey || event.altKey || event.metaKey;

function press(app, event) {
  const { target, key } = event, { search, canvas, state } = app;
  if (modified(event) || event.defaultPrevented) return;
  if (target === search && (key === "Enter" || key === "Escape")) {
    if (key === "Escape") update(app, { q: "" });
    (state.t ? app.row : canvas).focus();
    if (key === "Enter") nextMatch(app, 1);
  } else if (target.closest("input, select, textarea, dialog")) return;
  else if (target !== document.body && !app.section.contains(target)) return;
  else if (target === canvas && key.startsWith("Arrow")) point(app, neighbour(app, key));
  else if (target === canvas && key === "Enter") {
    update(app, { z: app.at });
    point(app, app.at);
  } else if (PRESSED[key]) PRESSED[key](app);
  else return;
  event.preventDefault();
}

function build(section, views) {
  const app = { section, views, state: START, at: 0, choices: [], theme: themeOf(section) };
  const label = `${saidOf(views[0]).picture}; arrow keys move, Enter zooms, t shows the same as a table`;
  app.canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": label });
  app.cursor = box("cursor");
  app.space = box("space", app.canvas, app.cursor);
  for (const name of ["trail", "table", "legend"]) app[name] = box(name);
  app.scroll = box("scroll", app.space);
  app.status = el("p", { class: "flame-note", "aria-live": "polite" });
  app.tip = el("div", { class: "flame-tip", role: "tooltip" });
  const bar = toolbar(app), line = box("line", app.trail, app.found, app.search);
  section.append(bar, line, app.moves, app.scroll, app.table, app.status, app.legend, app.tip);
  return app;
}

// Build the flame graph in a section that holds its data: the only entry point.
function flames(section) {
  let views;
  try {
    views = [...section.querySelectorAll(".flame-data")].map((data) => viewOf(JSON.parse(data.textContent)));
  } catch (error) {
    return section.append(el("p", {}, `The flame graph's data can't be read: ${error.message}.`));
  }
  if (!views.length) return;
  const app = build(section, views);
  const retheme = () => {
    app.theme = themeOf(section);
    legend(app);
    arrange(app);
  };
  const follow = (first) => {
    const asked = stateOf(views, location.hash);
    if (asked || !app.tree) update(app, asked ?? app.state, true);
    app.fresh = first && !asked;
    openAtCause(app);
    if (asked) section.parentElement.scrollIntoView();
  };
  document.addEventListener("themechange", retheme);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", retheme);
  }
  document.addEventListener("keydown", (event) => press(app, event));
  addEventListener("hashchange", () => history.state?.flame || follow(false));
  addEventListener("popstate", ({ state }) => {
    const past = state?.flame && stateOf(views, state.flame);
    if (past) update(app, past, true);
  });
  listen(app);
  follow(true);
  // The picture first, then what leads to it.
  setTimeout(() => linkNames(app));
  // Deferred: to change the observed height at once would be a loop.
  const resized = () => {
    if (app.scroll.clientWidth !== app.pixels) arrange(app);
    openAtCause(app);
  };
  new ResizeObserver(() => requestAnimationFrame(resized)).observe(app.scroll);
}
