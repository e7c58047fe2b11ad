// The parts around the canvas: toolbar, legend, tooltip.

const FLAME_KEYS = [
  ["/", "search frames by regexp"], ["n N", "next, previous match"],
  ["0 Esc", "reset the zoom, then leave a pivot"],
  ["1 … 5", "width: larger, new, base, |Δ|, both"], ["s", "significant changes only"], ["i", "icicle or flame"], ["r", "collapse recursion"],
  ["c m", "callers, merged callees of the frame"], ["t", "tree table"],
  ["o", "the function's row in the page's tables"],
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
  const turnTo = () => update(app, { view: app.select.selectedIndex, x: "", p: "", f: "", z: 0 });
  app.select = el("select", { "aria-label": "profile", change: turnTo }, ...profiles);
  app.select.hidden = !profiles[1];
  app.search = el("input", {
    type: "search", placeholder: "Search (regexp)", "aria-label": "search frames by regexp",
    input: () => update(app, { q: app.search.value }),
  });
  app.part = el("select", { "aria-label": "samples shown", change: () => update(app, { x: app.part.value }) });
  app.found = el("output", { class: "flame-note" });
  app.moves = el("p", { class: "flame-note" });
  return box("bar", app.select, app.part, choice(app, "w", "Width", WIDTHS), choice(app, "c", "Colour", coloursOf(app.views[0])),
    choice(app, "", "View", [...(app.views.some(({ marks }) => marks) ? [["1", "only significant", "grey within noise (s)", "s"]] : []), ["flame", "root below", "flame instead of icicle (i)", "l"],
      ["1", "collapse recursion", "a frame that calls itself is one frame (r)", "r"],
      ["1", "table", "the tree as a table (t)", "t"]]));
}

// A small frame, painted as large ones are.
function swatch(theme, colour, move = {}, w = 22) {
  const made = el("canvas", { "aria-hidden": "true" }), pen = made.getContext("2d"), h = 14;
  Object.assign(made, { width: w * devicePixelRatio, height: h * devicePixelRatio });
  Object.assign(made.style, { width: w + "px", height: h + "px" });
  pen.scale(devicePixelRatio, devicePixelRatio);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, w, h);
  theme.hatch ??= hatching(pen, theme["frame-text"], devicePixelRatio);
  decorate(pen, theme, { x: 0, y: 0, w, h }, move);
  return made;
}

// The shades with the least change that each stands for; faint ones where changes are judged.
function scaleOf(view, theme, { c, s }) {
  const [most] = largestOf(view, c), faint = view.marks && !s;
  if (!most) return el("span", {}, swatch(theme, theme.neutral), "nothing here changed significantly");
  const shades = theme.ramp.map((fill, at) => {
    const sign = Math.sign(at - MIDDLE), step = Math.abs(at - MIDDLE) - FAINT.length - 1;
    if (sign && step < 0 && !faint) return "";
    const least = step > 0 ? number(view, sign * STEPS[step] * most, true) : !sign ? "0" : step ? "~" : sign < 0 ? "<0" : ">0";
    return el("span", {}, swatch(theme, fill, {}, step < 0 ? 10 : 34), least);
  });
  return box("scale", "Δ", ...shades, withUnit(view, ""));
}

// Offer the parts of a profile's samples, by kind.
function offerParts({ part, tree: { view }, state: { x } }) {
  if (part.view !== view) {
    const groups = new Map();
    for (const { id, kind, text } of view.parts) {
      if (!groups.has(kind)) groups.set(kind, el("optgroup", { label: kind }));
      groups.get(kind).append(el("option", { value: id }, clipped(text, 60)));
    }
    part.replaceChildren(el("option", { value: "" }, saidOf(view).all), ...groups.values());
    part.hidden = !view.parts[1];
    part.view = view;
  }
  part.value = x;
}

function legend(app) {
  const { tree: { view }, theme, state, legend } = app, match = state.q || (state.f && !state.p);
  const of = [view, theme, state.c, state.s, state.w, state.x, !!match];
  if (of.every((part, at) => part === app.shownParts?.[at])) return;
  app.shownParts = of;
  const key = (...parts) => el("span", {}, ...parts);
  const about = (list, id) => list.find((option) => option[0] === id)[2];
  const whole = (value) => withUnit(view, number(view, value, true)), { delta } = moveOf(view.tree, 0);
  const [most] = state.c === "kind" ? [0] : largestOf(view, state.c);
  const only = state.x && ", only " + printable(state.x).replace(/^=/, "below ");
  legend.replaceChildren(
    ...(state.c === "kind"
      ? view.groups.map(([id, label]) => key(swatch(theme, theme.group(id)), label))
      : [scaleOf(view, theme, state)]),
    key(swatch(theme, theme.neutral, { gone: true }), "gone: only in " + view.labels[0]),
    key(swatch(theme, theme.neutral, { fresh: true }), "new: only in " + view.labels[1]),
    view.marks ? key("~ within noise") : "",
    view.causes[0] ? key(el("b", {}, view.causes[0][0]), "cause, by number") : "",
    ...(match ? [key(swatch(theme, theme.match), "match")] : []),
    el("p", {}, `${printable(view.title)}${only}: values ${view.mode}, ${view.labels.join(" → ")}; the total's Δ is ${whole(delta)}. `,
      `Width: ${about(WIDTHS, state.w)}. Colour: ${about(coloursOf(view), state.c)}`,
      !most ? "." : `; strong from 10 and 40% of the largest, ±${whole(most).slice(1)}.`),
  );
}

// What moved of the functions that a search found, as links to them.
function listMoves({ moves, hits, tree: { view } }) {
  const list = hits?.moves?.[1] ? hits.moves : [];
  const changed = ([name, move], at) => [at ? "; " : "Changed most: ", linkTo(view, view.names[name], view.short[name]), ` ${signOf(move)}${valuesOf(view, move)}`];
  moves.hidden = !list[0];
  moves.replaceChildren(...list.flatMap(changed));
}

const valuesOf = (view, { from, to }) => `${number(view, from)} → ${withUnit(view, number(view, to))}`;

const causeIn = ({ view, name }, i) => (view.causeOf.has(name[i]) ? `; cause ${view.causeOf.get(name[i])}` : "");

// A frame in one sentence, for the status line.
function sentence(tree, i) {
  const { view } = tree, move = moveOf(tree, i);
  return `${clipped(titleOf(tree, i), 300)}: ${valuesOf(view, move)}, ${change(view, move)}, ${chance(view, move)}${causeIn(tree, i)}`;
}

function tooltip(tree, i) {
  const { view } = tree, { labels, totals, was } = view;
  const move = moveOf(tree, i), name = titleOf(tree, i), old = was[tree.name[i]];
  const line = (...cells) => el("tr", {}, ...cells.map((cell, at) => el(at ? "td" : "th", {}, cell)));
  const values = (head, { from, to, delta }) =>
    line(head, number(view, from), number(view, to), number(view, delta, true));
  const points = 100 * (tree.new[i] / totals[1] - tree.base[i] / totals[0]) || 0, size = Math.abs(points);
  const own = ratio(move.from, move.to), present = (list) => list.filter(Boolean);
  const moved = present([
    change(view, move).replace(/\s?~/, ""), own !== "–" && "ratio " + own, chance(view, move) + causeIn(tree, i),
  ]);
  return [
    el("b", {}, clipped(name, 500) + (name[500] ? ` (${name.length} characters)` : "")),
    el("table", {}, line("", ...labels, "Δ"), values(view.scale.unit || "total", move),
      line("share", ...sharesOf(view, tree.base[i], tree.new[i]),
        (points < 0 ? "−" : "+") + size.toFixed(size < 1 ? 2 : 1) + " pp"),
      values("self", selfMoveOf(tree, i))),
    ...present([old && clipped(printable(old), 300), kindOf(tree, i), moved.join(" · ")])
      .map((text) => el("p", {}, text)),
  ];
}
