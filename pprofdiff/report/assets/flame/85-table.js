// The tree as an ARIA treegrid: rows are made when they are opened, a hundred at a time.

const BATCH = 100;

function rowOf(app, i, level) {
  const { tree } = app, { view } = tree, move = moveOf(tree, i), title = clipped(titleOf(tree, i), 300);
  const kind = move.beyond === false || !move.delta ? "same" : move.delta > 0 ? "more" : "less";
  const zoom = button("zoom", () => update(app, { t: "", z: i }), "in the flame graph (z)", { tabindex: -1 });
  const row = gridRow(i, level, tree.end[i] > i + 1, [el("span", { title }, shortOf(tree, i)), zoom],
    number(view, move.from), number(view, move.to), signOf(move) + number(view, move.delta, true),
    move.gone ? "gone" : move.fresh ? "new" : ratio(move.from, move.to),
    sharesOf(view, tree.base[i], tree.new[i]).join(" → "));
  row.className = kind + (app.hits?.names?.[tree.name[i]] ? " match" : "");
  return row;
}

function gridRow(node, level, opens, first, ...cells) {
  const row = el("tr", { role: "row", "aria-level": level, "aria-expanded": opens ? "false" : null, tabindex: -1 },
    el("td", { role: "gridcell", class: "flame-name" }, ...first),
    ...cells.map((cell) => el("td", { role: "gridcell" }, cell)));
  row.firstChild.style.paddingLeft = Math.min(level, 24) * 0.9 + "em";
  return Object.assign(row, { node, level });
}

// Put children below a row, the largest |Δ| first; what is left follows on demand.
function openRow(app, row, start = 0, after = row) {
  const { tree } = app, children = [], level = row.level + 1;
  for (let c = row.node + 1; c < tree.end[row.node]; c = tree.end[c]) children.push(c);
  const rows = children.sort(byDelta(tree)).slice(start, start + BATCH).map((c) => rowOf(app, c, level));
  const left = children.length - start - BATCH;
  if (left > 0) {
    const more = gridRow(-1, level, true, [`${left} more`]);
    more.open = () => openRow(app, row, start + BATCH, more);
    rows.push(more);
  }
  row.ariaExpanded = "true";
  after.after(...rows);
  return rows;
}

const isOpen = (row) => row.ariaExpanded === "true";

function turn(app, row) {
  if (row.open) {
    focusRow(app, row.open()[0]);
    row.remove();
  } else if (isOpen(row)) {
    row.ariaExpanded = "false";
    while (row.nextSibling?.level > row.level) row.nextSibling.remove();
  } else if (row.ariaExpanded) openRow(app, row);
}

function focusRow(app, row) {
  if (!row) return;
  app.row.tabIndex = -1;
  app.row = row;
  app.at = Math.max(0, row.node); // whose callers and callees the keys show
  row.tabIndex = 0;
  row.focus();
}

function pressRow(app, event) {
  const row = event.target, { key } = event, { nextSibling, previousSibling } = row;
  if (row.level === undefined || modified(event)) return;
  let up = row;
  while (up?.level >= row.level) up = up.previousSibling;
  const to = {
    ArrowDown: nextSibling, ArrowUp: previousSibling, Home: app.body.firstChild, End: app.body.lastChild,
    ArrowLeft: !isOpen(row) && up, ArrowRight: isOpen(row) && nextSibling,
  }[key];
  if (to) focusRow(app, to);
  else if (key === "Enter" || key === "ArrowRight" || (key === "ArrowLeft" && isOpen(row))) turn(app, row);
  else if (key === "z" && row.node >= 0) update(app, { t: "", z: row.node });
  else return;
  event.preventDefault();
}

// The table anew, open down to the zoomed frame, then along the largest |Δ|.
function buildTable(app) {
  const { tree, state } = app, { view } = tree;
  app.body = el("tbody", {
    keydown: (event) => pressRow(app, event),
    click: ({ target }) => {
      if (target.closest("button")) return;
      focusRow(app, target.closest("tr"));
      turn(app, app.row);
    },
  });
  const heads = ["frame", ...view.labels.map((label) => withUnit(view, label)), "Δ", "ratio", "share of total"];
  app.table.replaceChildren(el("table", { role: "treegrid", "aria-label": `${saidOf(view).tree}, ${printable(view.title)}` },
    el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)))), app.body));
  let row = (app.row = rowOf(app, 0, 1));
  app.body.append(row);
  row.tabIndex = 0;
  while (row?.ariaExpanded) {
    const rows = openRow(app, row);
    row = rows.find(({ node }) => node <= state.z && state.z < tree.end[node]) ?? (rows[0].level < 5 && rows[0]);
  }
}
