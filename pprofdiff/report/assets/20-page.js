// The page around the flame graph: theme, help, and what starts everything.

const THEMES = ["system", "light", "dark"];

// The style sheet's first condition says when the page is dark.
function theme() {
  const button = document.getElementById("theme");
  const { media } = [...document.styleSheets[0].cssRules].find((rule) => rule.media);
  const conditions = [media.mediaText, "not all", "screen"];
  let at = 0;
  button.addEventListener("click", () => {
    at = (at + 1) % 3;
    media.mediaText = conditions[at];
    button.lastElementChild.textContent = THEMES[at];
    document.dispatchEvent(new Event("themechange"));
  });
}

function help(keys) {
  const dialog = document.getElementById("keys"), list = dialog.querySelector("dl");
  for (const [key, meaning] of keys) list.append(el("dt", {}, key), el("dd", {}, meaning));
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  return dialog;
}

function shortcuts(dialog) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
    if (event.key === "?" && !dialog.open) dialog.showModal();
    else if (event.key === "d") document.getElementById("theme").click();
    else return;
    event.preventDefault();
  });
}

// What a link leads to is open, with all that it is in.
function reveal() {
  const there = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  const within = there?.querySelector(":scope > .part");
  if (within) within.open = true;
  for (let at = there; at; at = at.parentElement) if (at.localName === "details") at.open = true;
  there?.scrollIntoView();
}

// On a phone the first section is shown whole, of the others the first sentence.
function fold() {
  for (const part of [...document.querySelectorAll(".part[open]")].slice(1)) part.open = false;
}

const typing = (target) => target.closest?.("input, select, textarea") != null;

document.querySelector(".tools").hidden = false;
for (const note of document.querySelectorAll(".unscripted")) note.remove();
tables(document);
for (const section of document.querySelectorAll(".flames")) flames(section);
theme();
if (NARROW) fold();
reveal();
addEventListener("hashchange", reveal);
shortcuts(help([["?", "these keys"], ["d", "theme: system, light, dark"], ...FLAME_KEYS]));
