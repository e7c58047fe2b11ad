// Numbers and names as text.

const grouped = (digits) => digits.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

// A scaled value (raw × factor). Decimals grow until two digits count: only 0 is "0".
function number(view, value, signed) {
  const size = Math.abs(value) / view.scale.size;
  let { decimals } = view.scale;
  if (!size) return "0";
  while (decimals < 6 && size < 10 ** (1 - decimals) && +size.toFixed(decimals) !== size) decimals++;
  if (size < 1e-6) return "≈0";
  return (value < 0 ? "−" : signed ? "+" : "") + grouped(size.toFixed(decimals));
}

const withUnit = ({ scale }, text) => (scale.unit ? `${text} ${scale.unit}` : text);

function percent(part, whole, signed) {
  if (!whole) return "–";
  const size = Math.abs(part / whole) * 100;
  const digits = grouped(size.toFixed(size < 99.95 ? 1 : 0));
  if (!/[1-9]/.test(digits)) return part ? "<0.1%" : "0%";
  return (part < 0 !== whole < 0 ? "−" : signed ? "+" : "") + digits + "%";
}

// How a row moved, scaled; `beyond` chance is null where that was not judged.
function compared({ factor }, base, fresh, mark) {
  const from = base * factor[0], to = fresh * factor[1];
  const beyond = mark < 0 ? null : mark === 0;
  return { from, to, delta: to - from, beyond, mark, gone: base && !fresh, fresh: fresh && !base };
}

const sharesOf = ({ totals }, base, fresh) => [percent(base, totals[0]), percent(fresh, totals[1])];
const moveOf = (tree, i) => compared(tree.view, tree.base[i], tree.new[i], tree.mark[i]);
const selfMoveOf = (tree, i) => compared(tree.view, tree.selfBase[i], tree.selfNew[i], tree.selfMark[i]);

const signOf = ({ delta, beyond }) => (beyond === false ? "~ " : delta > 0 ? "▲ " : delta < 0 ? "▼ " : "");

// The change of a row in few characters: "▲ +12%", "gone", "~".
function change(view, { from, to, delta, beyond, gone, fresh }) {
  if (!from && !to) return "";
  const word = gone ? "gone" : fresh ? "new" : "";
  if (beyond === false) return word ? word + " ~" : "~";
  if (word || !delta) return word || "=";
  const mark = signOf({ delta });
  if (from <= 0 || to < 0) return mark + number(view, delta, true);
  return mark + (to < 10 * from && from < 100 * to ? percent(delta, from, true) : ratio(from, to));
}

// New ÷ base as all of the report writes it: 1.73×, 0.094×, 31,000×; a small one is 1/110.
function ratio(from, to) {
  if (!(from > 0 && to > 0)) return "–";
  const size = to / from, digits = (of) => grouped(String(+of.toPrecision(2)));
  if (size < 0.01) return "1/" + digits(1 / size);
  return (size < 0.095 ? size.toPrecision(2) : grouped(size.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0))) + "×";
}

// How large a change would have been beyond noise by a mark, 0 if none would.
const needsOf = ({ reach }, mark) => (mark > 1 ? reach * 10 ** ((mark - 2) / 24) : 0);

// The judgement of a row, and how large a change would have been significant.
function chance(view, { delta, beyond, mark }) {
  if (beyond === null) return !delta ? "no change" : view.marks ? "in part or merged here: not judged" : "chance unknown";
  if (beyond) return "significant";
  const needs = needsOf(view, mark);
  return "within noise" + (needs ? ` (needs ±${withUnit(view, number(view, needs))})` : "");
}

// Escapes in place of what is not seen or reorders text, such as \u202e.
const printable = (name) => name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => {
  const code = c.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : "\\u" + code.padStart(4, "0");
});

// The first `length` UTF-16 units and …, never half a character.
function clipped(text, length) {
  if (text.length <= length) return text;
  while (length > 0 && /^(?:[\udc00-\udfff]|\p{M})/u.test(text.slice(length, length + 2))) length--;
  return text.slice(0, length) + "…";
}

// A short name, and without its package; words without the packages in them.
function spellings({ waits }, name) {
  if (waits) return [name, name.replace(/(?<![\w.)])[\w-]+\.(?=[\w(])/g, "")];
  const types = name.search(/[[(]/);
  const slash = name.lastIndexOf("/", types < 0 ? Infinity : types), dot = name.indexOf(".", slash + 1);
  return [name, name.slice((dot < 0 ? slash : dot) + 1)];
}

// What frames are called: functions that call each other, or places that wait for each other.
const CALLS = {
  picture: "flame graph of what changed", tree: "call tree", all: "all samples", many: "functions", several: "several runtime categories",
  callers: "callers", who: "who calls this function (c)", above: "Callers of ",
  merged: "merged callees", what: "what it calls, wherever it is called (m)", below: "All calls, merged, of ",
};
const WAITS = {
  picture: "chains of waits that changed", tree: "chains of waits", all: "all waits", many: "places", several: "several ends",
  callers: "who waits for it", who: "all chains that lead here (c)", above: "Chains that lead to: ",
  merged: "all it waits for", what: "what it waits for, in all chains (m)", below: "In all chains below: ",
};
const saidOf = ({ waits }) => (waits ? WAITS : CALLS);

const smaller = (count) => `(${grouped(String(count))} smaller)`;

// What a node is called in full, and for people.
const unnamed = ({ name, folded }, i) => (name[i] === ELSEWHERE ? "(in folded frames)" : smaller(folded[i]));
const titleOf = (tree, i) => (tree.name[i] < 0 ? unnamed(tree, i) : tree.view.shown[tree.name[i]]);
const shortOf = (tree, i) => (tree.name[i] < 0 ? unnamed(tree, i) : tree.view.short[tree.name[i]]);

// The runtime group and category of the samples in and below a node, "" if none.
function kindOf({ view, kind, group }, i) {
  if (!kind[i]) return "";
  if (group[i] === MIXED) return saidOf(view).several;
  const label = view.groups[group[i] - 1][1];
  return kind[i] === MIXED || view.waits ? label : `${label} › ${view.categories[kind[i] - 1][1]}`;
}
