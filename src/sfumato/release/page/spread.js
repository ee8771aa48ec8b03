// Which part of every row satisfies a condition, and in which rows it is decided (release/answer/spread).

const MOST_CASES = 5000;

// Rows have `n`, `counts`, and columns by name: regions [starts, stops), and for every row its region in `place`.
// A column of pools has for every pool the values and how often each occurs, in place of a region.

function bySpan(column, codes) {
  const many = column.pools ? column.pools.length : column.starts.length;
  const share = new Float64Array(many), certain = new Uint8Array(many), possible = new Uint8Array(many);
  for (let i = 0; i < many; i += 1) {
    if (column.pools) {
      const [values, counts] = column.pools[i];
      let part = 0, whole = 0;
      values.forEach((value, j) => { whole += counts[j]; if (holds(codes, value)) part += counts[j]; });
      share[i] = part / Math.max(whole, 1);
      certain[i] = share[i] >= 1; possible[i] = share[i] > 0;
    } else {
      const width = column.stops[i] - column.starts[i], inside = overlap(codes, column.starts[i], column.stops[i]);
      share[i] = inside / width;
      certain[i] = inside === width; possible[i] = inside > 0;
    }
  }
  return { share, certain, possible };
}

class Spreads {
  constructor(rows) { this.rows = rows; this.cases = 0; }

  spread(condition) {
    const n = this.rows.n;
    if (!condition.parts) {
      const column = this.rows.columns.get(condition.name), span = bySpan(column, condition.codes);
      const pick = (from, Kind) => Kind.from({ length: n }, (_, row) => from[column.place[row]]);
      return { share: pick(span.share, Float64Array), certain: pick(span.certain, Uint8Array), possible: pick(span.possible, Uint8Array) };
    }
    const every = condition.every;
    const product = new Float64Array(n).fill(1);
    const certain = new Uint8Array(n).fill(every ? 1 : 0), possible = new Uint8Array(n).fill(every ? 1 : 0);
    for (const parts of independent(condition.parts)) {
      const one = parts.length === 1 ? this.spread(parts[0]) : this.byCases({ every, parts });
      for (let i = 0; i < n; i += 1) {
        product[i] *= every ? one.share[i] : 1 - one.share[i];
        certain[i] = every ? certain[i] & one.certain[i] : certain[i] | one.certain[i];
        possible[i] = every ? possible[i] & one.possible[i] : possible[i] | one.possible[i];
      }
    }
    return { share: every ? product : product.map((x) => 1 - x), certain, possible };
  }

  byCases(condition) {
    const n = this.rows.n, found = leavesOf(condition), names = found.map((leaf) => leaf.name);
    const often = (name) => names.filter((other) => other === name).length;
    const name = names.reduce((best, each) => (often(each) > often(best) ? each : best));
    const column = this.rows.columns.get(name);
    const share = new Float64Array(n), certain = new Uint8Array(n).fill(1), possible = new Uint8Array(n);
    for (const codes of casesOf(found.filter((leaf) => leaf.name === name).map((leaf) => leaf.codes), column.size)) {
      this.cases += 1;
      if (this.cases > MOST_CASES) throw new QueryProblem("the query combines the same columns in too many ways: split it");
      const given = this.spread(givenCase(condition, name, codes)), here = bySpan(column, codes);
      for (let i = 0; i < n; i += 1) {
        const place = column.place[i];
        share[i] += here.share[place] * given.share[i];
        certain[i] &= !here.possible[place] | given.certain[i];
        possible[i] |= here.possible[place] & given.possible[i];
      }
    }
    return { share, certain, possible };
  }

  assumed(condition, open) { // the columns that leave some of these rows undecided
    const found = new Set();
    for (const leaf of leavesOf(condition)) {
      const column = this.rows.columns.get(leaf.name), span = bySpan(column, leaf.codes);
      if (open.some((row) => span.possible[column.place[row]] && !span.certain[column.place[row]])) found.add(leaf.name);
    }
    return [...found];
  }

  decides(condition, name) { // whether in some row what is asked of a column is decided
    const column = this.rows.columns.get(name);
    if (column.pools) return true;
    return leavesOf(condition).filter((leaf) => leaf.name === name).some((leaf) => {
      const span = bySpan(column, leaf.codes);
      return column.place.some((place) => span.certain[place] || !span.possible[place]);
    });
  }
}

function independent(parts) {
  let sets = [];
  for (const part of parts) {
    let names = new Set(namesOf(part)), members = [part];
    const apart = [];
    for (const other of sets) {
      if ([...other.names].some((name) => names.has(name))) {
        names = new Set([...names, ...other.names]);
        members = [...other.members, ...members];
      } else apart.push(other);
    }
    sets = [...apart, { names, members }];
  }
  return sets.map((set) => set.members);
}

function casesOf(sets, size) {
  const edges = [...new Set([0, size, ...sets.flat(2)])].sort((a, b) => a - b);
  const classes = new Map();
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const key = sets.map((codes) => (holds(codes, edges[i]) ? "1" : "0")).join("");
    if (!classes.has(key)) classes.set(key, []);
    classes.get(key).push([edges[i], edges[i + 1]]);
  }
  return [...classes.values()].map(union);
}

function givenCase(condition, name, codes) { // once it is known that a column's code is among `codes`
  if (!condition.parts) {
    return condition.name === name ? { every: holds(condition.codes, codes[0][0]), parts: [] } : condition;
  }
  const parts = [];
  for (const part of condition.parts) {
    const known = givenCase(part, name, codes);
    if (known.parts && known.parts.length === 0) {
      if (known.every !== condition.every) return known;
    } else parts.push(known);
  }
  return { every: condition.every, parts };
}

class Question {
  constructor(rows, condition) {
    this.rows = rows;
    this.condition = condition;
    this.spreads = new Spreads(rows);
    this.found = this.spreads.spread(condition);
  }

  sum(weights) {
    let total = 0;
    for (let i = 0; i < this.rows.n; i += 1) total += this.rows.counts[i] * weights[i];
    return total;
  }

  chosen(mask) { return mask.reduce((sum, each) => sum + each, 0); }

  between() { // from the records that certainly satisfy it to those that possibly do
    const pool = this.onePool();
    if (pool) return this.betweenPools(...pool);
    return [this.sum(this.found.certain), this.sum(this.found.possible)];
  }

  onePool() {
    const condition = this.condition, parts = condition.parts && condition.every ? condition.parts : [condition];
    const pooled = [], others = [];
    for (const some of independent(parts)) {
      const names = [...new Set(some.flatMap(namesOf))];
      if (!names.some((name) => this.rows.columns.get(name).pools)) others.push(...some);
      else if (names.length === 1) pooled.push(some);
      else return null;
    }
    if (pooled.length !== 1) return null;
    const column = this.rows.columns.get(namesOf(pooled[0][0])[0]);
    return [column, { every: true, parts: pooled[0] }, { every: true, parts: others }];
  }

  betweenPools(column, inside, beside) {
    const other = this.spreads.spread(beside), values = this.spreads.spread(inside).share, many = column.pools.length;
    const byPool = (weight) => {
      const found = new Float64Array(many);
      for (let i = 0; i < this.rows.n; i += 1) found[column.place[i]] += weight(i);
      return found;
    };
    const counts = this.rows.counts;
    const size = byPool((i) => counts[i]), have = byPool((i) => counts[i] * values[i]).map(halfEven);
    const sure = byPool((i) => counts[i] * other.certain[i]), may = byPool((i) => counts[i] * other.possible[i]);
    let low = 0, high = 0;
    for (let p = 0; p < many; p += 1) {
      low += Math.max(sure[p] + have[p] - size[p], 0);
      high += Math.min(may[p], have[p]);
    }
    return [low, high];
  }

  estimate(low, high, confidence) {
    const total = this.rows.total, open = [];
    for (let i = 0; i < this.rows.n; i += 1) {
      if (this.found.possible[i] && !this.found.certain[i] && this.rows.counts[i] > 0) open.push(i);
    }
    const assumes = high > low ? this.spreads.assumed(this.condition, open) : [];
    const undecided = assumes.filter((name) => !this.spreads.decides(this.condition, name));
    const count = Math.min(Math.max(this.sum(this.found.share), low), high);
    const known = undecided.length === 0;
    return {
      count: known ? count : null, low, high, confidence, total, assumes, undecided, modelled: [], sampled: null,
      share: known ? (total ? Math.min(count / total, 1) : 0) : null,
    };
  }
}

function halfEven(x) {
  const floor = Math.floor(x), rest = x - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
