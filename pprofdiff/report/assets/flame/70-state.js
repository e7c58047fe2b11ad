// What is looked at, as a URL fragment (#cpu;w=new;q=foo;z=main.main,main.work), and the search.
// Names, not numbers, say which frame: an address outlives the report.

// Profile, width, colour, significant changes only, layout, recursion, table, part of samples, pivot, function, search, zoom.
const START = { view: 0, w: "max", c: "change", s: "", l: "", r: "", t: "", x: "", p: "", f: "", q: "", z: 0 };
const ids = (list) => list.map(([id]) => id);
const CHOICES = { w: ids(WIDTHS), c: ids(COLOURS), s: ["1"], l: ["flame"], r: ["1"], t: ["1"], p: ["callers", "merged"] };
const FREE = ["x", "f", "q"];
const STEPS_BACK = ["view", "t", "x", "p", "f", "z"]; // what Back undoes, each change of it
const LONGEST = 8000; // characters of a path in an address; deeper frames have their function's

const spelled = (text) => encodeURIComponent(text).replaceAll("%2F", "/");

// The names from below the root down to a frame, "" for what is folded.
function pathOf(tree, i) {
  const path = [];
  for (; i > 0; i = tree.parent[i]) path.push(tree.view.names[tree.name[i]] ?? "");
  return path.reverse();
}

// The frame at the end of a path, or the nearest that there is, and words if it is not the one.
function frameAt(tree, path) {
  let i = 0;
  for (const name of path) {
    const wanted = name && (tree.view.place.get(name) ?? NaN);
    let c = i + 1;
    while (c < tree.end[i] && (wanted === "" ? tree.name[c] >= 0 : tree.name[c] !== wanted)) c = tree.end[c];
    if (c >= tree.end[i]) {
      const lost = name ? clipped(printable(name), 120) : "What was folded";
      return [i, `${lost} is not there in this report: this is the nearest frame. `];
    }
    i = c;
  }
  return [i, ""];
}

// Of a function's frames the one to see first, 0 if there is none.
function heaviest(tree, f) {
  const name = tree.view.place.get(f) ?? NaN, weight = (i) => Math.max(Math.abs(tree.base[i]), Math.abs(tree.new[i]));
  let best = 0;
  for (let i = 1; i < tree.size; i++) {
    if (tree.name[i] === name && (!best || weight(i) > weight(best))) best = i;
  }
  return best;
}

// A function's address has no path to its heaviest frame, and z= for the whole picture.
function fragmentOf(views, state, tree) {
  const own = state.f && !state.p, plain = own ? state.z === heaviest(tree, state.f) : !state.z;
  const said = { ...state, z: plain ? 0 : pathOf(tree, state.z).map(spelled).join(",") };
  if (said.z.length > LONGEST) {
    said.z = 0;
    said.f ||= tree.view.names[tree.name[state.z]] ?? "";
  }
  const keys = Object.keys(START).filter((key) => key !== "view" && said[key] !== START[key]);
  const text = keys.map((key) => `${key}=${key === "z" ? said.z : spelled(said[key])}`).join(";");
  return `#${spelled(views[state.view].id)};${text}`;
}

const functionAt = (view, name) => `#${spelled(view.id)};f=${spelled(name)}`;

// The state in a fragment, null if it isn't ours (ours have a ";"); what's wrong in it is left out.
function stateOf(views, fragment) {
  try {
    const [id, ...parts] = fragment.slice(1, 60000).split(";"), profile = decodeURIComponent(id);
    const state = { ...START, view: views.findIndex((view) => view.id === profile) };
    for (const part of parts) {
      const key = part[0], value = part.slice(2), text = decodeURIComponent(value);
      if (key === "z") state.z = value ? value.split(",").map(decodeURIComponent) : [];
      else if (CHOICES[key]?.includes(text) || FREE.includes(key)) state[key] = text;
    }
    return parts.length && state.view >= 0 ? state : null;
  } catch {
    return null;
  }
}

// Write the address. Back leads to the state `before`, which a frame in a notebook can't have.
function remember({ views, state, tree }, before) {
  try {
    const text = fragmentOf(views, state, tree), old = history.state?.flame;
    if (before && before !== text && window === top) {
      if (!old || !stateOf(views, old)) history.replaceState({ flame: before }, "");
      history.pushState({ flame: text }, "", text);
    } else if (old || text !== fragmentOf(views, START) || stateOf(views, location.hash)) {
      // Somebody else's fragment stays until there is something to remember.
      history.replaceState({ flame: text }, "", text);
    }
  } catch {
    // A srcdoc frame has no address; browsers limit how often one changes.
  }
}

// Which names a state looks for, or words that say why none: a search, or one function.
function wanted({ names, short, place }, { q, f, p }) {
  if (!q) return f && !p && place.has(f) ? names.map((name) => name === f) : null;
  const test = matcher(q);
  return test.call ? names.map((name, i) => test(name) || test(short[i])) : test;
}

// What a search finds: names, outermost frames (largest |Δ| first), and words about them.
function searched(tree, state) {
  const { view } = tree, names = wanted(view, state), nodes = [];
  if (!names?.map) return names && { nodes, words: names };
  names[names.length - 1] = false; // "all"
  const drawn = [0, 0, 0, 0], unseen = [0, 0, 0, 0], each = new Map();
  for (let i = 0, until = 0; i < tree.size; i++) {
    const name = tree.name[i];
    if (!names[name]) continue;
    if (!each.has(name)) each.set(name, { base: 0, fresh: 0, until: 0 });
    const own = each.get(name);
    if (i >= own.until) {
      own.base += tree.base[i];
      own.fresh += tree.new[i];
      own.until = tree.end[i];
    }
    drawn[2] += tree.selfBase[i];
    drawn[3] += tree.selfNew[i];
    if (i < until) continue;
    nodes.push(i);
    drawn[0] += tree.base[i];
    drawn[1] += tree.new[i];
    until = tree.end[i];
  }
  let count = 0;
  for (let name = 0; name < names.length; name++) {
    if (!names[name]) continue;
    count++;
    for (let column = 0; column < 4; column++) unseen[column] += view.hidden[column](name);
  }
  nodes.sort(byDelta(tree));
  return { names, nodes, words: summed(tree, state, count, drawn, unseen), moves: movesOf(tree, state, each) };
}

// The functions that changed most of those found in frames, noise last: [name, move].
function movesOf({ view }, { p, x }, each) {
  const moves = [...each].map(([name, { base, fresh }]) => {
    if (p || x) return [name, compared(view, base, fresh, UNJUDGED)];
    const [b, n] = view.hidden.map((column) => column(name));
    return [name, compared(view, base + b, fresh + n, view.ofNames?.[name] ?? UNJUDGED)];
  });
  const noise = ({ beyond }) => beyond === false;
  return moves.sort(([, a], [, b]) => noise(a) - noise(b) || Math.abs(b.delta) - Math.abs(a.delta)).slice(0, 6);
}

// What `count` functions add up to. One function's sums are exact, and so are all of a tree
// that has no folded frames; else only self values can be added up over folded frames.
function summed({ view }, { p, x }, count, drawn, unseen) {
  if (!count) return "no match" + (view.left ? ` (${view.left} functions of least weight are not in this page)` : "");
  const move = (base, fresh) => "Δ " + withUnit(view, number(view, fresh * view.factor[1] - base * view.factor[0], true));
  const sum = (base, fresh) => `${sharesOf(view, base, fresh).join(" → ")}, ${move(base, fresh)}`;
  if (p || x) return `matched: ${sum(drawn[0], drawn[1])} in this picture`;
  const whole = drawn.map((value, column) => value + unseen[column]), self = `; self ${move(whole[2], whole[3])}`;
  const functions = count > 1 ? ` · ${count} ${saidOf(view).many}` : "", folded = unseen.some(Boolean);
  if (count > 1 && folded) {
    return `matched in frames drawn: ${sum(drawn[0], drawn[1])}; in folded ones `
      + `${move(unseen[0], unseen[1])} (added up by function: stacks of several count twice)${self}, exactly${functions}`;
  }
  const where = folded ? `; of that ${move(unseen[0], unseen[1])} in folded frames` : "";
  return `matched: ${sum(whole[0], whole[1])}${self}${where}${functions}`;
}

const byDelta = (tree) => (a, b) => Math.abs(moveOf(tree, b).delta) - Math.abs(moveOf(tree, a).delta);
