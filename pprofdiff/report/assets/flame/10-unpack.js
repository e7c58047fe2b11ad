// The packed object of one sample type -> a view with its whole tree.

const MIXED = 65535; // samples of several categories or groups
// Marks say what the report's judge found: 0 a change beyond noise, above 0 noise.
const UNJUDGED = -1;

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

// All LEB128 numbers, those from..to zigzag. They may exceed 2⁵³: no shifts, signs by the first bit.
function varints(bytes, from, to) {
  const out = new Float64Array(bytes.length);
  let count = 0, value = 0, unit = 1, odd = 0;
  for (const byte of bytes) {
    if (unit === 1) odd = byte & 1;
    value += (byte & 127) * unit;
    unit *= 128;
    if (byte > 127) continue;
    out[count] = count < from || !(count < to) ? value : odd ? -(value + 1) / 2 : value / 2;
    count++;
    value = 0;
    unit = 1;
  }
  return out.subarray(0, count);
}

// A tree in preorder; 0 is the root. A name is an index, −1 for "(k smaller)".
const COLUMNS = ["name", "folded", "selfBase", "selfNew", "selfKind", "selfGroup", "mark", "selfMark"];

function treeOf(view, size) {
  const tree = { view, size, layouts: {} };
  for (const column of ["depth", "churn", ...COLUMNS]) tree[column] = new Float64Array(size);
  return tree;
}

// What two sums of samples are together.
const joined = (a, b) => (!a || a === b ? b : b ? MIXED : a);

// Add what follows from depths and self values: parents, ends, inclusive sums.
function finished(tree) {
  const { view: { factor }, size, depth, selfBase, selfNew, churn } = tree;
  const parent = (tree.parent = new Int32Array(size).fill(-1)), end = (tree.end = new Int32Array(size));
  const base = (tree.base = selfBase.slice()), fresh = (tree.new = selfNew.slice());
  const kind = (tree.kind = tree.selfKind.slice()), group = (tree.group = tree.selfGroup.slice());
  const latest = [];
  for (let i = 0; i < size; i++) {
    latest[depth[i]] = i;
    if (i) parent[i] = latest[depth[i] - 1];
    end[i] = i + 1;
    churn[i] = Math.abs(selfNew[i] * factor[1] - selfBase[i] * factor[0]);
  }
  for (let i = size - 1; i > 0; i--) {
    const p = parent[i];
    base[p] += base[i];
    fresh[p] += fresh[i];
    churn[p] += churn[i];
    end[p] = Math.max(end[p], end[i]);
    kind[p] = joined(kind[p], kind[i]);
    group[p] = joined(group[p], group[i]);
  }
  return tree;
}

function viewOf(packed) {
  const { count, quantum, categories } = packed;
  const prefix = varints(bytesOf(packed.prefix)), values = varints(bytesOf(packed.nodes), 2 * count, 4 * count);
  let last = "";
  const names = packed.suffix.map((suffix, i) => (last = last.slice(0, prefix[i]) + suffix));
  const [marks, ofNames] = ["marks", "functions"].map((key) => packed[key] && varints(bytesOf(packed[key])));
  const labels = packed.labels.map((label) => clipped(printable(label), 24));
  const view = { ...packed, names, labels, ofNames, trees: {}, spelt: [], largest: {} };
  // Cum of base and of new, flat of both, that no node of the function has.
  const unseen = packed.hidden && varints(bytesOf(packed.hidden), 0, Infinity), { length } = names;
  view.hidden = [0, 1, 2, 3].map((column) => (name) => (unseen?.[column * length + name] ?? 0) * quantum[column % 2]);
  view.place = new Map(names.map((name, i) => [name, i]));
  // The number of the first cause that a name is of.
  view.causeOf = new Map(packed.causes.flatMap(([number, ...of]) => of.map((name) => [name, number])).reverse());
  if (!(values.length >= 5 * count)) throw new Error("cut short");
  const tree = (view.tree = treeOf(view, count + 1));
  tree.name[0] = names.push("all") - 1;
  view.shown = names.map(printable);
  const cut = varints(bytesOf(packed.cut));
  view.short = names.map((name, i) => printable(packed.short[i] ?? name.slice(cut[i])));
  for (let i = 0; i <= count; i++) {
    tree.mark[i] = marks ? marks[i] >> 1 : UNJUDGED;
    tree.selfMark[i] = marks ? 1 - (marks[i] & 1) : UNJUDGED;
  }
  for (let i = 1; i <= count; i++) {
    const [up, name, base, fresh, kind] = [0, 1, 2, 3, 4].map((column) => values[column * count + i - 1]);
    if (!((tree.depth[i] = tree.depth[i - 1] + 1 - up) > 0)) throw new Error("not a tree");
    tree.name[i] = name % 2 ? -1 : name / 2;
    tree.folded[i] = name % 2 && (name - 1) / 2;
    tree.selfBase[i] = base * quantum[0];
    tree.selfNew[i] = fresh * quantum[1];
    tree.selfKind[i] = kind > categories.length ? MIXED : kind;
    tree.selfGroup[i] = kind > categories.length ? MIXED : kind && categories[kind - 1][2] + 1;
  }
  finished(tree);
  view.parts = partsOf(view);
  return view;
}
