// Trees made from the kept nodes: recursion collapsed, callers, merged callees.

// The name of what a function has in folded frames, whose callers and callees aren't here.
const ELSEWHERE = -2;

// A node that grows by merging: children of one name are one node.
function growing(name, nodes, parent) {
  const node = {
    name, nodes, parent, children: new Map(), weight: 0,
    folded: 0, selfBase: 0, selfNew: 0, selfKind: 0, selfGroup: 0, mark: null, selfMark: null,
  };
  nodes.push(node);
  parent?.children.set(name, node);
  return node;
}

const childOf = (node, name) => node.children.get(name) ?? growing(name, node.nodes, node);

// What is made of one node keeps its marks; nothing was judged that is merged here.
function mark(node, own, self) {
  const first = node.mark === null;
  node.mark = first ? own : UNJUDGED;
  node.selfMark = first ? self : UNJUDGED;
}

function give(node, base, fresh, kind, group) {
  node.selfBase += base;
  node.selfNew += fresh;
  node.selfKind = joined(node.selfKind, kind);
  node.selfGroup = joined(node.selfGroup, group);
}

// Lay a grown tree out in preorder, the heaviest child first, "(k smaller)" last.
function laidOut(view, root) {
  const { nodes } = root, [f, g] = view.factor, tree = treeOf(view, nodes.length);
  for (let i = nodes.length; i--; ) {
    const node = nodes[i];
    node.weight += Math.abs(node.selfBase) * f + Math.abs(node.selfNew) * g;
    if (node.parent) node.parent.weight += node.weight;
  }
  const stack = [[root, 0]];
  for (let i = 0; stack.length; i++) {
    const [node, depth] = stack.pop();
    tree.depth[i] = depth;
    for (const column of COLUMNS) tree[column][i] = node[column];
    const children = [...node.children.values()];
    children.sort((a, b) => (b.name < 0) - (a.name < 0) || a.weight - b.weight);
    for (const child of children) stack.push([child, depth + 1]);
  }
  return finished(tree);
}

// Merge node `from` and what is below it into `root`; collapsed: a frame that calls itself is one.
function graft(tree, from, root, collapse) {
  const at = [];
  for (let i = from; i < tree.end[from]; i++) {
    const above = at[tree.parent[i] - from], name = tree.name[i];
    const same = collapse && name >= 0 && above?.name === name;
    const node = (at[i - from] = i === from ? root : same ? above : childOf(above, name));
    node.folded += tree.folded[i];
    if (node === above) node.selfMark = UNJUDGED;
    else mark(node, tree.mark[i], tree.selfMark[i]);
    give(node, tree.selfBase[i], tree.selfNew[i], tree.selfKind[i], tree.selfGroup[i]);
  }
}

// The tree of a function's callers (inverted), or of all that it calls. In recursion only the
// outermost frame counts, so that no sample counts twice.
function pivoted(tree, name, callers, collapse) {
  const root = growing(name, []);
  for (let i = 0; i < tree.size; i++) {
    if (tree.name[i] !== name) continue;
    if (callers) {
      let node = root;
      const own = tree.mark[i], self = Math.min(own, 1);
      mark(root, own, self);
      for (let p = tree.parent[i]; p > 0; p = tree.parent[p]) {
        node = childOf(node, tree.name[p]);
        mark(node, own, self);
      }
      give(node, tree.base[i], tree.new[i], tree.kind[i], tree.group[i]);
    } else graft(tree, i, root, collapse);
    i = tree.end[i] - 1;
  }
  const { view, partial } = tree, [base, fresh] = view.hidden.map((column) => (partial ? 0 : column(name)));
  if (base || fresh) give(childOf(root, ELSEWHERE), base, fresh, 0, 0);
  root.mark = partial ? UNJUDGED : view.ofNames?.[name] ?? tree.mark[0];
  return Object.assign(laidOut(view, root), { partial });
}

// Parts of the samples: those below a root, which is where a goroutine began, and those with a
// label. `id` is what an address calls them.
const ROOTS = 40;

function partsOf(view) {
  const { tree, names, short } = view, parts = [];
  for (let i = 1; i < tree.size && parts.length < ROOTS; i = tree.end[i]) {
    const name = tree.name[i];
    if (name >= 0) parts.push({ id: "=" + names[name], kind: "goroutine root", text: "below " + short[name], root: i });
  }
  for (const filter of view.filters) {
    const { key, values } = filter, kind = `label ${printable(key)}`;
    const words = (value) => printable(value ? `${key}: ${value}` : "without " + key);
    values.forEach((value, at) => parts.push({ id: `${key}=${value}`, kind, text: words(value), filter, at }));
  }
  return parts;
}

// What is known of a part of a frame from the judgement of all of it. Fewer samples need a
// smaller change to be beyond noise: what would do for all of them does for a part.
function markOfPart(part, whole, i) {
  if (part.base[i] === whole.base[i] && part.new[i] === whole.new[i]) return whole.mark[i];
  const own = whole.mark[i], needs = needsOf(whole.view, own);
  if (!(own > 0)) return UNJUDGED;
  return needs && Math.abs(moveOf(part, i).delta) >= needs ? 0 : own;
}

// The whole tree with a part of the samples.
function partial(view, { root, filter, at }) {
  const whole = view.tree, tree = treeOf(view, whole.size), { quantum } = view;
  for (const column of ["depth", ...COLUMNS]) tree[column].set(whole[column]);
  const values = filter && varints(bytesOf(filter.nodes), whole.size - 1, Infinity);
  const count = filter?.values.length, several = values?.subarray(0, whole.size - 1).filter((kind) => kind > count).length;
  for (let i = 1, first = whole.size - 1 + at; i < whole.size; i++) {
    const kind = filter && values[i - 1];
    if (filter ? kind === at + 1 : i >= root && i < whole.end[root]) continue;
    const mixed = filter && kind > count;
    tree.selfBase[i] = mixed ? values[first] * quantum[0] : 0;
    tree.selfNew[i] = mixed ? values[first + several * count] * quantum[1] : 0;
    if (mixed) first += count;
    if (!tree.selfBase[i] && !tree.selfNew[i]) tree.selfKind[i] = tree.selfGroup[i] = 0;
  }
  finished(tree);
  for (let i = 0; i < whole.size; i++) {
    tree.mark[i] = markOfPart(tree, whole, i);
    if (tree.selfBase[i] !== whole.selfBase[i] || tree.selfNew[i] !== whole.selfNew[i]) tree.selfMark[i] = UNJUDGED;
  }
  return Object.assign(tree, { partial: true });
}
