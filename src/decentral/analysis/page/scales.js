// Axes: from numbers to places, round marks, and how numbers are written.

// Of any number of values: Math.min and Math.max take only so many arguments.
function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function linear(low, high, start, end) {
  if (low === high) [low, high] = [low - 1, high + 1];
  const at = (value) => start + ((value - low) / (high - low)) * (end - start);
  return Object.assign(at, { low, high, marks: roundMarks(low, high) });
}

function decades(low, high, start, end) {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(Math.ceil(Math.log10(high)), first + 1);
  const at = (value) => start + ((Math.log10(Math.max(value, 10 ** first)) - first) / (last - first)) * (end - start);
  const stride = Math.ceil((last - first) / 5);
  const marks = [];
  for (let power = first; power <= last; power += stride) marks.push(10 ** power);
  return Object.assign(at, { low: 10 ** first, high: 10 ** last, marks });
}

function roundMarks(low, high, count = 5) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stride = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= rough);
  const marks = [];
  for (let number = Math.ceil(low / stride); number * stride <= high + stride * 1e-6; number++) {
    marks.push(Number((number * stride).toPrecision(12)));
  }
  return marks;
}

function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  if (size > 0 && size < 1e-3) return value.toExponential(0);
  return String(Number(value.toPrecision(3)));
}

function exact(value) {
  if (value === null || value === undefined) return "none";
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(2);
  return Math.abs(value) >= 1000 ? value.toFixed(1) : value.toFixed(2);
}

function twoDigits(value) {
  return value.toFixed(2).replace(/^-0.00$/, "0.00");
}

function whole(value) {
  return Math.round(value).toLocaleString("en");
}

function duration(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours}:${String(minutes).padStart(2, "0")}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
