// Tables: sort by a heading, filter by name, and show the rows beyond the first few.

// Where a row is a card, each takes the height of three.
const FEW = NARROW ? 5 : Infinity;

function tables(root) {
  for (const table of root.querySelectorAll("table")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const few = Math.min(Number(table.dataset.seen), FEW);
    const view = { rows, filter: "", few, all: !table.dataset.seen };
    for (const heading of table.querySelectorAll("th[data-sort]")) {
      sortable(heading, body, view, () => show(view));
    }
    if (table.dataset.seen) {
      table.parentElement.before(controls(view));
      show(view);
    }
  }
}

function sortable(heading, body, view, done) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  const column = heading.cellIndex;
  const numbers = heading.classList.contains("number");
  button.addEventListener("click", () => {
    const down = heading.ariaSort
      ? heading.ariaSort === "ascending"
      : numbers;
    for (const other of heading.parentElement.cells) other.ariaSort = null;
    heading.ariaSort = down ? "descending" : "ascending";
    const order = numbers ? byValue(column) : byText(column);
    view.rows.sort(down ? (a, b) => order(b, a) : order);
    body.append(...view.rows);
    done();
  });
}

const byValue = (column) => (a, b) =>
  Number(a.cells[column].dataset.value) - Number(b.cells[column].dataset.value) || 0;

const byText = (column) => (a, b) =>
  a.cells[column].textContent < b.cells[column].textContent ? -1 : 1;

function controls(view) {
  const line = document.createElement("div");
  line.className = "rows";
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter by name (regexp)";
  field.ariaLabel = "Filter the rows by name";
  const more = document.createElement("button");
  more.type = "button";
  const count = document.createElement("span");
  count.role = "status";
  line.append(field, more, count);
  view.more = more;
  view.count = count;
  field.addEventListener("input", () => {
    view.filter = field.value;
    show(view);
  });
  more.addEventListener("click", () => {
    view.all = !view.all;
    show(view);
  });
  return line;
}

function show(view) {
  if (!view.more) return;
  const wanted = pattern(view.filter);
  let found = 0;
  for (const row of view.rows) {
    const name = row.querySelector("th");
    const fits = wanted.test(name.textContent) || wanted.test(name.title);
    found += fits;
    row.hidden = !fits || (!view.all && found > view.few);
  }
  const seen = Math.min(found, view.few);
  view.more.hidden = found <= seen;
  view.more.textContent = view.all ? `Show ${seen}` : `Show all ${found}`;
  view.count.textContent = view.filter ? `${found} of ${view.rows.length} rows` : "";
}

// A pattern that is no regular expression is looked for as it stands.
function pattern(text) {
  try {
    return new RegExp(text, text === text.toLowerCase() ? "i" : "");
  } catch {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
}
