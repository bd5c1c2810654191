// The start of the page, dark mode and printing.

const DATA = JSON.parse($("#data").textContent);
const FIGURES = [];

/** Remember what the reader chose; a page from a file may have no storage. */
function remembered(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // Then the page follows the system.
  }
  return null;
}

const system = matchMedia("(prefers-color-scheme: dark)");

function useTheme(name) {
  document.documentElement.dataset.theme = name;
  $("#theme").setAttribute("aria-pressed", String(name === "dark"));
  for (const figure of FIGURES) if (figure.drawn && figure.stage) figure.draw();
}

useTheme(remembered("lasthop-theme") ?? (system.matches ? "dark" : "light"));
system.addEventListener("change", () => { if (!remembered("lasthop-theme")) useTheme(system.matches ? "dark" : "light"); });
$("#theme").addEventListener("click", () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  remembered("lasthop-theme", name);
  useTheme(name);
});
$("#print").addEventListener("click", () => print());

// On paper every chart is a picture on white, also those that were never in sight.
addEventListener("beforeprint", () => {
  for (const { fig, state, drawing, stage } of FIGURES) {
    if (stage) drawing.append(Object.assign(picture(fig, state, true), { className: "on-paper" }));
  }
});
addEventListener("afterprint", () => { for (const made of $$(".on-paper")) made.remove(); });

for (const host of $$("figure[data-chart]")) {
  const study = DATA.studies[Number(host.dataset.study)], fig = study.charts[Number(host.dataset.chart)];
  if (fig.form !== "none") FIGURES.push(new Figure(host, fig, study, FIGURES.length));
}
new Points($("#points-here"), DATA.studies);
new Values($("#values-here"), DATA.studies, DATA.rows);
statementFilters();

for (const button of $$(".code > .copy")) {
  button.addEventListener("click", () => copy($("pre", button.parentElement).textContent, button));
}
$("#save-scenario")?.addEventListener("click", () => save("scenario.toml", DATA.studies[0].text));
$("#runs").addEventListener("click", (event) => { if (event.target === event.currentTarget) event.currentTarget.close(); });
// A menu closes when something else is chosen.
addEventListener("click", (event) => {
  if (!event.target.isConnected) return;
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of $$("details.menu[open]")) {
    menu.open = false;
    $("summary", menu).focus();
  }
});
