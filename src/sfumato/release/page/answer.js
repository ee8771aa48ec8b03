// Answers with intervals, a function for each kind of release; the arguments stand beside the same code in Python.

const CONFIDENCE = 0.95;
const DEVIATIONS = 2.3;

function columnsOf(stated) {
  const found = new Map();
  for (const column of stated) {
    const labels = column.labels && new Map(column.labels.map(([label, start, stop]) => [label, [start, stop]]));
    found.set(column.name, { ...column, labels });
  }
  return found;
}

// Rows are embedded in one of two ways: listed, a place for every row and column; or as a full table, counts alone.

function rowsOf(stated, domains) {
  const n = stated.counts.length, columns = new Map();
  let repeat = n;
  stated.columns.forEach((column) => {
    const stops = column.stops || column.starts.map((start) => start + 1);
    let place = column.place;
    if (column.of) { // a full table: the last column changes fastest
      repeat /= column.of;
      place = Int32Array.from({ length: n }, (_, row) => Math.floor(row / repeat) % column.of);
    }
    const size = domains.get(column.name).size;
    columns.set(column.name, { starts: column.starts, stops, place, size, finest: column.finest, pools: column.pools });
  });
  const counts = Float64Array.from(stated.counts);
  const total = stated.total === undefined ? counts.reduce((sum, each) => sum + each, 0) : stated.total;
  return { n, columns, counts, total };
}

function tableWith(tables, names) { return tables.find((table) => names.every((name) => table.known.includes(name))); }

// Records: what must be so, and what may be so.

function drawn(count, rate, side) {
  const beyond = 2.3 * Math.sqrt(count * (1 - rate)) + 4 * (1 - rate);
  return Math.max((count + side * beyond) / rate, 0);
}

function answerRecords(data, condition) {
  const stated = tableWith(data.tables, namesOf(condition));
  if (!stated) throw new NeedsCommand("this page does not hold these columns together");
  const question = new Question(rowsOf(stated, data.domains), condition);
  const [low, sure] = question.between(), high = sure + data.suppressed;
  if (data.sampled === null) return question.estimate(low, high, 1);
  const rate = data.rate, found = question.estimate(low, high, CONFIDENCE), [top, under] = fraction(data.sampled);
  const whole = BigInt(found.total) * under, floor = whole / top, twice = 2n * (whole - floor * top);
  const total = Number(twice > top || (twice === top && floor % 2n === 1n) ? floor + 1n : floor);
  return {
    ...found, count: found.count === null ? null : found.count / rate, low: Math.max(low, drawn(low, rate, -1)),
    high: drawn(high, rate, 1), total, sampled: data.sampled_text,
  };
}

// Noisy counts of groups, of which only those from a cutoff on are listed.

function answerNoisy(data, condition) {
  const rows = rowsOf(data.table, data.domains), question = new Question(rows, condition), noise = data.noise;
  if (!noise) return question.estimate(...question.between(), 1);
  const target = data.target === null ? null : rows.columns.get(data.target);
  const reaches = [];
  for (let code = 0; code < data.classes; code += 1) {
    reaches.push(reachOf(data.target === null ? condition : givenCase(condition, data.target, [[code, code + 1]]), rows));
  }
  const classes = Array.from({ length: rows.n }, (_, row) => (target ? target.starts[target.place[row]] : 0));
  return question.estimate(...noisyInterval(rows.counts, classes, question.found, reaches, noise), CONFIDENCE);
}

function reachOf(condition, rows) { // at most which share of all regions: certain, possible, impossible, doubtful
  if (!condition.parts) {
    const column = rows.columns.get(condition.name);
    if (column.finest) {
      let inside = 0;
      for (const [start, stop] of condition.codes) inside += Math.min(stop, column.size) - start;
      const share = inside / column.size;
      return [share, share, 1 - share, 1 - share];
    }
    const span = bySpan(column, condition.codes), mean = (mask) => mask.reduce((sum, x) => sum + x, 0) / mask.length;
    const sure = mean(span.certain), may = mean(span.possible);
    return [sure, may, 1 - may, 1 - sure];
  }
  const each = independent(condition.parts).map((parts) => joinedReach(condition.every, parts, rows));
  return condition.every ? reachAnd(each) : reachOr(each);
}

function joinedReach(every, parts, rows) {
  const each = parts.map((part) => reachOf(part, rows));
  const few = [0, 1, 2, 3].map((i) => Math.min(...each.map((reach) => reach[i])));
  const many = [0, 1, 2, 3].map((i) => Math.min(1, each.reduce((sum, reach) => sum + reach[i], 0)));
  return every ? [few[0], few[1], many[3], many[3]] : [many[1], many[1], few[2], few[3]];
}

function reachAnd(parts) {
  const times = (value) => parts.reduce((product, part) => product * value(part), 1);
  return [times((p) => p[0]), times((p) => p[1]), 1 - times((p) => 1 - p[2]), 1 - times((p) => 1 - p[3])];
}

function reachOr(parts) {
  const swap = ([certain, possible, impossible, doubtful]) => [impossible, doubtful, certain, possible];
  return swap(reachAnd(parts.map(swap)));
}

const plus = (a, b) => ({ mean: a.mean + b.mean, variance: a.variance + b.variance, slack: a.slack + b.slack });
const minus = (a, b) => ({ mean: a.mean - b.mean, variance: a.variance + b.variance, slack: a.slack + b.slack });
const half = (bound) => (bound.variance < Infinity ? DEVIATIONS * Math.sqrt(bound.variance) : Infinity);
const nearest = (bounds) => bounds.reduce((best, each) => (each.slack + half(each) < best.slack + half(best) ? each : best));
const exactly = (mean, variance) => ({ mean, variance, slack: 0 });

function noisyInterval(counts, classes, found, reaches, noise) {
  let low = exactly(0, 0), high = exactly(0, 0), against = exactly(0, 0);
  const deviation = noise.deviation ** 2, totals = noise.totals;
  reaches.forEach(([certain, possible, impossible, doubtful], number) => {
    const stratum = stratumOf(counts, classes, number, noise);
    const below = [fromBelow(stratum, (row) => found.certain[row], certain)];
    const above = [fromAbove(stratum, (row) => found.possible[row], possible)];
    const surelyNot = fromBelow(stratum, (row) => !found.possible[row], impossible);
    if (totals.length === reaches.length) {
      above.push(minus(exactly(Math.max(totals[number], 0), deviation), surelyNot));
      below.push(minus(exactly(totals[number], deviation), fromAbove(stratum, (row) => !found.certain[row], doubtful)));
    }
    low = plus(low, nearest(below));
    high = plus(high, nearest(above));
    against = plus(against, surelyNot);
  });
  if (totals.length === 1 && reaches.length > 1) {
    high = nearest([high, minus(exactly(Math.max(totals[0], 0), deviation), against)]);
  }
  const least = half(low) < Infinity ? Math.max(Math.floor(low.mean - half(low)), 0) : 0;
  let most = high.mean + half(high) < Infinity ? Math.ceil(high.mean + half(high)) : Infinity;
  if (totals.length) {
    const whole = exactly(totals.reduce((sum, each) => sum + Math.max(each, 0), 0), totals.length * deviation);
    most = Math.min(most, Math.ceil(whole.mean + half(whole)));
  }
  most = Math.max(most, 0);
  return [Math.min(least, most), Math.max(least, most)];
}

function stratumOf(counts, classes, number, noise) {
  const cutoff = noise.cutoff[number], slack = noise.slack[number], rows = [], noisy = new Map();
  counts.forEach((count, row) => {
    if (classes[row] !== number) return;
    const y = count / noise.factor[number] + noise.shift;
    rows.push(row);
    noisy.set(row, slack ? y : Math.max(y, cutoff));
  });
  const alpha = noise.alpha;
  return { rows, noisy, slack, cutoff, unlisted: noise.unlisted[number], groups: noise.groups, alpha, variance: (2 * alpha) / (1 - alpha) ** 2 };
}

function fromBelow(s, chosen, share) {
  const rows = s.rows.filter(chosen), groups = Math.max(share * s.groups, rows.length);
  const rate = s.alpha ** s.cutoff / (1 + s.alpha), mean = s.alpha / (1 - s.alpha);
  const square = s.cutoff ** 2 + 2 * s.cutoff * mean + (mean * (1 + s.alpha)) / (1 - s.alpha);
  let sum = 0, near = 0;
  for (const row of rows) {
    const y = s.noisy.get(row), lost = Math.min(s.alpha ** Math.max(y - s.cutoff + 1, 0) / (1 + s.alpha), 0.5);
    sum += y;
    near += 2 * y ** 2 * lost * (1 - lost);
  }
  const off = groups * rate * (s.cutoff + mean) + rows.length * s.slack;
  return { mean: sum - off, variance: groups * rate * square + rows.length * s.variance + near, slack: off };
}

function fromAbove(s, chosen, share) {
  const rows = s.rows.filter(chosen), groups = Math.max(share * s.groups, rows.length);
  const off = (groups - rows.length) * s.unlisted + rows.length * s.slack;
  return { mean: rows.reduce((sum, row) => sum + s.noisy.get(row), 0) + off, variance: groups * s.variance, slack: off };
}

// Measured tables: one that knows all columns answers; else the model does, in an interval that does not believe it.

function heldRows(table, domains) {
  if (!table.counts) throw new NeedsCommand("the measured table that answers is too large for this page");
  return rowsOf(table, domains);
}

function tableBetween(question, table, deviations) {
  const variance = table.merged * table.variance, { certain, possible } = question.found;
  const low = question.sum(certain) - deviations * Math.sqrt(question.chosen(certain) * variance);
  const high = question.sum(possible) + deviations * Math.sqrt(question.chosen(possible) * variance);
  return [Math.floor(low), Math.ceil(high)];
}

const leastNoise = (tables) => tables.reduce((best, each) => (each.noise < best.noise ? each : best));
const knows = (table, names) => names.every((name) => table.known.includes(name));

function answerTables(data, condition) {
  const names = namesOf(condition), able = data.tables.filter((table) => knows(table, names));
  if (able.length) {
    const table = leastNoise(able), question = new Question(heldRows(table, data.domains), condition);
    const [low, high] = tableBetween(question, table, DEVIATIONS);
    return question.estimate(Math.max(low, 0), Math.max(high, low, 0), CONFIDENCE);
  }
  if (!data.records) throw new NeedsCommand("no single measured table has these columns, and the synthetic records that relate them are too many for this page");
  const question = new Question(rowsOf(data.records, data.domains), condition);
  return { ...question.estimate(...apart(data, condition), CONFIDENCE), modelled: names };
}

function apart(data, condition) {
  const parts = condition.parts && condition.every ? condition.parts : [condition];
  let left = independent(parts).map((some) => ({ some, names: [...new Set(some.flatMap(namesOf))] }));
  const cover = [];
  while (left.length) {
    const able = data.tables.map((table) => [left.filter((part) => knows(table, part.names)).length, table]);
    const most = Math.max(...able.map(([many]) => many));
    if (!most) break;
    const table = leastNoise(able.filter(([many]) => many === most).map((each) => each[1]));
    cover.push([table, left.filter((part) => knows(table, part.names)).flatMap((part) => part.some)]);
    left = left.filter((part) => !knows(table, part.names));
  }
  const deviations = Math.max(DEVIATIONS, Math.log((cover.length + 1) / (1 - CONFIDENCE)) / Math.sqrt(2) + 0.1);
  const quiet = leastNoise(data.tables);
  const total = Math.max(Math.ceil(quiet.sum + deviations * Math.sqrt(quiet.noise)), 0);
  const lows = [], highs = [total];
  for (const [table, some] of cover) {
    const question = new Question(heldRows(table, data.domains), { every: true, parts: some });
    const [low, high] = tableBetween(question, table, deviations);
    lows.push(Math.max(low, 0));
    highs.push(Math.max(high, 0));
  }
  const sum = lows.reduce((all, low) => all + low, 0);
  const least = left.length === 0 && lows.length ? Math.max(0, sum - (lows.length - 1) * total) : 0;
  const most = Math.min(...highs);
  return [Math.min(least, most), most];
}

// Counts that were estimated from sums: the variance of a sum of estimates follows from the strategy.

function answerConsistent(data, condition) {
  const rows = rowsOf(data.table, data.domains), strategy = data.strategy;
  const total = rows.total;
  let question = new Question(rows, condition), modelled = [], low, high;
  const { certain, possible } = question.found;
  const marginals = strategy.name === "consistent-marginals";
  const bounds = (mask, deviations = DEVIATIONS) => {
    const spread = deviations * Math.sqrt(estimateVariance(strategy, mask) * data.variance), sum = question.sum(mask);
    return [Math.floor(sum - spread), Math.ceil(sum + spread)];
  };
  if (marginals && !(spans(strategy, certain) && spans(strategy, possible))) {
    modelled = namesOf(condition);
    const subsets = strategy.subsets, lows = [0], highs = [];
    const deviations = Math.max(DEVIATIONS, Math.log(subsets.length / (1 - CONFIDENCE)) / Math.sqrt(2) + 0.1);
    for (const subset of subsets) {
      lows.push(bounds(alike(strategy.sizes, subset, certain, true), deviations)[0]);
      highs.push(bounds(alike(strategy.sizes, subset, possible, false), deviations)[1]);
    }
    low = Math.max(...lows);
    high = Math.max(Math.min(...highs), 0);
    question = new Question(rowsOf({ ...data.table, counts: data.published }, data.domains), condition);
  } else {
    low = bounds(certain)[0];
    high = bounds(possible)[1];
  }
  const least = Math.max(low, 0), found = question.estimate(least, Math.max(high, low, 0), CONFIDENCE);
  const share = found.count === null ? null : total ? Math.min(found.count / total, 1) : 0;
  return { ...found, total, share, modelled };
}

function estimateVariance(strategy, mask) {
  if (strategy.name === "consistent-marginals") {
    return squares(strategy, mask).reduce((sum, [square, cells, factor]) => sum + (square * factor) / (strategy.size / cells) ** 2, 0);
  }
  const { sizes, place } = strategy, inner = sizes.slice(place + 1).reduce((a, b) => a * b, 1), width = sizes[place];
  let total = 0;
  for (let outer = 0; outer < mask.length / (inner * width); outer += 1) {
    for (let i = 0; i < inner; i += 1) {
      const weights = Float64Array.from({ length: width }, (_, cell) => mask[(outer * width + cell) * inner + i]);
      total += strategy.name === "wavelet" ? waveletVariance(weights) : treeVariance(strategy, weights);
    }
  }
  return total;
}

function treeVariance(tree, weights) {
  let p = weights, q = weights.map((w) => w * w), s = weights.map(() => 1);
  const summed = (values, first) => Float64Array.from({ length: first.length }, (_, i) => {
    let sum = 0;
    for (let j = first[i]; j < (i + 1 < first.length ? first[i + 1] : values.length); j += 1) sum += values[j];
    return sum;
  });
  for (let depth = tree.first.length - 1; depth >= 0; depth -= 1) {
    const first = tree.first[depth], S = summed(s, first);
    p = summed(p, first);
    q = summed(q, first);
    s = S;
    if (depth || tree.root) {
      q = q.map((value, i) => value - p[i] ** 2 / (1 + S[i]));
      p = p.map((value, i) => value / (1 + S[i]));
      s = S.map((value) => value / (1 + value));
    }
  }
  return q[0];
}

function waveletVariance(weights) {
  let have = new Float64Array(2 ** Math.ceil(Math.log2(weights.length))), total = 0;
  have.set(weights);
  while (have.length > 1) {
    const next = new Float64Array(have.length / 2);
    let sum = 0;
    for (let i = 0; i < next.length; i += 1) {
      sum += (have[2 * i] - have[2 * i + 1]) ** 2;
      next[i] = (have[2 * i] + have[2 * i + 1]) / 2;
    }
    total += sum / 4;
    have = next;
  }
  return total + have[0] ** 2;
}

function strides(sizes) {
  const found = new Array(sizes.length).fill(1);
  for (let i = sizes.length - 2; i >= 0; i -= 1) found[i] = found[i + 1] * sizes[i + 1];
  return found;
}

function placesIn(sizes, subset) { // for every cell of the table, its cell in the marginal of some attributes
  const all = strides(sizes), some = strides(subset.map((axis) => sizes[axis]));
  return (cell) => subset.reduce((place, axis, i) => place + (Math.floor(cell / all[axis]) % sizes[axis]) * some[i], 0);
}

function alike(sizes, subset, mask, every) { // cells of the marginal of which every cell, or some cell, is chosen
  const place = placesIn(sizes, subset), cells = subset.reduce((product, axis) => product * sizes[axis], 1);
  const found = new Uint8Array(cells).fill(every ? 1 : 0);
  mask.forEach((chosen, cell) => { if (Boolean(chosen) !== every) found[place(cell)] = every ? 0 : 1; });
  return Uint8Array.from({ length: mask.length }, (_, cell) => found[place(cell)]);
}

function squares(strategy, mask) { // of every interaction: its square, its cells, and the variance of its estimate
  return strategy.interactions.map(({ subset, variance }) => {
    const own = subset.map((axis) => strategy.sizes[axis]), place = placesIn(strategy.sizes, subset);
    const cells = own.reduce((product, size) => product * size, 1), table = new Float64Array(cells), step = strides(own);
    mask.forEach((chosen, cell) => { if (chosen) table[place(cell)] += 1; });
    own.forEach((size, axis) => {
      for (let cell = 0; cell < cells; cell += 1) {
        if (Math.floor(cell / step[axis]) % size !== 0) continue;
        let mean = 0;
        for (let i = 0; i < size; i += 1) mean += table[cell + i * step[axis]];
        mean /= size;
        for (let i = 0; i < size; i += 1) table[cell + i * step[axis]] -= mean;
      }
    });
    return [table.reduce((sum, value) => sum + value * value, 0), cells, variance];
  });
}

function spans(strategy, mask) {
  const inside = squares(strategy, mask).reduce((sum, [square, cells]) => sum + square / (strategy.size / cells), 0);
  const whole = mask.reduce((sum, each) => sum + each, 0);
  return Math.abs(whole - inside) <= 1e-9 * Math.max(whole, 1);
}

const ANSWERS = { records: answerRecords, noisy: answerNoisy, tables: answerTables, consistent: answerConsistent };

function ask(data, text) {
  const condition = resolve(new Parser(text).whole(), data.domains, false);
  if (!data.kind) throw new NeedsCommand(data.absent);
  return ANSWERS[data.kind](data, condition);
}
