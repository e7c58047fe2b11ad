// The parts around the canvas: toolbar, legend, tooltip.

const FLAME_KEYS = [
  ["/", "search frames by regexp"], ["n N", "next, previous match"],
  ["0 Esc", "reset the zoom, then leave a pivot"],
  ["1 2 3 4", "width: larger, new, base, |Δ|"], ["i", "icicle or flame"], ["r", "collapse recursion"],
  ["c m", "callers, merged callees of the frame"], ["t", "tree table"],
  ["← ↑ → ↓ Enter", "move between frames, zoom"],
];

// An element; functions among the attributes are listeners.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value?.call) element.addEventListener(name, value);
    else if (value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const box = (name, ...children) => el("div", { class: "flame-" + name }, ...children);
const button = (text, click, title, more) => el("button", { type: "button", click, title, ...more }, text);

// Go to a value, or back from it.
const flip = (app, key, value) => update(app, { [key]: app.state[key] === value ? START[key] : value });

// Buttons that are pressed while the state has their value.
function choice(app, key, label, options) {
  const buttons = options.map(([value, text, title, own = key]) => {
    const made = button(text, () => flip(app, own, value), title);
    app.choices.push([made, own, value]);
    return made;
  });
  return el("div", { class: "flame-choice", role: "group", "aria-label": label }, label, ...buttons);
}

function toolbar(app) {
  const profiles = app.views.map((view) => el("option", {}, printable(view.title)));
  const turnTo = () => update(app, { view: app.select.selectedIndex, p: "", z: 0 });
  app.select = el("select", { "aria-label": "profile", change: turnTo }, ...profiles);
  app.select.hidden = !profiles[1];
  app.search = el("input", {
    type: "search", placeholder: "Search (regexp)", "aria-label": "search frames by regexp",
    input: () => update(app, { q: app.search.value }),
  });
  app.found = el("output", { class: "flame-note" });
  return box("bar", app.select, choice(app, "w", "Width", WIDTHS), choice(app, "c", "Colour", COLOURS),
    choice(app, "", "View", [["flame", "root below", "flame instead of icicle (i)", "l"],
      ["1", "collapse recursion", "a frame that calls itself is one frame (r)", "r"],
      ["1", "table", "the tree as a table (t)", "t"]]));
}

function legend({ tree: { view }, theme, state, legend }) {
  const key = (...parts) => el("span", {}, ...parts);
  const about = (list, id) => list.find((option) => option[0] === id)[2];
  const swatch = (colour, kind) => {
    const mark = el("i", { class: kind });
    mark.style.backgroundColor = colour;
    return mark;
  };
  legend.replaceChildren(
    ...(state.c === "kind"
      ? view.groups.map(([id, label]) => key(swatch(theme.group(id), ""), label))
      : [key("▼ less", ...theme.ramp.map((colour) => swatch(colour, "ramp")), "more ▲")]),
    ...["gone", "new"].map((kind, at) => key(swatch(theme.neutral, kind), `${kind}: only in ${view.labels[at]}`)),
    view.marks ? "~ within noise" : "",
    ...(state.q ? [key(swatch(theme.match, ""), "match")] : []),
    el("p", {}, `Values ${view.mode}, ${view.labels.join(" → ")}. Width: ${about(WIDTHS, state.w)}. `,
      `Colour: ${about(COLOURS, state.c)}.`),
  );
}

// A frame in one sentence, for the status line.
function sentence(tree, i) {
  const { view } = tree, move = moveOf(tree, i);
  const values = `${number(view, move.from)} → ${withUnit(view, number(view, move.to))}`;
  return `${clipped(titleOf(tree, i), 300)}: ${values}, ${change(view, move)}, ${chance(view, move)}`;
}

function tooltip(tree, i) {
  const { view } = tree, { labels, totals, was } = view;
  const move = moveOf(tree, i), name = titleOf(tree, i), old = was[tree.name[i]];
  const line = (...cells) => el("tr", {}, ...cells.map((cell, at) => el(at ? "td" : "th", {}, cell)));
  const values = (head, { from, to, delta }) =>
    line(head, number(view, from), number(view, to), number(view, delta, true));
  const points = 100 * (tree.new[i] / totals[1] - tree.base[i] / totals[0]) || 0, size = Math.abs(points);
  const own = ratio(move.from, move.to), told = (list) => list.filter(Boolean);
  const moved = told([
    change(view, move).replace(/ ?~/, ""), own !== "–" && "own ratio " + own, chance(view, move),
  ]);
  return [
    el("b", {}, clipped(name, 500) + (name[500] ? ` (${name.length} characters)` : "")),
    el("table", {}, line("", ...labels, "Δ"), values(view.scale.unit || "total", move),
      line("share", ...sharesOf(view, tree.base[i], tree.new[i]),
        (points < 0 ? "−" : "+") + size.toFixed(size < 1 ? 2 : 1) + " pp"),
      values("self", selfMoveOf(tree, i))),
    ...told([old && clipped(printable(old), 300), kindOf(tree, i), moved.join(" · ")])
      .map((text) => el("p", {}, text)),
  ];
}
