// What is looked at, as a URL fragment (#cpu;w=new;q=foo;z=12), and the search.

// Profile, width, colour, layout, recursion, table, pivot and its function, search, zoom.
const START = { view: 0, w: "max", c: "change", l: "", r: "", t: "", p: "", f: "", q: "", z: 0 };
const ids = (list) => list.map(([id]) => id);
const CHOICES = { w: ids(WIDTHS), c: ids(COLOURS), l: ["flame"], r: ["1"], t: ["1"], p: ["callers", "merged"] };

function fragmentOf(views, state) {
  const said = Object.keys(START).filter((key) => key !== "view" && state[key] !== START[key]);
  const text = said.map((key) => `${key}=${encodeURIComponent(state[key])}`).join(";");
  return `#${encodeURIComponent(views[state.view].id)};${text}`.replaceAll("%2F", "/");
}

// The state in a fragment, null if it isn't ours (ours have a ";"); what's wrong in it is left out.
function stateOf(views, fragment) {
  try {
    const [id, ...parts] = fragment.slice(1, 20000).split(";").map(decodeURIComponent);
    const state = { ...START, view: views.findIndex((view) => view.id === id) };
    for (const part of parts) {
      const key = part[0], value = part.slice(2);
      if (key === "z") state.z = Number(/^\d{1,7}$/.test(value) && value);
      else if (CHOICES[key]?.includes(value) || key === "q" || key === "f") state[key] = value;
    }
    return parts.length && state.view >= 0 ? state : null;
  } catch {
    return null;
  }
}

function remember(views, state) {
  try {
    const text = fragmentOf(views, state);
    // Somebody else's fragment stays until there is something to remember.
    if (text !== fragmentOf(views, START) || stateOf(views, location.hash)) history.replaceState(null, "", text);
  } catch {
    // A srcdoc frame has no address; browsers limit how often one changes.
  }
}

// A test of names, or words that say why not. A link must not hang the page: no repeated
// groups, four repeats at most, and the more of them, the less of a name is read.
function matcher(query) {
  const plain = query.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, "x");
  const repeats = plain.match(/[*+{]|[^(*+}]\?/g)?.length ?? 0;
  if (/\)[*+{]/.test(plain) || repeats > 4) return "this pattern repeats too much";
  try {
    const pattern = new RegExp(query, query === query.toLowerCase() ? "i" : "");
    return (name) => pattern.test(name.slice(0, [10000, 2000, 500, 200, 100][repeats]));
  } catch {
    return "not a regular expression";
  }
}

// What a search finds: names, outermost frames (largest |Δ| first), and words about them.
function searched(tree, query) {
  const test = matcher(query), { view } = tree, nodes = [];
  if (!test.call) return { nodes, words: test };
  const names = view.names.map((name, i) => test(name) || test(view.short[i]));
  names[names.length - 1] = false; // "all"
  let base = 0, fresh = 0;
  for (let i = 0; i < tree.size; i++) {
    if (!names[tree.name[i]]) continue;
    nodes.push(i);
    base += tree.base[i];
    fresh += tree.new[i];
    i = tree.end[i] - 1;
  }
  nodes.sort(byDelta(tree));
  const shares = sharesOf(view, base, fresh).join(" → ");
  const delta = withUnit(view, number(view, fresh * view.factor[1] - base * view.factor[0], true));
  return { names, nodes, words: nodes.length ? `matched: ${shares}, Δ ${delta}` : "no match" };
}

const byDelta = (tree) => (a, b) => Math.abs(moveOf(tree, b).delta) - Math.abs(moveOf(tree, a).delta);
