// The query box: reads a condition, shows the answer as text. Nothing is ever put into the page as markup.

function whole(x) {
  if (!Number.isFinite(x)) return "inf";
  const digits = String(BigInt(halfEven(Math.round(Math.abs(x) * 1e6) / 1e6))), minus = x < 0 && digits !== "0" ? "-" : "";
  return minus + digits.replace(/\B(?=(\d{3})+$)/gu, ",");
}

function percent(share) { // two digits; a tie, which is an odd number of eighths, goes to the even digit
  const x = 100 * share, eighths = x * 8;
  if (Number.isInteger(eighths) && eighths % 2 !== 0) return (halfEven(x * 100) / 100).toFixed(2);
  return x.toFixed(2);
}

function quoted(names) { return names.map((name) => `'${name}'`).join(" and "); }

function estimateWords(found) { // the words of `sfumato query`
  const rough = found.sampled !== null || found.confidence < 1;
  const of = `${rough ? "about " : ""}${whole(found.total)} records`, span = `${whole(found.low)} to ${whole(found.high)}`;
  const level = (100 * found.confidence).toFixed(0);
  let words;
  if (found.count === null) {
    words = `between ${whole(found.low)} and ${whole(found.high)} of ${of} (${level} % interval)`
      + `; no single number is given, because the release does not distinguish values of ${quoted(found.undecided)}`;
  } else if (found.low === found.high && found.confidence === 1) {
    words = `${whole(found.count)} of ${of}, ${percent(found.share)} %`;
  } else {
    const sure = found.confidence < 1 ? `${level} % interval ${span}` : `certainly ${span}`;
    words = `about ${whole(found.count)} of ${of}, ${percent(found.share)} %; ${sure}`;
    if (found.assumes.length) {
      words += `; the single number assumes that values of ${quoted(found.assumes)} are uniform within their regions`;
    }
    if (found.modelled.length) {
      words += `; no published table has ${quoted(found.modelled)} together, and the single number relates them by `
        + "the model that the tables make";
    }
  }
  if (found.sampled !== null) {
    words += `; the release is a random sample of ${found.sampled} of the records, and counts are scaled up accordingly`;
  }
  return words;
}

function command(data, text) { return `sfumato query . '${text.split("'").join("'\\''")}'${data.elsewhere}`; }

function part(kind, className, text) {
  const found = document.createElement(kind);
  if (className) found.className = className;
  found.textContent = text;
  return found;
}

function cleared() {
  const answer = document.getElementById("answer");
  answer.replaceChildren();
  for (const name of ["count", "low", "high", "share", "total", "state"]) delete answer.dataset[name];
  return answer;
}

function show(data, text) {
  const answer = cleared();
  let found;
  try {
    found = ask(data, text);
  } catch (problem) {
    if (problem instanceof NeedsCommand) {
      answer.dataset.state = "command";
      answer.append(part("p", "", `Not answered here: ${problem.message}. Ask with the command:`), part("pre", "", command(data, text)));
    } else if (problem instanceof QueryProblem) {
      answer.dataset.state = "problem";
      answer.append(part("p", "", `This is not a query: ${problem.message}.`));
    } else throw problem;
    return;
  }
  answer.dataset.state = "answered";
  for (const name of ["count", "low", "high", "share", "total"]) answer.dataset[name] = String(found[name]);
  const about = found.low === found.high && found.confidence === 1 ? "" : "about ";
  const big = found.count === null ? `${whole(found.low)} to ${whole(found.high)}` : about + whole(found.count);
  const words = part("p", "words", estimateWords(found));
  words.id = "words";
  answer.append(part("p", "big", big), words, part("pre", "", command(data, text)));
}

{
  const data = JSON.parse(document.getElementById("data").textContent);
  data.domains = columnsOf(data.columns);
  const form = document.getElementById("ask");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = document.getElementById("qbox").value.trim();
    if (text) show(data, text);
    else cleared(); // no answer to an earlier question stays
  });
  form.hidden = false;
}
