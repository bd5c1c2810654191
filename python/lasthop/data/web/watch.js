// The page of a sweep or a network that runs: it asks for what is new, and draws the figures again.

const FIGURES = [];
const STUDY = { name: document.title };
const HEAD = document.title;
const cards = [];
let version = -1, tenth = -1, misses = 0, words = null;

addEventListener("theme", () => { for (const figure of FIGURES) if (figure.drawn && figure.stage) figure.draw(); });

/** A sweep has no list of its runs yet that a click on a value could open. */
function openPoint() {}

function element(html) {
  const template = el("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/** Draw a figure, or draw it again with what the reader has hidden or zoomed. */
function draw(place) {
  const entry = cards[place], host = element(entry.card), kept = entry.figure?.state;
  if (entry.host) entry.host.replaceWith(host);
  else $("#figures-here").append(host);
  Object.assign(entry, { host, isStale: false, figure: null });
  if (entry.chart.form !== "none") {
    entry.figure = new Figure(host, entry.chart, STUDY, place, kept);
    if (kept && entry.figure.stage) entry.figure.draw();
  }
  FIGURES.splice(0, FIGURES.length, ...cards.map((card) => card.figure).filter(Boolean));
}

/** Figures that nobody reads at this moment follow the sweep. */
function follow() {
  cards.forEach((entry, place) => {
    if (entry.isStale && !(entry.host && entry.host.matches(":hover, :focus-within"))) draw(place);
  });
}

function take(data) {
  const share = data.total ? data.done / data.total : null;
  if (share === null) $("#progress").removeAttribute("value");
  else $("#progress").value = share;
  $("#runs-done").textContent = data.count;
  $("#pace").textContent = data.pace;
  const isDone = data.state === "done";
  $("#state").textContent = data.where;
  document.title = `${isDone ? "Done" : share === null ? data.count : `${Math.floor(100 * share)} %`} – ${HEAD}`;
  if (share !== null && Math.floor(10 * share) !== tenth) {
    tenth = Math.floor(10 * share);
    say(data.count);
  }
  words = data.words;
  version = data.version;
  if (data.hero === undefined) return isDone;
  $("#hero").innerHTML = data.hero;
  if (data.figures.length && !cards.length) $("#figures-here").replaceChildren();
  data.figures.forEach((figure, place) => { cards[place] = { ...cards[place], ...figure, isStale: true }; });
  follow();
  return isDone;
}

function leave(text) {
  $("#gone").hidden = false;
  $("#gone").textContent = text;
  say(text);
}

async function ask() {
  try {
    const answer = await fetch(`data.json?known=${version}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    const data = await answer.json();
    misses = 0;
    if (take(data)) leave(words.done);
    else setTimeout(ask, data.wait);
  } catch {
    misses += 1;
    if (misses < 3) setTimeout(ask, 700);
    else {
      $("#state").textContent = "This has ended";
      leave(words ? words.gone : "The server of this page does not answer.");
    }
  }
}

setInterval(follow, 500);
ask();
