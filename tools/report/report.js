// Draws the page of tools/report from its data (gather.h). Texts of runs are shown as texts:
// nothing here sets innerHTML.
'use strict';

const COLORS = ['#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#17becf', '#e377c2'];
const NUM_SHOWN = 24, MAX_MATRIX = 30, MAX_CURVES = 10;
const THROUGHPUT = new Set(['global_step/sec', 'examples/sec']);
const RATE = new Set(['lr', 'learning_rate']);
const state = {axis: 'step', charts: []};

// An element with properties and children; a string is a text.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) element[name] = value;
  element.append(...children);
  return element;
}

function number(value) {
  if (typeof value !== 'number') return value == null ? '' : String(value);
  return Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString();
}

function table(head, rows) {
  const row = (cells, tag) => {
    const tr = make('tr', {}, ...cells.map((cell) =>
        cell instanceof Node && cell.tagName === 'TD' ? cell : make(tag, {}, number(cell))));
    if (cells.className) tr.className = cells.className;
    return tr;
  };
  return make('div', {className: 'scroll'},
      make('table', {}, make('thead', {}, row(head, 'th')),
           make('tbody', {}, ...rows.map((cells) => row(cells, 'td')))));
}

const list = (value) => Array.isArray(value) ? value : [];
const isFiniteNumber = (value) => typeof value === 'number' && Number.isFinite(value);

// A chart of lines: [{label, points: [{x, y}], color, dashed}].
function chart(parent, title, lines, options) {
  const canvas = make('canvas', {ariaLabel: title});
  parent.append(make('div', {className: 'chart'}, canvas));
  const settings = Object.assign({x: '', y: '', min: undefined, max: undefined}, options);
  state.charts.push(new Chart(canvas, {
    type: 'scatter',
    data: {datasets: lines.map((line) => ({
      label: line.label, data: line.points, showLine: true, borderColor: line.color,
      backgroundColor: line.color, borderWidth: 1.6, pointRadius: line.points.length < 30 ? 2 : 0,
      borderDash: line.dashed ? [6, 4] : [],
    }))},
    options: {
      animation: false, maintainAspectRatio: false, interaction: {mode: 'nearest', intersect: false},
      plugins: {title: {display: true, text: title}, legend: {labels: {boxWidth: 18}}},
      scales: {
        x: {title: {display: true, text: settings.x}, min: settings.min, max: settings.max},
        y: {title: {display: !!settings.y, text: settings.y}, min: settings.min, max: settings.max},
      },
    },
  }));
}

// The curves of a run: [{name, kind: 'training' or 'validation', points: [{step, epoch, time, y}]}].
function curvesOf(run) {
  const history = list(run.history), scalars = list(run.scalars);
  const starts = list(run.starts);
  const last = starts[starts.length - 1] || {};
  const marks = [[0, 0], ...history.map((record) => [record.step, record.epoch + 1])];
  const epochOf = (step) => {
    if (marks.length > 1) {
      let i = 1;
      while (i + 1 < marks.length && marks[i][0] < step) ++i;
      const [[from, first], [to, second]] = [marks[i - 1], marks[i]];
      return to > from ? first + (second - first) * (step - from) / (to - from) : second;
    }
    return last.steps_per_epoch > 0 ? step / last.steps_per_epoch : null;
  };
  const found = new Map();
  const line = (name, kind, fromEvents) => {
    const key = JSON.stringify([name, kind]);
    if (!found.has(key)) found.set(key, {name, kind, fromEvents, points: []});
    return found.get(key);
  };
  const begin = Math.min(...scalars.flatMap((scalar) => list(scalar.points).map((point) => point[1])));
  for (const scalar of scalars) {
    const validation = scalar.folder !== '';
    const other = validation && scalar.folder !== 'eval' ? ' (' + scalar.folder + ')' : '';
    const to = line(scalar.tag + other, validation ? 'validation' : 'training', true);
    for (const [step, time, y] of list(scalar.points)) {
      to.points.push({step, time: (time - begin) / 60, epoch: epochOf(step), y});
    }
  }
  let seconds = 0;
  for (const record of history) {
    seconds += record.seconds || 0;
    for (const [key, y] of Object.entries(record)) {
      if (['epoch', 'step', 'seconds'].includes(key)) continue;
      const validation = key.startsWith('val_');
      const to = line(validation ? key.slice(4) : key, validation ? 'validation' : 'training', false);
      if (to.fromEvents) continue;  // these have more points
      to.points.push({step: record.step, time: seconds / 60, epoch: record.epoch + 1, y});
    }
  }
  const curves = [...found.values()].filter((curve) => curve.points.length > 0);
  for (const curve of curves) curve.points.sort((a, b) => a.step - b.step);
  return curves;
}

function drawCurves(parent, runs, accepts) {
  const names = new Set();
  for (const run of runs) for (const curve of run.curves) if (accepts(curve.name)) names.add(curve.name);
  const box = make('div', {className: 'charts'});
  let hidden = 0;
  for (const name of [...names].sort()) {
    const lines = [];
    runs.forEach((run, i) => {
      for (const curve of run.curves) {
        if (curve.name !== name) continue;
        const points = curve.points.map((point) => ({x: point[state.axis], y: point.y}))
            .filter((point) => isFiniteNumber(point.x) && isFiniteNumber(point.y));
        if (points.length === 0) { ++hidden; continue; }
        const validation = curve.kind === 'validation';
        lines.push({label: (runs.length > 1 ? run.name + ': ' : '') + curve.kind, points, dashed: validation,
                    color: COLORS[(runs.length > 1 ? i : validation ? 1 : 0) % COLORS.length]});
      }
    });
    if (lines.length > 0) chart(box, name, lines, {x: state.axis === 'time' ? 'minutes' : state.axis});
  }
  parent.append(box);
  if (hidden > 0) {
    parent.append(make('p', {className: 'quiet'}, hidden + ' curves have no finite values by ' +
        state.axis + (state.axis === 'epoch' ? ': the run has not recorded the steps of an epoch' : '')));
  }
  return names.size;
}

// What a run spent, in seconds, over all its starts: {compute: 9.5, ..., all: 12}.
function secondsOf(run) {
  const seconds = {};
  for (const curve of run.curves) {
    if (!curve.name.startsWith('seconds/')) continue;
    let sum = 0, before = 0;
    for (const {y} of curve.points) {
      sum += y >= before ? y - before : y;  // a start begins at 0
      before = y;
    }
    seconds[curve.name.slice('seconds/'.length)] = sum;
  }
  return seconds;
}

function drawTime(parent, runs) {
  const parts = ['compute', 'input', 'checkpoint', 'evaluation', 'other'];
  const spent = runs.map((run) => {
    const seconds = secondsOf(run);
    seconds.other = Math.max(0, (seconds.all || 0) - parts.slice(0, 4).reduce((sum, part) => sum + (seconds[part] || 0), 0));
    return seconds;
  });
  if (!spent.some((seconds) => seconds.all > 0)) return missing(parent, 'share of time');
  const canvas = make('canvas', {ariaLabel: 'where the time went'});
  parent.append(make('div', {className: 'chart', style: 'height: ' + (90 + 40 * runs.length) + 'px'}, canvas));
  state.charts.push(new Chart(canvas, {
    type: 'bar',
    data: {labels: runs.map((run) => run.name),
           datasets: parts.map((part, i) => ({label: part, data: spent.map((s) => s[part] || 0), backgroundColor: COLORS[i]}))},
    options: {indexAxis: 'y', animation: false, maintainAspectRatio: false,
              scales: {x: {stacked: true, title: {display: true, text: 'seconds'}}, y: {stacked: true}}},
  }));
  parent.append(table(['run', ...parts, 'all'], runs.map((run, i) =>
      [run.name, ...[...parts, 'all'].map((part) => (spent[i][part] || 0).toFixed(1) + ' s')])));
}

function missing(parent, what) {
  parent.append(make('p', {className: 'quiet'}, 'No run here has recorded a ' + what + '; the notes above say how.'));
}

function drawHyperparameters(parent, runs) {
  const flagsOf = (run, key) => {
    const starts = list(run.starts);
    const flags = starts.length > 0 ? starts[starts.length - 1][key] : null;
    return flags && typeof flags === 'object' ? flags : {};
  };
  if (!runs.some((run) => list(run.starts).length > 0)) return missing(parent, 'hyperparameter');
  const all = runs.map((run) => Object.assign({}, flagsOf(run, 'defaults'), flagsOf(run, 'flags')));
  const rows = (names) => [...names].sort().map((name) => {
    const cells = [name, ...all.map((flags) => flags[name] === undefined ? '' : String(flags[name]))];
    if (new Set(cells.slice(1)).size > 1) cells.className = 'differs';
    return cells;
  });
  const given = new Set(runs.flatMap((run) => Object.keys(flagsOf(run, 'flags'))));
  const rest = new Set(all.flatMap((flags) => Object.keys(flags)).filter((name) => !given.has(name)));
  const head = ['flag', ...runs.map((run) => run.name)];
  parent.append(table(head, rows(given)),
                make('details', {}, make('summary', {}, rest.size + ' flags with their defaults'), table(head, rows(rest))));
}

function drawComparison(parent, runs) {
  const values = runs.map((run) => new Map(run.curves.filter((curve) => !curve.name.startsWith('seconds/'))
      .map((curve) => [(curve.kind === 'validation' ? 'validation ' : '') + curve.name, curve.points[curve.points.length - 1]])));
  const names = [...new Set(values.flatMap((map) => [...map.keys()]))].sort();
  const steps = (map) => Math.max(...[...map.values()].map((point) => point.step));
  const minutes = (map) => Math.max(...[...map.values()].map((point) => point.time));
  parent.append(table(['last value', ...runs.map((run) => run.name)], [
    ['step', ...values.map((map) => map.size ? steps(map) : '')],
    ['minutes', ...values.map((map) => map.size ? minutes(map) : '')],
    ...names.map((name) => [name, ...values.map((map) => map.has(name) ? map.get(name).y : '')])]));
}

// The curves of a ranking: scores with whether the example is positive.
// Source: scikit-learn roc_curve, average_precision_score.
function rankingCurves(ranked) {
  ranked.sort((a, b) => b.score - a.score);
  const positives = ranked.filter((one) => one.positive).length, negatives = ranked.length - positives;
  if (positives === 0 || negatives === 0) return null;
  const roc = [{x: 0, y: 0}], pr = [];
  const add = (points, x, y, always) => {
    const last = points[points.length - 1];
    if (always || !last || Math.abs(x - last.x) >= 0.005 || Math.abs(y - last.y) >= 0.005) points.push({x, y});
  };
  let tp = 0, fp = 0, auc = 0, ap = 0;
  for (let i = 0; i < ranked.length;) {
    const score = ranked[i].score, tpBefore = tp, fpBefore = fp;
    for (; i < ranked.length && ranked[i].score === score; ++i) ranked[i].positive ? ++tp : ++fp;
    auc += (fp - fpBefore) * (tp + tpBefore) / 2;
    ap += (tp - tpBefore) * tp / (tp + fp);
    if (pr.length === 0) pr.push({x: 0, y: tp / (tp + fp)});
    add(roc, fp / negatives, tp / positives, i === ranked.length);
    add(pr, tp / positives, tp / (tp + fp), i === ranked.length);
  }
  return {roc, pr, auc: auc / positives / negatives, ap: ap / positives};
}

// The examples of a run with what they are and what was predicted, or null.
function examplesOf(run) {
  const [head, ...rows] = list(run.examples);
  if (!head || !Array.isArray(head.classes)) return null;
  const multi = head.multi_label === true;
  const examples = [];
  let size = head.classes.length;
  rows.forEach((row, index) => {
    if (!Array.isArray(row.label)) return;
    const scores = Array.isArray(row.scores) ? row.scores : null;
    const says = scores && !multi ? scores.indexOf(Math.max(...scores)) : row.says;
    size = Math.max(size, scores ? scores.length : 0);
    examples.push({index, label: row.label, scores, says, title: String(row.title), ok: row.ok === 1, sure: row.sure, png: row.png});
  });
  const names = Array.from({length: size}, (_, i) => String(head.classes[i] === undefined ? i : head.classes[i]));
  return examples.length === 0 ? null : {multi, examples, names, checkpoint: String(head.checkpoint)};
}

// At most `most` of the classes, those with most errors.
function worstClasses(errors, most) {
  return errors.map((count, i) => [count, i]).sort((a, b) => b[0] - a[0]).slice(0, most)
      .map(([, i]) => i).sort((a, b) => a - b);
}

function drawMatrix(parent, of) {
  const {examples, names, multi} = of;
  const errors = names.map(() => 0), counts = new Map();
  const count = (key) => counts.set(key, (counts.get(key) || 0) + 1);
  for (const example of examples) {
    if (multi) {
      names.forEach((_, i) => {
        if (!example.scores) return;
        const wrong = example.label[i] !== (example.scores[i] > 0.5 ? 1 : 0);
        errors[i] += wrong ? 1 : 0;
        count(i + ' ' + (example.scores[i] > 0.5 ? 'says' : 'denies') + ' ' + wrong);
      });
    } else {
      count(example.label[0] + ' ' + example.says);
      if (example.label[0] !== example.says) { ++errors[example.label[0]]; ++errors[example.says]; }
    }
  }
  const shown = worstClasses(errors, MAX_MATRIX);
  const get = (key) => counts.get(key) || 0;
  if (multi) {
    parent.append(table(['class', 'true positives', 'false positives', 'false negatives', 'true negatives'], shown.map((i) =>
        [names[i], get(i + ' says false'), get(i + ' says true'), get(i + ' denies true'), get(i + ' denies false')])));
  } else {
    const most = Math.max(1, ...shown.flatMap((i) => shown.map((j) => get(i + ' ' + j))));
    parent.append(table(['label \\ predicted', ...shown.map((j) => names[j])], shown.map((i) => [names[i], ...shown.map((j) => {
      const value = get(i + ' ' + j), cell = make('td', {}, String(value));
      cell.style.background = `rgba(${i === j ? '44,160,44' : '214,39,40'},${0.75 * Math.sqrt(value / most)})`;
      return cell;
    })])));
  }
  if (shown.length < names.length) parent.append(make('p', {className: 'quiet'}, `The ${shown.length} of ${names.length} classes with most errors.`));
  return errors;
}

function drawRanking(parent, of, errors) {
  const scored = of.examples.filter((example) => example.scores);
  const lines = {roc: [], pr: []}, rows = [];
  for (const i of worstClasses(errors, MAX_CURVES)) {
    const curves = rankingCurves(scored.map((example) => ({
      score: isFiniteNumber(example.scores[i]) ? example.scores[i] : -1,
      positive: of.multi ? example.label[i] === 1 : example.label[0] === i})));
    if (!curves) continue;
    const color = COLORS[rows.length % COLORS.length];
    lines.roc.push({label: of.names[i], points: curves.roc, color});
    lines.pr.push({label: of.names[i], points: curves.pr, color});
    rows.push([of.names[i], curves.auc.toFixed(4), curves.ap.toFixed(4)]);
  }
  if (rows.length === 0) return missing(parent, 'score of positive and negative examples');
  const box = make('div', {className: 'charts'});
  parent.append(box, table(['class', 'area under the ROC', 'average precision'], rows));
  chart(box, 'ROC', lines.roc, {x: 'false positive rate', y: 'true positive rate', min: 0, max: 1});
  chart(box, 'precision and recall', lines.pr, {x: 'recall', y: 'precision', min: 0, max: 1});
  parent.append(make('p', {className: 'quiet'},
      (scored.length < of.examples.length ? `Of the ${scored.length} of ${of.examples.length} examples whose scores are in this page. ` : '') +
      (rows.length < of.names.length ? `The ${rows.length} of ${of.names.length} classes with most errors.` : '')));
}

function drawPictures(parent, of, examples) {
  parent.append(make('div', {className: 'pictures'}, ...examples.map((example) => {
    const image = make('img', {alt: 'example ' + example.index, loading: 'lazy'});
    image.src = 'data:image/png;base64,' + String(example.png).replace(/[^A-Za-z0-9+/=]/g, '');
    const best = list(example.scores).map((score, i) => [score, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    return make('figure', {}, image,
        make('div', {className: example.ok ? '' : 'wrong'}, example.title),
        make('div', {className: 'quiet'}, '#' + example.index + ' ' + best.map(([score, i]) => of.names[i] + ' ' + number(score)).join(', ')));
  })));
}

function drawExamples(parents, run, prefix) {
  const of = examplesOf(run);
  if (!of) return;
  const correct = of.examples.filter((example) => example.ok).length;
  const title = () => make('h3', {}, prefix + of.checkpoint + ': ' + correct + ' of ' + of.examples.length + ' examples are correct');
  parents.matrix.append(title());
  const errors = drawMatrix(parents.matrix, of);
  parents.ranking.append(title());
  drawRanking(parents.ranking, of, errors);
  const pictured = of.examples.filter((example) => example.png).sort((a, b) => a.sure - b.sure);
  parents.worst.append(title());
  drawPictures(parents.worst, of, pictured.slice(0, NUM_SHOWN));
  parents.best.append(title());
  drawPictures(parents.best, of, pictured.reverse().slice(0, NUM_SHOWN));
}

function drawWeights(parent, run, prefix) {
  const weights = run.weights;
  if (!weights || !Array.isArray(weights.variables)) return;
  const svg = (counts) => {
    const root = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    root.setAttribute('viewBox', `0 0 ${counts.length} 100`);
    root.setAttribute('preserveAspectRatio', 'none');
    const most = Math.max(1, ...counts);
    counts.forEach((count, i) => {
      const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      const height = 100 * count / most;
      for (const [name, value] of Object.entries({x: i, y: 100 - height, width: 1, height, fill: COLORS[0]})) bar.setAttribute(name, value);
      root.append(bar);
    });
    return root;
  };
  parent.append(make('h3', {}, prefix + weights.checkpoint), make('div', {className: 'weights'}, ...weights.variables.map((variable) =>
      make('div', {}, make('div', {}, variable.name + ' ' + variable.shape), svg(list(variable.counts)),
           make('div', {className: 'quiet'}, `${number(variable.min)} to ${number(variable.max)}, mean ${number(variable.mean)}, deviation ${number(variable.std)}`),
           ...(variable.not_finite > 0 ? [make('div', {className: 'wrong'}, variable.not_finite + ' numbers are not finite')] : [])))));
  if (weights.left_out > 0) parent.append(make('p', {className: 'quiet'}, weights.left_out + ' more variables are not shown.'));
}

function render(data) {
  for (const drawn of state.charts) drawn.destroy();
  state.charts = [];
  const root = document.getElementById('report'), runs = list(data.runs);
  root.replaceChildren();
  for (const run of runs) run.curves = curvesOf(run);
  document.title = 'Report: ' + runs.map((run) => run.name).join(', ');
  const nav = make('nav', {});
  root.append(make('h1', {}, document.title), nav);
  // A section that fails leaves the others as they are.
  const section = (id, title, draw) => {
    const box = make('section', {id}, make('h2', {}, title));
    root.append(box);
    nav.append(make('a', {href: '#' + id}, title));
    try {
      draw(box);
    } catch (error) {
      console.error(id, error);
      box.append(make('p', {className: 'problem'}, 'This part of the data cannot be shown: ' + error.message));
    }
    return box;
  };
  const nothing = () => {};
  section('runs', 'Runs', (box) => box.append(...runs.flatMap((run) => [
    make('h3', {}, run.name + ' ', make('span', {className: 'quiet'}, run.dir)),
    make('ul', {}, ...list(run.notes).map((note) => make('li', {className: 'quiet'}, note)))])));
  section('curves', 'Training and validation', (box) => {
    const choice = make('select', {id: 'axis'}, ...['step', 'epoch', 'time'].map((name) => make('option', {value: name, selected: name === state.axis}, name)));
    choice.addEventListener('change', () => { state.axis = choice.value; render(data); });
    box.append(make('label', {}, 'by ', choice));
    if (drawCurves(box, runs, (name) => !RATE.has(name) && !THROUGHPUT.has(name) && !name.startsWith('seconds/')) === 0) missing(box, 'curve');
  });
  section('rate', 'Learning rate', (box) => { if (drawCurves(box, runs, (name) => RATE.has(name)) === 0) missing(box, 'learning rate'); });
  section('throughput', 'Throughput', (box) => { if (drawCurves(box, runs, (name) => THROUGHPUT.has(name)) === 0) missing(box, 'throughput'); });
  section('time', 'Where the time went', (box) => drawTime(box, runs));
  section('hyperparameters', 'Hyperparameters', (box) => drawHyperparameters(box, runs));
  section('comparison', runs.length > 1 ? 'Comparison' : 'Last values', (box) => drawComparison(box, runs));
  const parents = {
    matrix: section('confusion-matrix', 'Confusion matrix', nothing), ranking: section('roc', 'ROC, precision and recall', nothing),
    worst: section('worst-examples', 'Worst examples', nothing), best: section('best-examples', 'Best examples', nothing)};
  for (const run of runs) {
    try {
      drawExamples(parents, run, runs.length > 1 ? run.name + ', ' : '');
    } catch (error) {
      console.error('examples', error);
      parents.matrix.append(make('p', {className: 'problem'}, 'The examples of ' + run.name + ' cannot be shown: ' + error.message));
    }
  }
  for (const box of Object.values(parents)) if (box.children.length === 1) missing(box, 'set of examples');
  section('weights', 'Weights', (box) => {
    for (const run of runs) drawWeights(box, run, runs.length > 1 ? run.name + ', ' : '');
    if (box.children.length === 1) missing(box, 'checkpoint');
  });
  root.append(make('details', {}, make('summary', {}, 'Charts by Chart.js ' + Chart.version), make('pre', {}, String(data.licence))));
  document.documentElement.dataset.ready = String(Number(document.documentElement.dataset.ready || 0) + 1);
}

const data = JSON.parse(document.getElementById('data').textContent);
render(data);
if (data.live) {
  setInterval(async () => {
    try {
      const fresh = await (await fetch('data.json')).json();
      const [x, y] = [window.scrollX, window.scrollY];
      render(fresh);
      window.scrollTo(x, y);
    } catch (error) {
      console.warn('the server does not answer', error.message);
    }
  }, 5000);
}
