// How the runs were made: what differs between them, then each one's settings, versions and command.

function differingTables(runs, rows) {
  const [shared, own] = [true, false].map((all) => rows.filter((row) => row.values.every((value) => value !== null) === all));
  const parts = shared.length ? [differingTable("Settings in which the runs differ.", runs, shared)] : [];
  if (!own.length) return parts;
  const rest = make("details", {}, make("summary", {}, "settings that only some of the runs have"), differingTable("", runs, own));
  return [...parts, rest];
}

function differingTable(caption, runs, rows) {
  const heads = ["setting", ...runs.map((run) => run.label)];
  const cells = (row) => row.values.map((value) => make("td", {}, value === null ? "–" : written(value)));
  const table = make("table", {}, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, make("th", { scope: "row" }, row.key), ...cells(row)))));
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "settings in which the runs differ" }, table);
}

function written(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function making(run, number) {
  const versions = run.versions;
  const packages = Object.entries(versions.packages || {}).filter(([, version]) => version).map(([name, version]) => `${name} ${version}`);
  const facts = {
    directory: run.path,
    command: versions.command,
    commit: versions.commit,
    "trained for": run.seconds === null ? null : `${duration(run.seconds)} (all seeds side by side)`,
    device: versions.device,
    system: versions.system,
    versions: versions.python ? [`Python ${versions.python}`, ...packages].join(", ") : null,
    strictness: strictness(run),
  };
  const rows = Object.entries(facts).filter(([, text]) => text).map(([name, text]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, make("code", {}, text))));
  return make("div", { class: "run" }, make("h3", {}, swatch(colourOf(number), dashOf(Math.floor(number / 7))), ` ${run.label}`),
    make("table", {}, make("tbody", {}, ...rows)),
    make("details", {}, make("summary", {}, "all settings"), make("pre", {}, JSON.stringify(run.config, null, 2))));
}

function strictness(run) {
  const told = run.config.strictness || {};
  const own = ["networks", "replays", "optimisers"].filter((part) => told[`own_${part}`]);
  const detail = own.length ? `: own ${own.join(", ")}` : "";
  return `${run.decentralised ? "decentralised" : "not decentralised"}${detail}`;
}
