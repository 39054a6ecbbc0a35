// The final test of every run, in numbers.

const SUMMARY = [["mean", "mean"], ["standard deviation", "spread"], ["interquartile mean", "iqm"]];

function finalTable(runs) {
  const reports = Object.keys(runs[0].reports).filter((name) => runs.every((run) => name in run.reports));
  const heads = ["run", "decentralised", "steps", "seeds", ...SUMMARY.map(([title]) => title), "its 95 % interval",
    ...reports.map(inWords), "each seed"];
  const table = make("table", {}, make("caption", {}, "Mean return of the last test's greedy episodes, over seeds."),
    make("thead", {}, make("tr", {}, ...heads.map((head, at) => make("th", { scope: "col", class: at > 1 && at < heads.length - 1 ? "number" : null }, head)))));
  const body = make("tbody");
  runs.forEach((run, number) => body.append(finalRow(run, number, reports)));
  table.append(body);
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "final test" }, table);
}

function interval(summary) {
  return summary.low === null ? "none: 1 seed" : `${exact(summary.low)} to ${exact(summary.high)}`;
}

function finalRow(run, number, reports) {
  const numbers = run.summary === null ? ["none", "none", "none", "none"]
    : [...SUMMARY.map(([, key]) => exact(run.summary[key])), interval(run.summary)];
  const each = run.returns.map((own) => exact(own[own.length - 1])).join("  ");
  const told = [whole(run.steps[run.steps.length - 1]), run.seeds.length, ...numbers,
    ...reports.map((name) => exact(run.reports[name].mean[run.steps.length - 1]))];
  return make("tr", { "data-run": number },
    make("th", { scope: "row" }, swatch(colourOf(number), dashOf(Math.floor(number / 7))), ` ${run.label}`),
    make("td", {}, run.decentralised ? "yes" : "no"),
    ...told.map((text) => make("td", { class: "number" }, String(text))), make("td", { class: "seeds" }, each));
}
