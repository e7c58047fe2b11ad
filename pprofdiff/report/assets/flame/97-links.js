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

// A link for the value of a label that heads a row, under the label's key: its samples alone.
function partLink(app, text, home) {
  const key = home.closest("table")?.tHead?.rows[0].cells[0].textContent.trim();
  const id = `${key}=${text === "no " + key ? "" : text}`;
  const view = app.views.find(({ parts }) => parts.some((part) => part.id === id));
  if (!view) return null;
  const href = `#${spelled(view.id)};x=${spelled(id)}`;
  return el("a", { class: "flame-to", href, title: "in the flame graph, only these samples" }, text);
}

function linkNames(app) {
  const root = app.section.closest("main"), texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); ) if (text.data.trim()[2]) texts.push(text);
  app.rowsOf = new Map();
  app.lanesOf = new Map();
  for (const text of texts) {
    const home = text.parentElement;
    if (!home.closest("p, li, dd, td, tbody th, figcaption")) continue;
    if (home.closest("a, button, summary, pre, code, svg, .flames")) continue;
    const own = home.closest("[data-view]")?.dataset.view, naming = home.closest("th");
    const view = app.views.find(({ id }) => `${id}/`.startsWith(own + "/"));
    // What is about another picture leads there.
    if (own && !view) continue;
    const part = naming && partLink(app, text.data.trim(), home);
    if (part) {
      text.replaceWith(part);
      continue;
    }
    const pieces = linked(app, text.data, view, naming);
    if (!pieces) continue;
    text.replaceWith(...pieces);
    const link = pieces.find((piece) => piece.name !== undefined), to = naming ? app.rowsOf : home.closest("#lanes") && app.lanesOf;
    if (link) to?.set(link.name, [...(to.get(link.name) ?? []), link]);
  }
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a.flame-to");
    if (!link || event.button || modified(event) || event.shiftKey) return;
    const asked = stateOf(app.views, link.hash);
    if (!asked) return;
    event.preventDefault();
    const { view, f, x } = asked, { w, p, q, t, z } = START;
    update(app, { view, f, w, x, p, q, t, z });
    app.section.parentElement.scrollIntoView();
    app.canvas.focus({ preventScroll: true });
  });
  fillTrail(app);
}

// The link in a function's row, of the same profile if there is one, or in other places.
function rowFor({ rowsOf, tree }, name, places = rowsOf) {
  const rows = places?.get(name);
  return rows && (rows.find(({ view }) => view === tree.view) ?? rows[0]);
}

function toRow(link) {
  for (let part = link; part; part = part.parentElement) {
    part.hidden = false;
    if ("open" in part) part.open = true;
  }
  link?.scrollIntoView({ block: "center" });
  link?.focus({ preventScroll: true });
}
