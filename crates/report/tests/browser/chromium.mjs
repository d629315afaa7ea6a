// Chromium's DevTools protocol over --remote-debugging-pipe: JSON messages ended by a zero byte,
// to its descriptor 3 and from its descriptor 4. Needs nothing but node.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--remote-debugging-pipe', '--hide-scrollbars', '--force-device-scale-factor=1',
];

export class Chromium {
  #next = 1;
  #waiting = new Map();
  #listeners = [];
  #rest = '';

  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'mallacc-chromium-'));
    const flags = [...FLAGS, `--user-data-dir=${this.profile}`, 'about:blank'];
    this.process = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.on('error', (error) => this.#fail(error));
    this.process.on('exit', (code) => this.#fail(new Error(`chromium ended with ${code}`)));
    // A browser that has gone away is told by its exit.
    this.process.stdio[3].on('error', () => {});
    this.process.stdio[4].setEncoding('utf8').on('data', (text) => this.#read(text));
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #read(text) {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      const waiting = this.#waiting.get(message.id);
      if (waiting) {
        this.#waiting.delete(message.id);
        if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
        else waiting.resolve(message.result);
      } else if (message.method) {
        for (const listener of this.#listeners) listener(message.method, message.params);
      }
    }
  }

  // Sends a command to the browser, or to a page by its session.
  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    const done = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, method });
    });
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return done;
  }

  on(listener) {
    this.#listeners.push(listener);
  }

  // Resolves at the next event of that name.
  event(name) {
    return new Promise((resolve) => {
      const listener = (method, params) => {
        if (method !== name) return;
        this.#listeners = this.#listeners.filter((other) => other !== listener);
        resolve(params);
      };
      this.#listeners.push(listener);
    });
  }

  async close() {
    await this.send('Browser.close').catch(() => {});
    const late = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await this.ended;
    clearTimeout(late);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
