// The page, from top to bottom.

const { runs, panels, measures, differing } = JSON.parse(document.getElementById("data").textContent);

function header() {
  const unfinished = runs.filter((run) => !run.finished);
  const states = unfinished.map((run) => make("p", { class: "state" },
    `${run.label} is unfinished: step ${whole(run.steps[run.steps.length - 1])} of ${whole(run.wanted)}`));
  return [make("h1", {}, document.title), ...states];
}

function legend() {
  return make("div", { class: "legend", role: "group", "aria-label": "runs shown" }, ...runs.map((run, number) =>
    make("button", { type: "button", "aria-pressed": "true", onclick: (event) => toggle(event.currentTarget, number) },
      swatch(colourOf(number), dashOf(Math.floor(number / 7))), `${run.label} (${run.seeds.length} ${run.seeds.length > 1 ? "seeds" : "seed"})`)));
}

function toggle(button, number) {
  const off = !hidden.delete(number);
  if (off) hidden.add(number);
  button.setAttribute("aria-pressed", String(!off));
  for (const row of document.querySelectorAll(`tr[data-run="${number}"]`)) row.classList.toggle("off", off);
  redrawAll();
}

function learningCurves(panel) {
  const linesOf = (read) => panel.runs.map((number) => ({ steps: runs[number].steps, ...read(runs[number]), run: number,
    text: runs[number].label, colour: colourOf(number), dash: dashOf(Math.floor(number / 7)) }));
  const levels = Object.entries(panel.references).map(([name, value]) => ({ name, value, text: `${name} ${exact(value)}` }));
  const madeOf = panel.team_return ? ` (${panel.team_return})` : "";
  const shown = [[`return${madeOf}`, linesOf((run) => run), levels],
    ...panel.reports.map((name) => [inWords(name), linesOf((run) => run.reports[name]), []])];
  return shown.flatMap(([name, lines, levels]) => [make("h3", {}, `${panel.title}: test ${name}`),
    chart({ title: `test ${name} on ${panel.title}`, lines, levels })]);
}

function measure(group) {
  const lines = group.lines.map((line) => ({ ...line, colour: colourOf(line.run), dash: dashOf(group.names.indexOf(line.name)),
    text: group.names.length > 1 ? `${runs[line.run].label}, ${line.name}` : runs[line.run].label }));
  const levels = group.level === null ? [] : [{ name: "level", value: group.level, text: group.level_text }];
  const used = group.names.filter((name) => group.lines.some((line) => line.name === name));
  const names = used.length > 1 ? used.map((name) => [name, dashOf(group.names.indexOf(name))]) : [];
  return make("section", {}, make("h3", {}, group.title),
    chart({ title: group.title, lines, levels, names, byDecades: group.by_decades, small: true }));
}

function section(title, meaning, ...parts) {
  return make("section", {}, make("h2", {}, title), meaning ? make("p", { class: "quiet" }, meaning) : null, ...parts);
}

document.getElementById("page").append(...header(), legend(),
  section("Learning curves", "Mean over seeds of each test's return; the band is the mean's 95 % bootstrap interval, which a single seed does not have. Point at a chart, or focus it and use the arrow keys, to read values.",
    ...panels.flatMap(learningCurves)),
  section("Final test", null, finalTable(runs)),
  section("Inside the agents", null, ...runs.map(insideOf)),
  ...(measures.length ? [section("Measured while learning", "Mean over seeds and agents; the band is their standard deviation.",
    make("div", { class: "small" }, ...measures.map(measure)))] : []),
  section("How the runs were made", null, ...differingTables(runs, differing), ...runs.map(making)));
redrawAll();
let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (width !== window.innerWidth) redrawAll();
  width = window.innerWidth;
});
