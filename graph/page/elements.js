'use strict';
// What pages are drawn with: this one, and that of keyway.profiler. Texts become text nodes, never markup.
const $ = selector => document.querySelector(selector);
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const draw = (name, attributes, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  element.append(...children);
  return element;
};

const bytesText = bytes => {
  const unit = bytes >= 1e9 ? 3 : bytes >= 1e6 ? 2 : bytes >= 1e3 ? 1 : 0;
  return (bytes / 10 ** (3 * unit)).toFixed(unit && bytes / 10 ** (3 * unit) < 100 ? 1 : 0) + ' ' + ['B', 'kB', 'MB', 'GB'][unit];
};
