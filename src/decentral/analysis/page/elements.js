// Making elements, of HTML and of SVG.

function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// The look of one of several runs: seven colours, then the same with other dashes.
function colourOf(number) {
  return `var(--c${number % 7})`;
}

function dashOf(number) {
  return [null, "8 4", "3 3", "10 3 2 3"][number % 4];
}

function swatch(colour, dash) {
  const line = { x1: 0, y1: 6, x2: 26, y2: 6, "stroke-width": 3, "stroke-dasharray": dash };
  const stroke = draw("line", line);
  stroke.style.stroke = colour;
  return draw("svg", { width: 26, height: 12, "aria-hidden": "true" }, stroke);
}

// A name of the data, such as win_rate, as it is read.
function inWords(name) {
  return name.replaceAll("_", " ");
}
