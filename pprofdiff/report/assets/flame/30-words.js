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

// How a row moved, scaled; `beyond` chance is null where chance has no model.
function judged({ model, factor }, base, fresh) {
  const from = base * factor[0], to = fresh * factor[1], delta = to - from;
  const move = { from, to, delta, beyond: null, gone: base && !fresh, fresh: fresh && !base };
  if (model) {
    const spread = Math.abs(from) * model.step[0] + Math.abs(to) * model.step[1];
    const sigma = Math.sqrt(model.dispersion * Math.max(spread, Math.max(...model.step) ** 2));
    move.needs = model.limit * sigma;
    move.beyond = model.limit !== null && Math.abs(delta) >= move.needs;
  }
  return move;
}

const sharesOf = ({ totals }, base, fresh) => [percent(base, totals[0]), percent(fresh, totals[1])];
const moveOf = (tree, i) => judged(tree.view, tree.base[i], tree.new[i]);
const selfMoveOf = (tree, i) => judged(tree.view, tree.selfBase[i], tree.selfNew[i]);

// The change of a row in few characters: "▲ +12%", "gone", "~".
function change(view, { from, to, delta, beyond, gone, fresh }) {
  if (!from && !to) return "";
  const word = gone ? "gone" : fresh ? "new" : "";
  if (beyond === false) return word ? word + " ~" : "~";
  if (word || !delta) return word || "=";
  const mark = delta > 0 ? "▲ " : "▼ ";
  if (from <= 0 || to < 0) return mark + number(view, delta, true);
  return mark + (to < 10 * from ? percent(delta, from, true) : ratio(from, to));
}

const ratio = (from, to) =>
  from > 0 && to > 0 ? grouped((to / from).toFixed(to < from * 100 ? 2 : 0)) + "×" : "–";

function chance(view, { delta, beyond, needs }) {
  if (beyond === null) return delta ? "chance unknown" : "no change";
  if (beyond) return "beyond noise";
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

// A name in full, without its path, without its package.
function spellings(name) {
  const types = name.search(/[[(]/);
  const slash = name.lastIndexOf("/", types < 0 ? Infinity : types), dot = name.indexOf(".", slash + 1);
  const file = dot < 0 || /^go\b/.test(name.slice(dot + 1));
  return [name, name.slice(slash + 1), name.slice((file ? slash : dot) + 1)];
}

// What a node is called, for people.
const titleOf = ({ view, name, folded }, i) =>
  name[i] < 0 ? `(${grouped(String(folded[i]))} smaller)` : view.shown[name[i]];

// The runtime group and category of the samples in and below a node, "" if none.
function kindOf({ view, kind, group }, i) {
  if (!kind[i]) return "";
  if (group[i] === MIXED) return "several runtime categories";
  const label = view.groups[group[i] - 1][1];
  return kind[i] === MIXED ? label : `${label} › ${view.categories[kind[i] - 1][1]}`;
}
