// Trees made from the kept nodes: recursion collapsed, callers, merged callees.

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
  root.mark = tree.view.ofNames?.[name] ?? tree.mark[0];
  return laidOut(tree.view, root);
}
