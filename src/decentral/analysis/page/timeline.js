// One greedy episode: rewards, and below them each agent's actions and contexts, step by step.

const WIDTH = 1080;
const GUTTER = 110;
const LETTER = 7; // the width of one
const LONGEST_NAME = 11; // of an agent, before the row of its actions

function timeline(episode) {
  const count = episode.rewards.length;
  const step = (WIDTH - GUTTER) / count;
  const parts = rewardBars(episode.rewards, step);
  const legends = [];
  let top = 84;
  episode.agents.forEach((agent) => {
    const name = agent.name.length > LONGEST_NAME ? `${agent.name.slice(0, LONGEST_NAME - 1)}…` : agent.name;
    parts.push(draw("text", { x: 0, y: top + 13 }, draw("title", {}, agent.name), `${name} does`));
    const texts = actionTexts(agent, step);
    parts.push(...row(texts, step, top, null, agent.action_names));
    if (texts === agent.actions && agent.legend.length) legends.push(make("p", { class: "quiet" }, legend(agent)));
    top += 22;
    if (agent.contexts) {
      parts.push(draw("text", { x: 0, y: top + 13 }, "infers context"));
      parts.push(...row(agent.contexts, step, top, colours(agent.contexts)));
      top += 30;
    }
  });
  for (let mark = 0; mark < count; mark += count > 60 ? 10 : 5) {
    parts.push(draw("text", { x: GUTTER + mark * step + step / 2, y: top + 12, "text-anchor": "middle" }, String(mark)));
  }
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${top + 18}`, class: "track", role: "img", "aria-label": "one greedy episode" }, ...parts);
  const images = episode.images ? [filmed(episode.images, episode.image_steps, count)] : [];
  return make("div", {}, ...images, make("figure", { class: "wide", tabindex: 0 }, picture), ...legends, make("p", { class: "quiet" }, episode.meaning));
}

// The environment's own images, one at a time.
function filmed(images, steps, count) {
  const source = (at) => `data:image/png;base64,${images[at]}`;
  const said = (at) => (steps[at] === count ? "the end" : `step ${steps[at]}`);
  const picture = make("img", { src: source(0), alt: "the environment" });
  const words = make("figcaption", {}, said(0));
  const show = (event) => {
    picture.src = source(Number(event.target.value));
    words.textContent = said(Number(event.target.value));
  };
  const slider = make("input", { type: "range", min: 0, max: images.length - 1, value: 0, step: 1, "aria-label": "step of the episode", oninput: show });
  return make("figure", { class: "filmed" }, picture, slider, words);
}

// The names of the actions where a step has room for all of them, else the environment's numbers, with a legend.
function actionTexts(agent, step) {
  const longest = Math.max(...agent.action_names.map((name) => (name === null ? 0 : name.length)));
  return longest * LETTER <= step || longest === 1 ? agent.action_names : agent.actions;
}

// What the numbers of the actions that were taken mean.
function legend(agent) {
  return `${agent.name} does ${agent.legend.map(([number, name]) => `${number}: ${name}`).join(", ")}`;
}

function rewardBars(rewards, step) {
  const largest = Math.max(...rewards.map(Math.abs)) || 1;
  const bars = rewards.map((reward, at) => {
    const size = (Math.abs(reward) / largest) * 32;
    const bar = draw("rect", { x: GUTTER + at * step + step * 0.15, width: step * 0.7, y: reward > 0 ? 38 - size : 38, height: size }, draw("title", {}, `step ${at}: reward ${exact(reward)}`));
    bar.style.fill = reward > 0 ? "var(--c0)" : "var(--c1)";
    return bar;
  });
  const base = draw("line", { class: "axis", x1: GUTTER, x2: WIDTH, y1: 38, y2: 38 });
  return [draw("text", { x: 0, y: 42 }, `reward, up to ${exact(largest)}`), base, ...bars];
}

// The seven contexts that occur most have a colour each; the number tells the others.
function colours(contexts) {
  const counts = new Map();
  for (const context of contexts) if (context !== null) counts.set(context, (counts.get(context) || 0) + 1);
  const order = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  return new Map(order.slice(0, 7).map((context, rank) => [context, colourOf(rank)]));
}

function row(values, step, top, palette, titles) {
  return values.flatMap((value, at) => {
    if (value === null) return [];
    const x = GUTTER + at * step;
    const text = draw("text", { x: x + step / 2, y: top + 13, "text-anchor": "middle", class: "strong" }, String(value));
    text.style.fontSize = `${Math.min(12, step * 1.1)}px`;
    if (!palette) {
      text.append(draw("title", {}, `step ${at}: ${titles[at]}`));
      return [text];
    }
    const square = draw("rect", { x, y: top, width: step, height: 18 }, draw("title", {}, `step ${at}: context ${value}`));
    square.style.fill = palette.get(value) || "var(--line)";
    if (palette.has(value)) text.style.fill = "var(--ground)";
    return [square, text];
  });
}
