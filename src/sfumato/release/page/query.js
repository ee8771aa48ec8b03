// Conditions, from text to codes: the language of `sfumato query`, read as Python reads it (domains/query).
"use strict";

class QueryProblem extends Error {}
class NeedsCommand extends Error {}

const SPACE = " \\t\\n\\r\\f\\v\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const TOKEN = new RegExp(
  `[${SPACE}]*(?:(==|!=|<>|<=|>=|=|<|>|\\(|\\)|,)|('(?:[^']|'')*'|"(?:[^"]|"")*")|([^${SPACE}()<>=!,'"]+))`, "uy");
const SAME = { "==": "=", "<>": "!=" };
const OPERATORS = ["=", "!=", "<", "<=", ">", ">="];
const RESERVED = ["and", "or", "not", "in", "contains"];
const DEEPEST = 100;
const LONGEST = 100000;

function tokensOf(text) {
  const end = text.replace(new RegExp(`[${SPACE}]+$`, "u"), "").length;
  const found = [];
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) {
      const rest = text.slice(at).replace(new RegExp(`^[${SPACE}]+`, "u"), "");
      throw new QueryProblem(/^['"]/u.test(rest) ? "a quote is not closed" : `“${[...rest][0]}” is not expected here`);
    }
    if (match[1] !== undefined) found.push({ kind: "mark", text: match[1] });
    else if (match[3] !== undefined) found.push({ kind: "word", text: match[3] });
    else {
      const quote = match[2][0];
      found.push({ kind: "quoted", text: match[2].slice(1, -1).split(quote + quote).join(quote) });
    }
    at = TOKEN.lastIndex;
  }
  return [...found, { kind: "end", text: "the end" }];
}

class Parser {
  constructor(text) {
    if ([...text].length > LONGEST) throw new QueryProblem("the query is too long");
    this.tokens = tokensOf(text);
    this.place = 0;
    this.depth = 0;
  }
  whole() {
    const tree = this.either();
    if (this.next.kind !== "end") this.unexpected("“and”, “or” or the end");
    return tree;
  }
  get next() { return this.tokens[this.place]; }
  either() {
    const parts = [this.every()];
    while (this.took("or")) parts.push(this.every());
    return parts.length === 1 ? parts[0] : { kind: "or", parts };
  }
  every() {
    const parts = [this.one()];
    while (this.took("and")) parts.push(this.one());
    return parts.length === 1 ? parts[0] : { kind: "and", parts };
  }
  one() {
    this.depth += 1;
    if (this.depth > DEEPEST) throw new QueryProblem("too many parentheses or nots within each other");
    let tree;
    if (this.took("not")) tree = { kind: "not", part: this.one() };
    else if (this.took("(")) { tree = this.either(); this.expect(")"); }
    else tree = this.comparison();
    this.depth -= 1;
    return tree;
  }
  comparison() {
    const name = this.value("the name of a column");
    const negated = this.took("not");
    if (this.took("in")) {
      this.expect("(");
      const values = [this.value("a value")];
      while (this.took(",")) values.push(this.value("a value"));
      this.expect(")");
      return { kind: "compare", name, operator: negated ? "!=" : "=", values };
    }
    if (!negated && this.took("contains")) {
      return { kind: "compare", name, operator: "contains", values: [this.value("a value")] };
    }
    const operator = SAME[this.next.text] || this.next.text;
    if (negated || this.next.kind !== "mark" || !OPERATORS.includes(operator)) {
      this.unexpected(negated ? "“in”" : `one of ${OPERATORS.join(", ")}, “in” or “contains”`);
    }
    this.place += 1;
    return { kind: "compare", name, operator, values: [this.value("a value")] };
  }
  value(what) {
    const token = this.next;
    if (!["word", "quoted"].includes(token.kind) || Parser.reserved(token)) this.unexpected(what);
    this.place += 1;
    return token.text;
  }
  took(text) {
    const token = this.next;
    if ((token.kind === "word" && token.text.toLowerCase() === text) || (token.kind === "mark" && token.text === text)) {
      this.place += 1;
      return true;
    }
    return false;
  }
  expect(text) { if (!this.took(text)) this.unexpected(`“${text}”`); }
  static reserved(token) { return token.kind === "word" && RESERVED.includes(token.text.toLowerCase()); }
  unexpected(wanted) {
    const token = this.next;
    const fix = Parser.reserved(token) ? `; put “${token.text}” in quotes if it is a name or a value` : "";
    throw new QueryProblem(`${wanted} was expected and ${token.kind === "end" ? token.text : `“${token.text}”`} found${fix}`);
  }
}

// Codes are ranges [start, stop) in order that do not touch.

function union(ranges) {
  const joined = [];
  for (const [start, stop] of ranges.filter((r) => r[0] < r[1]).sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = joined[joined.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(stop, last[1]);
    else joined.push([start, stop]);
  }
  return joined;
}

function opposite(codes, size) {
  const edges = [0, ...codes.flat(), size];
  const found = [];
  for (let i = 0; i < edges.length; i += 2) found.push([edges[i], edges[i + 1]]);
  return union(found);
}

function holds(codes, code) { return codes.some(([start, stop]) => start <= code && code < stop); }

function overlap(codes, start, stop) {
  let inside = 0;
  for (const [from, to] of codes) inside += Math.max(0, Math.min(stop, to) - Math.max(start, from));
  return inside;
}

// Numbers are exact fractions, as [numerator, denominator].

function fraction(text) {
  const [whole, below] = text.split("/");
  return [BigInt(whole), BigInt(below || "1")];
}

function decimal(text) {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/u.exec(text);
  const digits = match[3] || "";
  const top = BigInt((match[2] || "0") + digits);
  return [match[1] === "-" ? -top : top, 10n ** BigInt(digits.length)];
}

function less(a, b) { return a[0] * b[1] < b[0] * a[1]; }

function steps(number, grid) { // floor((number - lower) / step)
  const lower = fraction(grid.lower), step = fraction(grid.step);
  const top = (number[0] * lower[1] - lower[0] * number[1]) * step[1];
  const under = number[1] * lower[1] * step[0];
  const floor = top / under;
  return top < 0n && floor * under !== top ? floor - 1n : floor;
}

function dayNumber(text) {
  const [year, month, day] = text.split("-").map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return year >= 1 && same ? Math.round(date.getTime() / 86400000) + 719163 : null;
}

function placeOf(value, column, name, ordered) {
  if (ordered && column.kind !== "grid") throw new QueryProblem(`“${name}” has categories, which have no order: use =, != or “in”`);
  const labelled = column.labels && column.labels.get(value);
  if (labelled) return labelled;
  if (column.kind !== "grid") throw new QueryProblem(`“${name}” has no value “${value}”`);
  if (column.missing !== null && value === column.missing_label && !ordered) return [column.points, column.points + 1];
  if (/\p{Nd}/u.test(value.replace(/[0-9]/gu, ""))) throw new NeedsCommand("it has digits of another script");
  let number = null;
  if (column.unit === "day") {
    const day = /^\d{4}-\d\d-\d\d$/u.test(value) ? dayNumber(value) : null;
    number = day === null ? null : [BigInt(day), 1n];
  } else if (/^[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})$/u.test(value)) number = decimal(value);
  if (number === null) {
    const kind = column.unit === "day" ? "a date such as 2004-12-31" : "a number";
    throw new QueryProblem(`“${value}” is no value of “${name}”: write ${kind} from ${column.from} to ${column.to}`);
  }
  if (less(fraction(column.upper), number)) return [column.points + 1, column.points + 2];
  const code = steps(number, column);
  return code < 0n ? [-1, 0] : [Number(code), Number(code) + 1];
}

function codesOf(asked, column) {
  if (asked.operator === "contains") throw new QueryProblem(`“${asked.name}” has one value a record, not a set: use =, != or “in”`);
  const ordered = !["=", "!="].includes(asked.operator);
  const places = asked.values.map((value) => placeOf(value, column, asked.name, ordered));
  if (!ordered) {
    const within = places.map((place) => {
      const missing = place[0] === column.points && place[1] === column.points + 1 && column.missing !== null;
      const beyond = column.kind === "grid" && place[0] >= column.points && !missing;
      return place[0] < 0 || beyond ? [0, 0] : place;
    });
    const equal = union(within);
    return asked.operator === "=" ? equal : opposite(equal, column.size);
  }
  const [start, stop] = places[0];
  const [from, to] = { "<": [0, start], "<=": [0, stop], ">": [stop, column.points], ">=": [start, column.points] }[asked.operator];
  return union([[Math.max(from, 0), Math.min(to, column.points)]]);
}

// A condition is a leaf {name, codes}, or a join {every, parts}; nots are pushed down to the codes.

function resolve(tree, columns, negated) {
  if (tree.kind === "not") return resolve(tree.part, columns, !negated);
  if (tree.kind !== "compare") {
    const every = (tree.kind === "and") !== negated;
    return { every, parts: tree.parts.map((part) => resolve(part, columns, negated)) };
  }
  const column = columns.get(tree.name);
  if (!column) throw new QueryProblem(`the release has no column “${tree.name}”`);
  if (column.absent) throw new NeedsCommand(`this page cannot answer about “${tree.name}”: ${column.absent}`);
  const codes = codesOf(tree, column);
  return { name: tree.name, codes: negated ? opposite(codes, column.size) : codes };
}

function leavesOf(condition) { return condition.parts ? condition.parts.flatMap(leavesOf) : [condition]; }

function namesOf(condition) { return [...new Set(leavesOf(condition).map((leaf) => leaf.name))]; }
