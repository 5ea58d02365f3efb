// The graph is in the page as JSON.
const graph = JSON.parse(document.getElementById('graph').textContent);
const timeText = seconds => seconds >= 1e-3 ? (seconds * 1e3).toFixed(2) + ' ms' : (seconds * 1e6).toFixed(2) + ' µs';
const count = (number, what) => number + ' ' + what + (number === 1 ? '' : 's');
const valueText = id => id < 0 ? 'None' : '%' + id + ': ' + graph.values[id].text;
const isTimed = graph.calls.some(call => call.seconds !== undefined);

// What has a box: inputs, calls and ends, numbered as links refer to them.
const items = [
  ...graph.inputs.map(input => ({...input, in: [], out: [input.value], title: input.name || '%' + input.value,
                                 what: graph.values[input.value].text})),
  ...graph.calls.map(call => ({...call, isCall: true, title: call.op.replace(/^keyway::/, ''),
                               what: call.out.length ? graph.values[call.out[0]].text + (call.out.length > 1 ? ' +' + (call.out.length - 1) : '')
                                                     : 'writes ' + call.written.map(id => '%' + id).join(', ')})),
  ...graph.ends.map(end => ({...end, in: [end.value], out: [], kind: 'end', title: end.name, what: valueText(end.value)})),
];
items.forEach((item, number) => Object.assign(item, {number, ups: [], downs: [], wires: []}));
const links = graph.links.map(([from, to, value, memory]) => ({from: items[from], to: items[to], value, memory}));
for (const link of links) {
  link.from.downs.push(link);
  link.to.ups.push(link);
}

// --- Layout: layers from the top down, an order within each, then places.

const layered = () => {
  for (const item of items) item.layer = item.ups.reduce((layer, link) => Math.max(layer, link.from.layer + 1), 0);
  // What begins a path stands right above what uses it first.
  for (const item of [...items].reverse()) {
    if (item.downs.length && item.ups.every(link => !link.from.isCall))
      item.layer = Math.max(item.layer, Math.min(...item.downs.map(link => link.to.layer)) - 1);
  }
  for (const item of items) {
    if (item.ups.length === 0 && item.downs.length) item.layer = Math.min(...item.downs.map(link => link.to.layer)) - 1;
  }
  const first = Math.min(...items.map(item => item.layer), 0);
  const layers = [];
  for (const item of items) (layers[item.layer -= first] ??= []).push(item);
  return Array.from(layers, layer => layer ?? []);
};

// A link over a few layers goes through a point in each; a longer one is drawn beneath everything.
const kRouted = 6;
const addPoints = layers => {
  for (const link of links) {
    const span = link.to.layer - link.from.layer;
    link.points = [];
    if (span > kRouted) continue;
    for (let layer = link.from.layer + 1, above = link.from; layer <= link.to.layer; ++layer) {
      const below = layer === link.to.layer ? link.to : {layer, width: 6, near: [[], []], point: true};
      if (below.point) {
        layers[layer].push(below);
        link.points.push(below);
      }
      above.near[1].push(below);
      below.near[0].push(above);
      above = below;
    }
  }
};

// By the mean place of neighbours above, then below, several times.
const order = layers => {
  const number = layer => layer.forEach((item, i) => item.rank = i - layer.length / 2);
  layers.forEach(number);
  for (let sweep = 0; sweep < 12; ++sweep) {
    const side = sweep % 2;
    for (const layer of side ? [...layers].reverse() : layers) {
      for (const item of layer) {
        const near = item.near[side];
        item.wish = near.length ? near.reduce((sum, other) => sum + other.rank, 0) / near.length : item.rank;
      }
      layer.sort((a, b) => a.wish - b.wish);
      number(layer);
    }
  }
};

// The places that are closest to the wishes while neighbours keep their distance: those that would overlap move as one.
const spread = layer => {
  const blocks = [];
  for (const item of layer) {
    let block = {items: [item], sum: item.wish - item.width / 2, width: item.width + 22};
    for (let last = blocks.at(-1); last && last.sum / last.items.length + last.width > block.sum / block.items.length; last = blocks.at(-1)) {
      block = {items: last.items.concat(block.items), sum: last.sum + block.sum - block.items.length * last.width, width: last.width + block.width};
      blocks.pop();
    }
    blocks.push(block);
  }
  for (const block of blocks) {
    let left = block.sum / block.items.length;
    for (const item of block.items) {
      item.x = left + item.width / 2;
      left += item.width + 22;
    }
  }
};

const kHeight = 40;
const place = layers => {
  for (const layer of layers) {
    layer.forEach((item, i) => item.wish = i * 60 - layer.length * 30);
    spread(layer);
  }
  for (let sweep = 0; sweep < 14; ++sweep) {
    const side = sweep % 2;
    for (const layer of side ? [...layers].reverse() : layers) {
      for (const item of layer) {
        const near = item.near[side].length ? item.near[side] : item.near[1 - side];
        item.wish = near.length ? near.reduce((sum, other) => sum + other.x, 0) / near.length : item.x;
      }
      spread(layer);
    }
  }
  let y = 0;
  for (const layer of layers) {
    for (const item of layer) item.y = y;
    y += kHeight + 26 + Math.min(60, layer.length * 3);
  }
};

const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
for (const item of items) {
  item.shown = [cut(item.title, 34), cut(item.what, 44) + (item.seconds !== undefined ? ' · ' + timeText(item.seconds) : '')];
  item.width = Math.max(item.shown[0].length * 7.3, item.shown[1].length * 6.4, 40) + (item.isCall ? 22 : 36);
  item.near = [[], []];
}
const layers = layered();
addPoints(layers);
order(layers);
place(layers);

// --- The drawing.

const svg = $('svg');
const scene = $('#scene');
// Bands of some layers, of which only those in sight are drawn; links that are longer than a band are in none.
const kBand = 12;
const bands = Array.from({length: Math.ceil(layers.length / kBand)}, (_, i) => {
  const ys = layers.slice(i * kBand, (i + 1) * kBand).flat().map(item => item.y);
  return {top: Math.min(...ys), bottom: Math.max(...ys), wires: draw('g'), boxes: draw('g')};
});
const longWires = draw('g', {class: links.length > 4000 ? 'many' : ''});
for (const link of links) {
  const ends = [[link.from.x, link.from.y + kHeight], ...link.points.map(point => [point.x, point.y + kHeight / 2]), [link.to.x, link.to.y - 3]];
  let path = 'M' + ends[0];
  for (let i = 1; i < ends.length; ++i) {
    const [x0, y0] = ends[i - 1], [x1, y1] = ends[i], bend = Math.min((y1 - y0) / 2, 90);
    path += `C${[x0, y0 + bend, x1, y1 - bend, x1, y1].map(Math.round)}`;
  }
  const isLong = link.to.layer - link.from.layer > kRouted;
  link.wire = draw('path', {class: 'wire' + (link.memory ? ' memory' : '') + (isLong ? ' long' : ''), d: path},
                   draw('title', {}, valueText(link.value)));
  (isLong ? longWires : bands[Math.floor(link.from.layer / kBand)].wires).append(link.wire);
}
for (const item of items) {
  const {width, shown} = item;
  item.box = draw('g', {class: 'item ' + item.kind, transform: `translate(${item.x - width / 2} ${item.y})`},
    draw('rect', {class: 'box', width, height: kHeight, rx: item.isCall ? 7 : 20}),
    draw('rect', {class: 'heat', width, height: kHeight, rx: item.isCall ? 7 : 20}),
    draw('rect', {class: 'mark', x: item.isCall ? 0 : 8, y: item.isCall ? 8 : 16, width: item.isCall ? 4 : 8, height: item.isCall ? kHeight - 16 : 8, rx: item.isCall ? 2 : 4}),
    draw('text', {x: item.isCall ? 12 : 22, y: 17}, shown[0]),
    draw('text', {x: item.isCall ? 12 : 22, y: 32, class: 'what'}, shown[1]),
    draw('title', {}, item.title + '\n' + item.what + (item.site ? '\n' + item.site : '')));
  item.box.item = item;
  bands[Math.floor(item.layer / kBand)].boxes.append(item.box);
}
scene.append(longWires, ...bands.map(band => band.wires), ...bands.map(band => band.boxes));

// --- Moving and zooming.

const kLeast = 0.002;
const view = {x: 0, y: 0, scale: 1};
const show = () => {
  scene.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
  svg.classList.toggle('far', view.scale < 0.3);
  const margin = 1000;  // how far a wire may reach below its band
  const top = -view.y / view.scale - margin, end = (svg.clientHeight - view.y) / view.scale + margin;
  for (const band of bands) band.wires.style.display = band.boxes.style.display = band.bottom < top || band.top > end ? 'none' : '';
};
const zoom = (factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) => {
  const scale = Math.min(4, Math.max(kLeast, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  show();
};
const center = (x, y) => {
  view.x = svg.clientWidth / 2 - x * view.scale;
  view.y = svg.clientHeight / 2 - y * view.scale;
  show();
};
const left = Math.min(...items.map(item => item.x - item.width / 2), 0), right = Math.max(...items.map(item => item.x + item.width / 2), 0);
const bottom = Math.max(...items.map(item => item.y), 0) + kHeight;
const fit = least => {
  view.scale = Math.max(least, Math.min(1.3, (svg.clientWidth - 40) / (right - left), (svg.clientHeight - 40) / bottom));
  center((left + right) / 2, bottom / 2);
  view.y = Math.max(view.y, 20);
  if (bottom * view.scale > svg.clientHeight) {  // it begins at the first thing
    center(items.reduce((first, item) => item.y < first.y ? item : first, {y: Infinity, x: 0}).x, 0);
    view.y = 20;
  }
  show();
};

let grip = null;
svg.addEventListener('wheel', event => {
  event.preventDefault();
  const box = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
}, {passive: false});
svg.addEventListener('pointerdown', event => grip = {x: event.clientX, y: event.clientY, moved: false});
window.addEventListener('pointermove', event => {
  if (!grip) return;
  const [x, y] = [event.clientX - grip.x, event.clientY - grip.y];
  if (!grip.moved && Math.hypot(x, y) < 4) return;
  Object.assign(grip, {x: event.clientX, y: event.clientY, moved: true});
  svg.classList.add('moving');
  view.x += x;
  view.y += y;
  show();
});
window.addEventListener('pointerup', event => {
  if (grip && !grip.moved) choose(event.target.closest?.('.item')?.item ?? null);
  grip = null;
  svg.classList.remove('moving');
});

// --- What is chosen: a call, or a value with all that uses it.

const light = (chosen, lit) => {
  for (const element of svg.querySelectorAll('.lit')) element.classList.remove('lit', 'before');
  for (const element of svg.querySelectorAll('.chosen')) element.classList.remove('chosen');
  svg.classList.toggle('choosing', chosen !== null);
  if (!chosen) return;
  chosen.box.classList.add('chosen', 'lit');
  for (const link of lit) {
    const isBefore = link.to === chosen;
    link.wire.classList.add('lit');
    link.wire.parentNode.append(link.wire);  // above the others
    const other = isBefore ? link.from : link.to;
    other.box.classList.add('lit');
    for (const element of [link.wire, other.box]) element.classList.toggle('before', isBefore);
  }
};
const choose = (item, move = false) => {
  light(item, item ? [...item.ups, ...item.downs] : []);
  describe(item);
  if (item && move) center(item.x, item.y + kHeight / 2);
};
const chooseValue = (item, id) => {
  light(item, item.downs.filter(link => link.value === id));
};

const go = (item, text, more) => {
  const button = make('button', {className: 'go item ' + item.kind, onclick: () => choose(item, true)}, text);
  if (more) button.append(make('small', {}, more));
  return button;
};
const rows = (list, pairs) => {
  for (const [name, text] of pairs) if (text !== undefined && text !== '') list.append(make('dt', {}, name), make('dd', {}, text));
  return list;
};
const usersOf = (item, id) => {
  const users = item.downs.filter(link => link.value === id);
  const value = graph.values[id];
  const button = make('button', {className: 'go', onclick: () => chooseValue(item, id), title: 'show what uses it'}, valueText(id));
  button.append(make('small', {}, [bytesText(value.bytes), value.memory !== undefined ? 'in the memory of %' + value.memory : '',
                                  users.length ? 'used by ' + count(users.length, 'call') : 'not used'].filter(Boolean).join(' · ')));
  return button;
};
const linked = (title, list, end) => {
  if (!list.length) return [];
  return [make('h3', {}, title), ...list.map(link => go(link[end], link[end].title, valueText(link.value) + (link.memory ? ' · through its memory' : '')))];
};

const describe = item => {
  const panel = $('aside');
  panel.replaceChildren();
  panel.scrollTop = 0;
  if (!item) return panel.append(...summary());
  panel.append(make('h2', {}, item.isCall ? item.op : item.title));
  if (item.doc) panel.append(make('p', {}, item.doc));
  panel.append(rows(make('dl', {}), [
    ['kind', {write: 'writes to its arguments', view: 'a view: no element moves', other: 'computes', end: 'leaves the graph', input: 'argument'}[item.kind] ?? item.kind],
    ['made at', item.site], ['time', item.seconds !== undefined ? timeText(item.seconds) : ''],
    ['moved', item.isCall ? bytesText(item.bytes) : ''],
    ['rate', item.seconds && item.bytes ? (item.bytes / item.seconds / 1e9).toFixed(2) + ' GB/s' : '']]));
  if (item.arguments?.length) panel.append(make('h3', {}, 'Arguments'), rows(make('dl', {}), item.arguments));
  if (item.written?.length) panel.append(make('h3', {}, 'Written to'), ...item.written.map(id => make('p', {}, valueText(id))));
  if (item.out.length) panel.append(make('h3', {}, item.isCall ? 'Results' : 'Value'), ...item.out.filter(id => id >= 0).map(id => usersOf(item, id)));
  panel.append(...linked('From', item.ups, 'from'), ...linked('Used by', item.downs, 'to'));
};

const summary = () => {
  const kinds = new Map();
  for (const call of graph.calls) {
    const kind = kinds.get(call.op) ?? {op: call.op, calls: 0, bytes: 0, seconds: 0};
    kinds.set(call.op, Object.assign(kind, {calls: kind.calls + 1, bytes: kind.bytes + call.bytes, seconds: kind.seconds + (call.seconds ?? 0)}));
  }
  const list = [...kinds.values()].sort((a, b) => b.seconds - a.seconds || b.bytes - a.bytes || b.calls - a.calls);
  const cells = (name, row) => make('tr', {}, ...row.map(text => make(name, {}, text)));
  const table = make('table', {}, cells('th', ['operator', 'calls', 'bytes', ...(isTimed ? ['time'] : [])]));
  for (const {op, calls, bytes, seconds} of list) {
    const row = cells('td', [op.replace(/^keyway::/, ''), String(calls), bytesText(bytes), ...(isTimed ? [timeText(seconds)] : [])]);
    const find = () => search($('input').value = op);
    table.append(Object.assign(row, {tabIndex: 0, onclick: find, onkeydown: event => event.key === 'Enter' && find()}));
  }
  const keys = [['other', 'computes'], ['pointwise', 'pointwise'], ['view', 'view'], ['write', 'writes in place'], ['input', 'argument'], ['state', 'state'], ['end', 'result']];
  return [make('h2', {}, 'All calls'), make('p', {}, 'Click a box, or a line of the table. Drag to move, turn the wheel to zoom; / searches, 0 shows all, Escape lets go.'),
          make('h3', {}, 'Colours'), make('div', {}, ...keys.map(([kind, text]) => make('span', {className: 'key ' + kind}, text)),
          make('p', {}, 'A dashed line: through the memory of a value, which another call wrote to.')),
          make('h3', {}, 'Operators'), table];
};

// --- Searching, and the rest of the head.

let hits = [], hit = -1;
const search = text => {
  const wanted = text.trim().toLowerCase();
  for (const item of hits) item.box.classList.remove('hit');
  hits = wanted === '' ? [] : items.filter(item => (item.title + '\n' + (item.op ?? '') + '\n' + (item.site ?? '') + '\n' +
      [...item.out, ...(item.isCall ? [] : item.in)].map(valueText).join('\n')).toLowerCase().includes(wanted));
  for (const item of hits) item.box.classList.add('hit');
  hit = -1;
  $('#found').textContent = wanted === '' ? '' : hits.length + ' found';
  if (hits.length) next(1);
};
const next = step => {
  if (!hits.length) return;
  hit = (hit + step + hits.length) % hits.length;
  $('#found').textContent = hit + 1 + ' of ' + hits.length;
  if (view.scale < 0.3) view.scale = 0.75;
  choose(hits[hit], true);
};
const paint = what => {
  const most = Math.max(...graph.calls.map(call => call[what] ?? 0), 0);
  for (const item of items) item.box.style.setProperty('--heat', most && item[what] ? (0.5 * (item[what] / most) ** 0.5).toFixed(3) : 0);
};

$('input').addEventListener('input', event => search(event.target.value));
$('input').addEventListener('keydown', event => {
  if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
  if (event.key === 'Escape') event.target.blur();
  event.stopPropagation();
});
window.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('select')) return;
  const act = {'/': () => $('input').focus(), '0': () => fit(kLeast), '+': () => zoom(1.25), '-': () => zoom(0.8),
               Escape: () => { search($('input').value = ''); choose(null); }}[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
$('#all').onclick = () => fit(kLeast);
$('#in').onclick = () => zoom(1.25);
$('#out').onclick = () => zoom(0.8);
$('select').addEventListener('change', event => paint(event.target.value));
if (isTimed) $('select').append(make('option', {value: 'seconds', selected: true}, 'shaded by time'));
const total = key => graph.calls.reduce((sum, call) => sum + (call[key] ?? 0), 0);
$('header p').textContent = [count(graph.calls.length, 'call'), count(graph.inputs.length, 'input'), bytesText(total('bytes')) + ' moved',
  isTimed ? timeText(total('seconds')) + ' call by call' : '', graph.plan !== undefined ? timeText(graph.plan) + ' as a plan' : ''].filter(Boolean).join(' · ');
paint($('select').value);
choose(null);
fit(0.75);
