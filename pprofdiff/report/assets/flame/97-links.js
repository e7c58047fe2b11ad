// Functions' names in the page's text lead to their frames, and frames to their rows.

// What a view's functions are called in the page's text -> their name in full.
function calledIn({ names, shown, short, place }) {
  const called = new Map();
  for (const texts of [short, shown, names]) {
    for (const [name, i] of place) called.set(texts[i], name);
  }
  return called;
}

// A link for a text that is a function's name; its own profile's graph is tried first.
function linkOf(app, text, own) {
  const view = [own, ...app.views].find((each) => each && (each.called ??= calledIn(each)).has(text));
  if (!view) return null;
  return linkTo(view, view.called.get(text), text);
}

function linkTo(view, name, text) {
  const title = `${clipped(view.shown[view.place.get(name)], 500)}: in the flame graph`;
  return Object.assign(el("a", { class: "flame-to", href: functionAt(view, name), title }, text), { view, name });
}

// A text in pieces, links among them; null where it names no function. A lone word is a name
// only where rows are named.
function linked(app, text, own, naming) {
  const whole = naming && linkOf(app, text.trim(), own);
  if (whole) return [whole];
  const pieces = text.split(/(\s+)/);
  let any = false;
  for (let at = 0; at < pieces.length; at += 2) {
    const word = pieces[at], [, before, bare] = /^(["'“(]*)(.*?)[.,;:!?"'”]*$/.exec(word) ?? [];
    if (!naming && !/[^.][.:/][^.]/.test(word)) continue;
    for (const name of [word, before + bare, bare, bare?.replace(/\)$/, "")]) {
      const link = name && linkOf(app, name, own);
      if (!link) continue;
      const start = word.indexOf(name);
      pieces[at] = [word.slice(0, start), link, word.slice(start + name.length)];
      any = true;
      break;
    }
  }
  return any && pieces.flat();
}

function linkNames(app) {
  const root = app.section.closest("main"), texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); ) if (text.data.trim()[2]) texts.push(text);
  app.rowsOf = new Map();
  for (const text of texts) {
    const home = text.parentElement;
    if (!home.closest("p, li, dd, td, tbody th, figcaption")) continue;
    if (home.closest("a, button, summary, pre, code, svg, .flames")) continue;
    const own = home.closest("[data-view]")?.dataset.view, naming = home.closest("th");
    const pieces = linked(app, text.data, app.views.find(({ id }) => `${id}/`.startsWith(own + "/")), naming);
    if (!pieces) continue;
    text.replaceWith(...pieces);
    const link = naming && pieces.find((piece) => piece.name !== undefined);
    if (link) app.rowsOf.set(link.name, [...(app.rowsOf.get(link.name) ?? []), link]);
  }
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a.flame-to");
    if (!link || event.button || modified(event) || event.shiftKey) return;
    event.preventDefault();
    const { view, f } = stateOf(app.views, link.hash), { w, x, p, q, t, z } = START;
    update(app, { view, f, w, x, p, q, t, z });
    app.section.parentElement.scrollIntoView();
    app.canvas.focus({ preventScroll: true });
  });
  fillTrail(app);
}

// The link in a function's row, of the same profile if there is one.
function rowFor({ rowsOf, tree }, name) {
  const rows = rowsOf?.get(name);
  return rows && (rows.find(({ view }) => view === tree.view) ?? rows[0]);
}

function toRow(app, name) {
  const link = rowFor(app, name);
  for (let part = link; part; part = part.parentElement) {
    part.hidden = false;
    if ("open" in part) part.open = true;
  }
  link?.scrollIntoView({ block: "center" });
  link?.focus({ preventScroll: true });
}
