// Search patterns, matched without backtracking: time grows with the length of names and of the
// pattern, whatever a link asks for. The syntax is that of Go, without flags.

const TOKEN = /\\x\{[0-9a-f]+\}|\\x[0-9a-f]{2}|\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]|\((?:\?(?:P?<\w+>|:)?)?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/gi;
const LONGEST_PATTERN = 1000, MOST_STATES = 400, MOST_SETS = 2000;
const TOO_LARGE = {};

// A test of names, or words that say why there is none.
function matcher(query) {
  if (query.length > LONGEST_PATTERN) return "this pattern is too long";
  try {
    const machine = machineOf(query, query === query.toLowerCase() ? "i" : "");
    return (name) => found(machine, name);
  } catch (error) {
    return error === TOO_LARGE ? "this pattern repeats too much" : "not a regular expression";
  }
}

const isWord = (c) => c !== undefined && /\w/.test(c);
const atWord = (before, after) => isWord(before) !== isWord(after);
const atStart = (before) => before === undefined, atEnd = (_, after) => after === undefined;
const PLACES = {
  "^": atStart, "\\A": atStart, "$": atEnd, "\\z": atEnd,
  "\\b": atWord, "\\B": (before, after) => !atWord(before, after),
};
const POSIX = {
  alnum: "0-9A-Za-z", alpha: "A-Za-z", digit: "\\d", lower: "a-z", upper: "A-Z", space: "\\s",
  punct: "!-\\/:-@\\[-`{-~", word: "\\w", xdigit: "0-9A-Fa-f",
};

// A test of one character. A pattern of one has nothing to go back to.
function character(token, flags) {
  if (/^\\(?:$|(?![dDwWsSnrtfv]|x.)[a-z0-9])|^\(\?$|^\[\^?\]$/i.test(token)) throw new SyntaxError(token);
  const code = /^\\x\{(.*)\}$/.exec(token), plain = code ? `\\u{${code[1]}}`
    : token === "." ? "[^\\n]"
    : /^[{}\]]$/.test(token) ? `\\${token}`
    : token.replace(/^(\[\^?)\]/, "$1\\]").replace(/\[:(\w+):\]/g, (_, name) => POSIX[name] ?? "]");
  const pattern = new RegExp(`^${plain}$`, flags + (code ? "u" : ""));
  return (c) => pattern.test(c);
}

// The states of a pattern. Each has a test of one character, a condition on a place, or neither;
// `next` are those that follow it.
function machineOf(query, flags) {
  const tokens = query.match(TOKEN) ?? [], states = [];
  let at = 0, steps = 0;
  const limited = () => {
    if (++steps > MOST_STATES) throw TOO_LARGE;
  };
  const state = (more, ...next) => {
    limited();
    return states[states.push({ ...more, id: states.length, next }) - 1];
  };
  // A part is a function: from the state that follows it to the one that it begins with.
  const atom = (token) => {
    if (token[0] === "(" && token !== "(?") {
      const inner = alternatives();
      if (tokens[at++] !== ")") throw new SyntaxError(query);
      return inner;
    }
    const place = PLACES[token];
    if (place) return (then) => state({ place }, then);
    const test = character(token, flags);
    return (then) => state({ test }, then);
  };
  const repeated = (part, token) => {
    const counts = /(\d+)(,?)(\d*)/.exec(token), few = counts ? +counts[1] : +(token[0] === "+");
    const many = counts ? (counts[3] ? +counts[3] : counts[2] ? Infinity : few) : token[0] === "?" ? 1 : Infinity;
    if (!part || few > many) throw new SyntaxError(query);
    return (then) => {
      let next = then;
      if (many === Infinity) {
        next = state({});
        next.next.push(part(next), then);
      }
      for (let i = few; i < many && many < Infinity; i++) next = state({}, part(next), then);
      for (let i = 0; i < few; i++) {
        limited();
        next = part(next);
      }
      return next;
    };
  };
  const alternatives = () => {
    const choices = [[]];
    let last = null; // what a repetition may follow
    for (; at < tokens.length && tokens[at] !== ")"; ) {
      const token = tokens[at++], own = choices[choices.length - 1];
      if (token === "|") {
        choices.push([]);
        last = null;
      } else if (/^(?:[*+?]|\{\d)/.test(token)) {
        own[own.length - 1] = repeated(last, token);
        last = null;
      } else {
        own.push((last = atom(token)));
      }
    }
    const joined = choices.map((parts) => (then) => parts.reduceRight((next, part) => part(next), then));
    return joined.length === 1 ? joined[0] : (then) => state({}, ...joined.map((one) => one(then)));
  };
  const whole = alternatives();
  if (at < tokens.length) throw new SyntaxError(query);
  const start = whole(state({ last: true }));
  return { start, sets: new Map(), first: { states: [], before: undefined, after: new Map() } };
}

// Whether a name has a match. Sets of states that a match may be in are made as they are needed.
function found(machine, name) {
  let set = machine.first;
  for (let i = 0; i <= name.length; i++) {
    const c = name[i];
    let next = set.after.get(c);
    if (next === undefined) set.after.set(c, (next = following(machine, set, c)));
    if (next === true || next === false) return next;
    set = next;
  }
  return false;
}

// The set that follows another with a character; true for a match, false for none at the end.
function following({ start, sets, first }, { states, before }, c) {
  const waiting = [...states, start], here = new Set();
  while (waiting.length) {
    const one = waiting.pop();
    if (here.has(one)) continue;
    here.add(one);
    if (one.last) return true;
    if (!one.test && (!one.place || one.place(before, c))) waiting.push(...one.next);
  }
  if (c === undefined) return false;
  const after = new Map(), reached = [];
  for (const one of here) if (one.test?.(c)) reached.push(one.next[0]);
  const key = `${isWord(c)} ${[...new Set(reached.map(({ id }) => id))].sort()}`;
  if (sets.size > MOST_SETS) {
    sets.clear();
    first.after.clear();
  }
  if (!sets.has(key)) sets.set(key, { states: reached, before: c, after });
  return sets.get(key);
}
