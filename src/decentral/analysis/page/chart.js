// A chart of lines with bands over environment steps. Pointing at it, or the arrow keys, tell the values.

const hidden = new Set(); // the numbers of runs that are switched off
const charts = []; // to be drawn again when the width or the choice of runs changes

function chart(spec) {
  const figure = make("figure");
  const redraw = () => drawChart(figure, spec);
  charts.push(redraw);
  return figure;
}

function redrawAll() {
  for (const redraw of charts) redraw();
}

function drawChart(figure, spec) {
  const width = Math.max(figure.clientWidth, 240);
  const height = spec.small ? 190 : Math.min(420, Math.max(280, width * 0.42));
  const box = { left: 52, right: width - 12, top: 12, bottom: height - 40 };
  const lines = spec.lines.filter((line) => !hidden.has(line.run));
  const [x, y] = axesOf(spec, lines, box);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": spec.title });
  picture.append(...frame(spec, x, y, box), ...lines.flatMap((line) => bandAndLine(line, x, y)));
  const cursor = draw("g");
  picture.append(...spec.levels.map((level) => levelLine(level, y, box)), cursor);
  figure.replaceChildren(picture, ...captionOf(spec));
  if (lines.length) listen(figure, picture, { spec, lines, x, y, box, cursor, width });
}

function axesOf(spec, lines, box) {
  const known = (values) => values.filter((value) => value !== null && (!spec.byDecades || value > 0));
  const shown = lines.length ? lines : spec.lines;
  const heights = known([...shown.flatMap((line) => [...line.low, ...line.high, ...line.mean]), ...spec.levels.map((level) => level.value)]);
  const [low, high] = heights.length ? extent(heights) : [spec.byDecades ? 0.1 : 0, 1];
  const margin = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
  const y = spec.byDecades ? decades(low, high, box.bottom, box.top) : linear(low - margin, high + margin, box.bottom, box.top);
  const steps = shown.flatMap((line) => line.steps);
  return [linear(0, extent([1, ...steps])[1], box.left, box.right), y];
}

function frame(spec, x, y, box) {
  const parts = [];
  for (const mark of y.marks) {
    parts.push(draw("line", { class: "axis", x1: box.left, x2: box.right, y1: y(mark), y2: y(mark) }));
    parts.push(draw("text", { x: box.left - 6, y: y(mark) + 4, "text-anchor": "end" }, short(mark)));
  }
  for (const mark of x.marks) {
    const last = mark === x.marks[x.marks.length - 1] && x(mark) > box.right - 12;
    parts.push(draw("text", { x: x(mark), y: box.bottom + 17, "text-anchor": last ? "end" : "middle" }, short(mark)));
  }
  const middle = (box.left + box.right) / 2;
  parts.push(draw("text", { x: middle, y: box.bottom + 34, "text-anchor": "middle" }, "environment steps"));
  return parts;
}

function bandAndLine(line, x, y) {
  const points = line.steps.map((step, at) => [step, line.mean[at], line.low[at], line.high[at]]).filter((point) => point[1] !== null);
  const path = (column, list) => list.map((point) => `${x(point[0]).toFixed(1)},${y(point[column]).toFixed(1)}`).join("L");
  const around = points.filter((point) => point[2] !== null && point[3] !== null);
  const band = around.length && draw("path", { d: `M${path(3, around)}L${path(2, [...around].reverse())}Z`, opacity: 0.18 });
  const middle = draw("path", { d: `M${path(1, points)}`, fill: "none", "stroke-width": 2, "stroke-dasharray": line.dash });
  if (band) band.style.fill = line.colour; // a single seed has none
  middle.style.stroke = line.colour;
  if (points.length > 1) return band ? [band, middle] : [middle];
  const dots = points.map((point) => draw("circle", { cx: x(point[0]), cy: y(point[1]), r: 3.5 }));
  for (const dot of dots) dot.style.fill = line.colour;
  return dots;
}

function levelLine(level, y, box) {
  const at = y(level.value);
  return draw("line", { class: `level ${level.name}`, x1: box.left, x2: box.right, y1: at, y2: at });
}

// What lines and levels mean stands below the chart: inside it a curve could run through the words.
function captionOf(spec) {
  const named = (spec.names || []).map(([name, dash]) => [swatch("currentColor", dash), name]);
  const levels = spec.levels.filter((level) => level.text)
    .map((level) => [swatch("var(--quiet)", level.name === "random" ? "2 4" : "6 4"), level.text]);
  const spans = [...named, ...levels].map(([mark, text]) => make("span", {}, mark, ` ${text}`));
  return spans.length ? [make("figcaption", {}, ...spans)] : [];
}

function listen(figure, picture, view) {
  const every = [...new Set(view.lines.flatMap((line) => line.steps))].sort((one, other) => one - other);
  const readout = make("div", { class: "readout", "aria-live": "polite", hidden: "" });
  figure.append(readout);
  let at = null;
  const show = (place) => {
    at = Math.min(Math.max(place, 0), every.length - 1);
    tell(every[at], readout, view);
  };
  const away = () => {
    at = null;
    readout.hidden = true;
    view.cursor.replaceChildren();
  };
  picture.addEventListener("pointermove", (event) => {
    const edges = picture.getBoundingClientRect();
    const where = ((event.clientX - edges.left) / edges.width) * view.width;
    const distances = every.map((step) => Math.abs(view.x(step) - where));
    show(distances.indexOf(Math.min(...distances)));
  });
  picture.addEventListener("pointerleave", away);
  picture.addEventListener("blur", away);
  picture.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -every.length, End: every.length };
    if (event.key === "Escape") away();
    if (!(event.key in moves)) return;
    event.preventDefault();
    show(at === null ? (moves[event.key] > 0 ? 0 : every.length - 1) : at + moves[event.key]);
  });
}

function tell(step, readout, view) {
  const place = view.x(step);
  view.cursor.replaceChildren(draw("line", { class: "cursor", x1: place, x2: place, y1: view.box.top, y2: view.box.bottom }));
  const rows = [make("div", {}, `step ${whole(step)}`)];
  for (const line of view.lines) {
    const at = line.steps.indexOf(step);
    if (at < 0 || line.mean[at] === null) continue;
    const dot = draw("circle", { cx: place, cy: view.y(line.mean[at]), r: 4 });
    dot.style.fill = line.colour;
    view.cursor.append(dot);
    const mark = make("i");
    mark.style.background = line.colour;
    const spread = line.low[at] === null || line.low[at] === line.high[at] ? "" : ` (${exact(line.low[at])} to ${exact(line.high[at])})`;
    rows.push(make("div", {}, mark, make("span", {}, `${line.text}: ${exact(line.mean[at])}${spread}`)));
  }
  readout.replaceChildren(...rows);
  readout.hidden = false;
  const share = place / view.width;
  readout.style.top = "8px";
  readout.style.left = share < 0.5 ? `calc(${share * 100}% + 12px)` : "auto";
  readout.style.right = share < 0.5 ? "auto" : `calc(${(1 - share) * 100}% + 12px)`;
}
