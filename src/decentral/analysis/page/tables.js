// The final test of every run, in numbers.

const SUMMARY = [["mean", "mean"], ["standard deviation", "spread"], ["interquartile mean", "iqm"]];

function finalTable(runs) {
  const heads = ["run", "decentralised", "steps", "seeds", ...SUMMARY.map(([title]) => title), "its 95 % interval", "each seed"];
  const table = make("table", {}, make("caption", {}, "Mean return of the last test's greedy episodes, over seeds."),
    make("thead", {}, make("tr", {}, ...heads.map((head, at) => make("th", { scope: "col", class: at > 1 && at < 8 ? "number" : null }, head)))));
  const body = make("tbody");
  runs.forEach((run, number) => body.append(finalRow(run, number)));
  table.append(body);
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "final test" }, table);
}

function finalRow(run, number) {
  const numbers = run.summary === null ? ["none", "none", "none", "none"]
    : [...SUMMARY.map(([, key]) => exact(run.summary[key])), `${exact(run.summary.low)} to ${exact(run.summary.high)}`];
  const each = run.returns.map((own) => exact(own[own.length - 1])).join("  ");
  const told = [whole(run.steps[run.steps.length - 1]), run.seeds.length, ...numbers];
  return make("tr", { "data-run": number },
    make("th", { scope: "row" }, swatch(colourOf(number), dashOf(Math.floor(number / 7))), ` ${run.label}`),
    make("td", {}, run.decentralised ? "yes" : "no"),
    ...told.map((text) => make("td", { class: "number" }, String(text))), make("td", { class: "seeds" }, each));
}
