// Tables: sort by a heading, filter by name, and show the rows beyond the first few.

// Where a row is a card, each takes the height of three.
const FEW = NARROW ? 5 : Infinity;

function tables(root) {
  for (const table of root.querySelectorAll("table")) {
    const body = table.tBodies[0], rows = [...body.rows], long = rows.length > 2 * FEW;
    const seen = table.dataset.seen ?? (long ? FEW : 0);
    const view = { rows, filter: "", few: Math.min(Number(seen), FEW), all: !seen };
    for (const heading of table.querySelectorAll("th[data-sort]")) sortable(heading, body, view);
    if (seen) {
      table.parentElement.before(controls(view));
      show(view);
    }
  }
}

function sortable(heading, body, view) {
  const column = heading.cellIndex, numbers = heading.classList.contains("number");
  const click = () => {
    const down = heading.ariaSort ? heading.ariaSort === "ascending" : numbers;
    for (const other of heading.parentElement.cells) other.ariaSort = null;
    heading.ariaSort = down ? "descending" : "ascending";
    const order = numbers ? byValue(column) : byText(column);
    view.rows.sort(down ? (a, b) => order(b, a) : order);
    body.append(...view.rows);
    show(view);
  };
  heading.append(el("button", { type: "button", click }, ...heading.childNodes));
}

const byValue = (column) => (a, b) =>
  a.cells[column].dataset.value - b.cells[column].dataset.value || 0;

const byText = (column) => (a, b) =>
  a.cells[column].textContent < b.cells[column].textContent ? -1 : 1;

function controls(view) {
  const field = el("input", {
    type: "search", placeholder: "Filter by name (regexp)", "aria-label": "Filter the rows by name",
    input: () => {
      view.filter = field.value;
      show(view);
    },
  });
  view.more = button("", () => {
    view.all = !view.all;
    show(view);
  });
  view.count = el("span", { role: "status" });
  return el("div", { class: "rows" }, field, view.more, view.count);
}

// A filter that is no pattern is looked for as it stands.
function show({ rows, filter, few, all, more, count }) {
  if (!more) return;
  const test = matcher(filter), wanted = test.call ? test : (name) => name.includes(filter);
  let found = 0;
  for (const row of rows) {
    const { textContent, title } = row.querySelector("th"), fits = wanted(textContent) || wanted(title);
    found += fits;
    row.hidden = !fits || (!all && found > few);
  }
  const seen = Math.min(found, few);
  more.hidden = found <= seen;
  more.textContent = all ? `Show ${seen}` : `Show all ${found}`;
  const shown = filter || all ? found : seen;
  count.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
}
