"use strict";
// Draws films: `pictures.py` says what their words mean. A picture without tiles, or without an image, has those of the
// frame before it.

const films = JSON.parse(document.getElementById("films").textContent);
const last = Math.max(...films.map((film) => film.frames.length)) - 1;
const find = (id) => document.getElementById(id);
const safe = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const rounded = (number) => String(Number(number.toFixed(2)));
const signed = (number) => (number > 0 ? "+" : "") + rounded(number);
const tone = (number) => (number > 0 ? "good" : number < 0 ? "bad" : "");
const colour = (number) => (number === undefined || number < 0 ? "var(--neutral)" : `var(--c${number % COLOURS})`);

function drawTile({ x, y, width = 1, height = 1, kind = "plain", shade = 0, text = "" }) {
  const fill = { head: "none", blocked: "var(--blocked)" }[kind] || (shade < 0 ? "var(--bad)" : "var(--good)");
  const strength = kind === "head" || kind === "blocked" ? 1 : 0.08 + 0.42 * Math.abs(shade);
  const size = Math.min(0.34 * Math.min(1, height * 1.4), (1.5 * width) / Math.max(1, text.length));
  const frame = `x="${x + 0.05}" y="${y + 0.05}" width="${width - 0.1}" height="${height - 0.1}" rx="0.06"`;
  return (
    (kind === "head" ? "" : `<rect ${frame} fill="${fill}" fill-opacity="${strength}"/>`) +
    (kind === "chosen" ? `<rect ${frame} fill="none" stroke="var(--text)" stroke-width="0.07"/>` : "") +
    (text ? `<text x="${x + width / 2}" y="${y + height / 2}" font-size="${size}">${safe(text)}</text>` : "")
  );
}

function drawLine({ x, y, to_x, to_y, colour: own, arrow, kind = "plain" }, unit) {
  const length = Math.hypot(to_x - x, to_y - y) || 1;
  const [ahead, aside] = [(to_x - x) / length, (to_y - y) / length];
  if (kind !== "plain") {
    // a little to its left: two units that shoot at each other have two beams
    const [left, up] = [unit * aside, -unit * ahead];
    const look = kind === "shot" ? `stroke-width="${1.4 * unit}"` : `stroke-width="${0.5 * unit}" stroke-dasharray="${3 * unit}"`;
    const ends = `x1="${x + left}" y1="${y + up}" x2="${to_x + left}" y2="${to_y + up}"`;
    return `<line class="${kind}" ${ends} stroke="${colour(own)}" ${look}/>`;
  }
  const reach = arrow ? 2.6 * unit : 0;
  const [neck_x, neck_y] = [to_x - reach * ahead, to_y - reach * aside];
  const shaft = `<line x1="${x}" y1="${y}" x2="${neck_x}" y2="${neck_y}" stroke="${colour(own)}" stroke-width="${unit}"/>`;
  if (!arrow) return shaft;
  const wing = 1.6 * unit;
  const points = [
    [to_x, to_y],
    [neck_x - wing * aside, neck_y + wing * ahead],
    [neck_x + wing * aside, neck_y - wing * ahead],
  ];
  return `${shaft}<polygon points="${points.join(" ")}" fill="${colour(own)}"/>`;
}

function drawMark({ x, y, radius, colour: own, shape = "circle", label = "", bars = [], gone, frozen, hit }) {
  const fill = `fill="${colour(own)}"`;
  const corners = [[x, y - radius], [x + radius, y], [x, y + radius], [x - radius, y]];
  const body = {
    circle: `<circle cx="${x}" cy="${y}" r="${radius}" ${fill}/>`,
    ring: `<circle cx="${x}" cy="${y}" r="${radius}" fill="none" stroke="${colour(own)}" stroke-width="${radius / 12}"/>`,
    square: `<rect x="${x - radius}" y="${y - radius}" width="${2 * radius}" height="${2 * radius}" ${fill}/>`,
    diamond: `<polygon points="${corners.join(" ")}" ${fill}/>`,
  }[shape];
  const thick = radius / 4;
  const meters = bars.map((share, number) => {
    const top = y - radius - (bars.length - number) * (thick + radius / 10);
    const full = `x="${x - radius}" y="${top}" height="${thick}"`;
    const ink = number === 0 ? "var(--health)" : "var(--shield)";
    return (
      `<rect ${full} width="${2 * radius}" fill="var(--rule)"/>` +
      `<rect ${full} width="${2 * radius * Math.max(0, Math.min(1, share))}" fill="${ink}"/>`
    );
  });
  const name = label && `<text class="onmark" x="${x}" y="${y}" font-size="${1.1 * radius}">${safe(label)}</text>`;
  return `<g${gone ? ' opacity="0.25"' : ""}>${body}${name}${gone ? "" : meters.join("")}</g>${drawSigns(x, y, radius, gone, frozen, hit)}`;
}

// What befalls a mark: a cross if it is gone, a dashed ring if it is frozen, a ring and a number if it is hit.
function drawSigns(x, y, radius, gone, frozen, hit) {
  const ring = (far, ink, dash) =>
    `<circle class="sign" cx="${x}" cy="${y}" r="${far}" fill="none" stroke="${ink}" stroke-width="${radius / 6}" stroke-dasharray="${dash}"/>`;
  const cross = `M${x - radius},${y - radius}L${x + radius},${y + radius}M${x + radius},${y - radius}L${x - radius},${y + radius}`;
  return (
    (gone ? `<path class="gone" d="${cross}" stroke="var(--faint)" stroke-width="${radius / 6}"/>` : "") +
    (frozen ? ring(1.3 * radius, "var(--neutral)", radius / 2) : "") +
    (hit ? ring(1.5 * radius, "var(--bad)", "none") +
      `<text class="hit" x="${x}" y="${y + 2.2 * radius}" font-size="${1.1 * radius}">&minus;${Number(hit.toPrecision(3))}</text>` : "")
  );
}

// Of a small image every pixel is shown.
function drawImage(image, width, height) {
  const coarse = Math.max(width, height) < 160 ? ' class="coarse"' : "";
  return `<image${coarse} href="data:image/png;base64,${image}" width="${width}" height="${height}" preserveAspectRatio="none"/>`;
}

function drawPicture({ width, height, margin = 0, image, tiles = [], lines = [], marks = [], grid }) {
  const unit = Math.min(0.12, Math.max(width, height) / 60);
  const rule = (from, to) => `<path d="M${from}L${to}" stroke="var(--rule)" stroke-width="${Math.max(width, height) / 400}"/>`;
  const box = [-margin, -margin, width + 2 * margin, height + 2 * margin];
  const rules = [];
  const inner = margin > 0 ? 0 : 1; // without a margin the edge is the first line
  for (let x = inner; grid && x <= width - inner; x++) rules.push(rule([x, 0], [x, height]));
  for (let y = inner; grid && y <= height - inner; y++) rules.push(rule([0, y], [width, y]));
  return (
    `<svg viewBox="${box.join(" ")}" style="--ratio:${box[2] / box[3]}" role="img">` +
    `<rect x="${-margin}" y="${-margin}" width="${box[2]}" height="${box[3]}" fill="var(--field)"/>` +
    (image ? drawImage(image, width, height) : "") +
    tiles.map(drawTile).join("") + rules.join("") + lines.map((line) => drawLine(line, unit)).join("") +
    marks.map(drawMark).join("") + "</svg>"
  );
}

function tellValues(values, taken, names) {
  const known = values.filter((value) => value !== null);
  if (!known.length) return "";
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const rows = values.map((value, action) => {
    if (value === null) return "";
    const share = high > low ? 6 + (94 * (value - low)) / (high - low) : 100;
    const cells = `<td>${safe(names[action])}</td><td>${value.toFixed(2)}</td><td><i style="width:${share}%"></i></td>`;
    return `<tr${action === taken ? ' class="taken"' : ""}>${cells}</tr>`;
  });
  return `<table class="values">${rows.join("")}</table>`;
}

function tellTurn({ action, values = [], context, view, gone, reward }, number, film, picture) {
  const body = (picture.marks || []).find((mark) => mark.agent === number);
  const dot = body ? `<span class="dot" style="background:${colour(body.colour)}"></span>` : "";
  const left = gone || (body && body.gone);
  const did = left ? "gone" : action === null ? "" : `<b>${safe(film.action_names[number][action])}</b>`;
  const inferred = context === undefined ? "" : ` context <b>${context}</b>`;
  const seen = view ? `<figure class="view">${drawPicture(view)}<figcaption>what it sees</figcaption></figure>` : "";
  const earned = reward === undefined ? "" : ` reward <b class="${tone(reward)}">${signed(reward)}</b>`;
  const told = `<h2>${dot}${safe(film.agent_names[number])}</h2><p class="did">${did}${inferred}${earned}</p>`;
  const table = tellValues(values, action, film.action_names[number]);
  return `<div class="agent${left ? " gone" : ""}"><div class="told">${told}${table}</div>${seen}</div>`;
}

function show(film, place, step) {
  const frame = film.frames[Math.min(step, film.frames.length - 1)];
  const over = frame.reward === null;
  const earned = over ? "the end" : `reward <b class="${tone(frame.reward)}">${signed(frame.reward)}</b>`;
  const number = `step <b>${Math.min(step + 1, film.frames.length - 1)}</b> of ${film.frames.length - 1}`;
  place.querySelector(".now").innerHTML = `${number} &middot; ${earned} &middot; return <b>${rounded(frame.total)}</b>`;
  const field = place.querySelector(".field");
  field.className = `field ${frame.reward > 0 ? "earned" : frame.reward < 0 ? "lost" : ""}`;
  const texts = (frame.picture.texts || []).map((text) => `<p>${safe(text)}</p>`);
  field.innerHTML = drawPicture(frame.picture) + texts.join("");
  const turns = frame.turns.map((turn, agent) => tellTurn(turn, agent, film, frame.picture));
  place.querySelector(".agents").innerHTML = turns.join("");
}

function drawStrip(film) {
  const rewards = film.frames.map((frame) => frame.reward || 0);
  const most = Math.max(...rewards.map(Math.abs)) || 1;
  const wide = Math.min(0.8, last / 60);
  const bars = rewards.map((reward, step) => {
    const tall = (9 * Math.abs(reward)) / most;
    const ink = reward < 0 ? "var(--bad)" : "var(--good)";
    const top = reward < 0 ? 9 : 9 - tall;
    return `<rect x="${step - wide / 2}" y="${top}" width="${wide}" height="${tall}" fill="${ink}"/>`;
  });
  const axis = `<rect y="8.5" width="${last}" height="1" fill="var(--rule)"/>`;
  const frame = `class="strip" viewBox="0 0 ${last} 18" preserveAspectRatio="none"`;
  return `<svg ${frame} role="img" aria-label="rewards of ${safe(film.title)}">${axis}${bars.join("")}</svg>`;
}

// Images are decoded before they are shown, so that a film does not flicker.
const kept = [];
function keep(image) {
  const decoded = new Image();
  decoded.src = `data:image/png;base64,${image}`;
  kept.push(decoded);
}

const places = films.map((film) => {
  let [tiles, image] = [];
  for (const { picture } of film.frames) {
    tiles = picture.tiles = picture.tiles || tiles;
    if (picture.image === undefined) picture.image = image;
    else keep(picture.image);
    image = picture.image;
  }
  const place = document.createElement("section");
  place.className = films.length > 1 ? "film beside" : "film";
  place.innerHTML =
    `<h1>${safe(film.title)}</h1><p class="now" aria-live="off"></p>` +
    '<div class="stage"><div class="field"></div><div class="agents"></div></div>';
  document.querySelector("main").append(place);
  return place;
});

let now = 0;
let timer = null;

function go(step) {
  now = Math.max(0, Math.min(last, step));
  films.forEach((film, number) => show(film, places[number], now));
  find("slider").value = now;
}

function pause() {
  clearInterval(timer);
  timer = null;
  find("play").textContent = "play";
}

function play() {
  pause();
  if (now === last) go(0);
  timer = setInterval(() => (now === last ? pause() : go(now + 1)), 1000 / Number(find("speed").value));
  find("play").textContent = "pause";
}

function step(to) {
  pause();
  go(to);
}

function hurry(by) {
  const speed = find("speed");
  speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by));
  if (timer) play();
}

const keys = {
  " ": () => (timer ? pause() : play()),
  ArrowLeft: () => step(now - 1),
  ArrowRight: () => step(now + 1),
  ArrowUp: () => hurry(1),
  ArrowDown: () => hurry(-1),
  Home: () => step(0),
  End: () => step(last),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.tagName === "SELECT" || (event.key === " " && event.target.tagName === "BUTTON");
  if (typing || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
find("play").onclick = keys[" "];
find("start").onclick = keys.Home;
find("back").onclick = keys.ArrowLeft;
find("forward").onclick = keys.ArrowRight;
find("end").onclick = keys.End;
find("speed").onchange = () => timer && play();
find("slider").max = last;
find("slider").oninput = (event) => step(Number(event.target.value));
find("strips").innerHTML = films.map(drawStrip).join("");
go(Number(location.hash.slice(1)) || 0);
