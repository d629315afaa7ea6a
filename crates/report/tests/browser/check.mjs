// Opens a page in Chromium as its readers do, and prints what it saw as JSON.
//
// node check.mjs CHROMIUM PAGE FOLDER: screenshots and downloads go into the folder. Judges
// nothing: the test that starts it does.

import { mkdirSync, readFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from './chromium.mjs';

const [program, file, folder] = process.argv.slice(2);
const address = pathToFileURL(file).href;
const WIDTHS = [390, 1440];
const seen = { complaints: [], requests: [], views: [], downloads: [] };

const browser = new Chromium(program);
const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
const page = (method, params) => browser.send(method, params, sessionId);

browser.on((method, params) => {
  if (method === 'Runtime.exceptionThrown') {
    seen.complaints.push(params.exceptionDetails.text);
  } else if (method === 'Runtime.consoleAPICalled') {
    seen.complaints.push(`${params.type}: ${params.args.map((arg) => arg.value).join(' ')}`);
  } else if (method === 'Log.entryAdded') {
    seen.complaints.push(`${params.entry.level}: ${params.entry.text}`);
  } else if (method === 'Network.requestWillBeSent') {
    seen.requests.push(params.request.url.slice(0, 200));
  }
});

for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'DOM']) await page(`${domain}.enable`);

async function evaluate(source) {
  const { result, exceptionDetails } = await page('Runtime.evaluate', {
    expression: `(${source})()`, returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? source);
  return result.value;
}

async function press(key, code, text) {
  const event = { key, code: key, windowsVirtualKeyCode: code, text };
  await page('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
  await page('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}

async function open(width, scheme) {
  await page('Emulation.setDeviceMetricsOverride', {
    width, height: 844, deviceScaleFactor: 1, mobile: width < 600,
  });
  await page('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ],
  });
  const loaded = browser.event('Page.loadEventFired');
  await page('Page.navigate', { url: address });
  await loaded;
}

// What a view shows, measured in the page.
function measure() {
  const root = document.documentElement;
  const visible = (element) => element.getClientRects().length > 0;
  const letters = (selector) => [...document.querySelectorAll(selector)].filter(visible)
    .map((text) => 12 * text.getBoundingClientRect().height / text.getBBox().height);
  const outside = [...document.querySelectorAll('body *')].filter((element) => {
    if (element.closest('.scroll, .hidden, .patterns')) return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
  });
  const charts = [...document.querySelectorAll('svg.plot')].filter(visible);
  // Figures whose unit stands on another line.
  const split = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    for (const { index, 0: match } of text.data.matchAll(/[0-9.]+[ \u00a0]%/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + match.length);
      const tops = [...range.getClientRects()].map((box) => Math.round(box.top));
      if (new Set(tops).size > 1) split.push(text.data.slice(Math.max(0, index - 40), index + 20));
    }
  }
  // What scrolls sideways, and does not show it.
  const unmarked = [...document.querySelectorAll('.scroll')].filter((element) => visible(element)
    && element.scrollWidth > element.clientWidth
    && getComputedStyle(element).backgroundImage === 'none');
  return {
    splitFigures: split,
    scrolling: [...document.querySelectorAll('.scroll')]
      .filter((element) => visible(element) && element.scrollWidth > element.clientWidth).length,
    unmarkedScrolling: unmarked.map((element) => element.getAttribute('aria-label')),
    pageWidth: root.scrollWidth, windowWidth: innerWidth,
    outside: outside.slice(0, 5).map((element) => element.outerHTML.slice(0, 160)),
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    charts: charts.length,
    figures: document.querySelectorAll('figure').length,
    unnamedCharts: charts.filter((chart) => !(chart.getAttribute('aria-label') ?? '').trim()
      || chart.getAttribute('role') !== 'img').length,
    smallestLetters: Math.min(...letters('svg.plot text')),
    scripts: document.scripts.length,
  };
}

// Links without a target inside the page, and those that lead out of it.
function links() {
  const all = [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'));
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  return {
    count: all.length,
    dangling: all.filter((href) => href.startsWith('#') && !document.getElementById(href.slice(1))),
    leadingOut: all.filter((href) => !href.startsWith('#') && !href.startsWith('data:')),
    repeatedIds: ids.filter((id, index) => ids.indexOf(id) !== index),
    unresolvedLabels: [...document.querySelectorAll('[aria-labelledby]')]
      .filter((element) => !document.getElementById(element.getAttribute('aria-labelledby'))).length,
  };
}

// Tabs through the page: every control must come up, with an outline.
async function keyboard() {
  const controls = await evaluate(function () {
    const all = [...document.querySelectorAll('a[href], summary, button, [tabindex="0"]')];
    const shown = all.filter((element) => element.checkVisibility());
    shown.forEach((element, index) => { element.dataset.control = index; });
    return shown.length;
  });
  const reached = new Set();
  const unmarked = [];
  for (let step = 0; step <= controls + 2; step++) {
    await press('Tab', 9);
    const focus = await evaluate(function () {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      return {
        control: element.dataset.control,
        outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        html: element.outerHTML.slice(0, 120),
      };
    });
    if (focus.control === undefined) continue;
    reached.add(focus.control);
    if (!focus.outlined) unmarked.push(focus.html);
  }
  const opened = await evaluate(function () {
    document.querySelector('summary')?.focus();
    return document.querySelector('details')?.open;
  });
  if (opened === undefined) return { controls, reached: reached.size, unmarked };
  await press('Enter', 13, '\r');
  const after = await evaluate(function () { return document.querySelector('details').open; });
  return { controls, reached: reached.size, unmarked, detailsOpenByKey: !opened && after };
}

// Downloads through the first links by keyboard; all links' contents as they stand in the page.
async function downloads() {
  const place = join(folder, 'downloads');
  mkdirSync(place, { recursive: true });
  await browser.send('Browser.setDownloadBehavior', {
    behavior: 'allow', downloadPath: place, eventsEnabled: true,
  });
  const all = await evaluate(function () {
    return [...document.querySelectorAll('a[download]')].map((a) => ({
      name: a.download,
      contents: decodeURIComponent(a.href.slice(a.href.indexOf(',') + 1)),
    }));
  });
  for (const [index, link] of all.entries()) {
    if (index < 2) {
      const began = browser.event('Browser.downloadWillBegin');
      const done = new Promise((resolve) => browser.on((method, params) => {
        if (method === 'Browser.downloadProgress' && params.state !== 'inProgress') resolve(params);
      }));
      await page('Runtime.evaluate', {
        expression: `document.querySelectorAll('a[download]')[${index}].focus()`,
      });
      await press('Enter', 13, '\r');
      link.suggested = (await began).suggestedFilename;
      await done;
      const path = join(place, link.suggested);
      link.downloaded = existsSync(path) ? readFileSync(path, 'utf8') : null;
    }
    seen.downloads.push(link);
  }
}

async function picture(name) {
  const { cssContentSize } = await page('Page.getLayoutMetrics');
  const { data } = await page('Page.captureScreenshot', {
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 },
  });
  writeFileSync(join(folder, name), Buffer.from(data, 'base64'));
}

const late = setTimeout(() => {
  console.error('chromium took more than two minutes');
  browser.process.kill('SIGKILL');
  process.exit(1);
}, 120_000);
try {
  mkdirSync(folder, { recursive: true });
  for (const width of WIDTHS) {
    for (const scheme of ['light', 'dark']) {
      await open(width, scheme);
      seen.views.push({ width, scheme, ...await evaluate(measure) });
      await picture(`${width}-${scheme}.png`);
    }
    seen.views.at(-1).keyboard = await keyboard();
  }
  await open(1440, 'light');
  seen.links = await evaluate(links);
  await downloads();
  console.log(JSON.stringify(seen));
} finally {
  clearTimeout(late);
  await browser.close();
}
