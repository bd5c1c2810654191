// The start of the page of a report, and printing.

const DATA = JSON.parse($("#data").textContent);
const FIGURES = [];

addEventListener("theme", () => { for (const figure of FIGURES) if (figure.drawn && figure.stage) figure.draw(); });
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
