// What trained agents hold: tables of values of a matrix game, maps of values over the grid.

function insideOf(run, number) {
  const inside = run.inside;
  const parts = [make("h3", {}, swatch(colourOf(number), dashOf(Math.floor(number / 7))), ` ${run.label}`)];
  if (inside.tables) parts.push(bySeed(inside.tables.seeds, (at) => valueTables(inside.tables, at)));
  if (inside.maps) parts.push(bySeed(inside.maps.seeds, (at) => maps(inside.maps, at)));
  if (inside.timeline) parts.push(timeline(inside.timeline));
  for (const sentence of inside.missing) parts.push(make("p", { class: "quiet" }, sentence));
  return make("div", { class: "run" }, ...parts);
}

function bySeed(seeds, show) {
  const place = make("div", {}, show(0));
  if (seeds.length < 2) return place;
  const choice = make("select", { onchange: (event) => place.replaceChildren(show(event.target.selectedIndex)) },
    ...seeds.map((seed) => make("option", {}, String(seed))));
  return make("div", {}, make("label", { class: "quiet" }, "seed ", choice), place);
}

function valueTables(tables, at) {
  const numbers = tables.agents.flatMap((own) => [own[at].values, ...(own[at].by_context || [])].flat());
  const [low, high] = extent(numbers);
  const shown = tables.agents.map((own, agent) => valueTable(own[at], tables.names[agent], low, high));
  const note = tables.agents.some((own) => own[at].by_context)
    ? "Struck out, in brackets: the context never occurs after the action." : "";
  return make("div", {}, make("div", { class: "side" }, ...shown), make("p", { class: "quiet" }, note));
}

function valueTable(own, caption, low, high) {
  const contexts = own.by_context ? own.by_context[0].map((_, context) => `Q(s,a,${context})`) : [];
  const head = make("tr", {}, ...["action", own.symbol, ...contexts].map((text) => make("th", { scope: "col", class: "number" }, text)));
  const rows = own.values.map((value, action) => make("tr", {}, make("th", { scope: "row" }, own.actions[action]), tinted(value, true, low, high),
    ...contexts.map((_, context) => tinted(own.by_context[action][context], own.occurs[action][context], low, high))));
  return make("div", { class: "wide values" }, make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows)));
}

function tinted(value, occurs, low, high) {
  const cell = make("td", { class: occurs ? "tinted" : "tinted never" }, occurs ? twoDigits(value) : `(${twoDigits(value)})`);
  const colours = tint(value, low, high);
  if (occurs) Object.assign(cell.style, { background: colours.ground, color: colours.ink });
  return cell;
}

function maps(grid, at) {
  const shown = grid.agents.map((own) => map(grid, own.values[at], `${own.name}: ${own.symbol}`));
  return make("div", {}, make("div", { class: "side" }, ...shown), make("p", { class: "quiet" }, grid.meaning));
}

function map(grid, values, title) {
  const best = values.map((own) => Math.max(...own));
  const free = best.filter((_, cell) => !(cell in grid.taken));
  const [low, high] = extent(free);
  const side = 64;
  const length = grid.size * side + 2;
  const picture = draw("svg", { viewBox: `0 0 ${length} ${length}`, role: "img", "aria-label": `${title}, greedy move in every cell` });
  values.forEach((own, cell) => {
    const [x, y] = [1 + (cell % grid.size) * side, 1 + Math.floor(cell / grid.size) * side];
    const taken = grid.taken[cell];
    const colours = taken ? { ground: "transparent", ink: null } : tint(best[cell], low, high);
    const told = taken || grid.moves.map((move, action) => `${move} ${exact(own[action])}`).join(", ");
    const square = draw("rect", { x, y, width: side, height: side, class: "axis" });
    square.style.fill = colours.ground;
    const lines = taken ? [[taken, 37, 14]] : [[grid.arrows[own.indexOf(best[cell])], 30, 24], [twoDigits(best[cell]), 52, 13]];
    picture.append(draw("g", {}, draw("title", {}, told), square, ...lines.map(([text, drop, size]) => cellText(text, x + side / 2, y + drop, size, colours.ink))));
  });
  const caption = make("figcaption", {}, `${title}, from ${exact(low)} (dark) to ${exact(high)} (light); the arrow is the greedy move`);
  return make("figure", {}, picture, caption);
}

function cellText(text, x, y, size, ink) {
  const element = draw("text", { x, y, "text-anchor": "middle", class: "strong" }, text);
  element.style.fontSize = `${size}px`;
  if (ink) element.style.fill = ink;
  return element;
}
