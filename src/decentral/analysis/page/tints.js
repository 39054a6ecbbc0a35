// Colours of values: dark blue to yellow (cividis), which the colour-blind and a grey printer keep in order.

const TINTS = [[0, 32, 81], [26, 56, 111], [60, 77, 110], [88, 98, 112], [111, 119, 120], [138, 141, 120], [167, 164, 110], [200, 189, 91], [253, 234, 69]];

function tint(value, low, high) {
  const place = (high > low ? (value - low) / (high - low) : 0.5) * (TINTS.length - 1);
  const first = Math.min(Math.floor(place), TINTS.length - 2);
  const mixed = TINTS[first].map((part, at) => Math.round(part + (place - first) * (TINTS[first + 1][at] - part)));
  const light = (0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]) > 120;
  return { ground: `rgb(${mixed.join(" ")})`, ink: light ? "#000000" : "#ffffff" };
}
