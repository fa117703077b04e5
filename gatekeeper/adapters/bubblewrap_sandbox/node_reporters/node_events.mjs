// What the reporters of node:test, jest and vitest share: records kept in memory, written once when the run is over.
//
// The runner's own process writes them; tests run in children of it. Whoever reads them treats them as a claim: every
// process inside is one user.
import { closeSync, openSync, rmSync, writeSync, constants } from 'node:fs';
import { relative, sep } from 'node:path';

const PLACE = '/tmp/gatekeeper-events';
const MAX_TEXT = 4000;
const MAX_NAME = 1000;
const { CREAT, EXCL, NOFOLLOW, WRONLY } = Object.fromEntries(
  ['CREAT', 'EXCL', 'NOFOLLOW', 'WRONLY'].map((name) => [name, constants[`O_${name}`]]),
);
const start = process.cwd();
// Kept before any code of the project can exchange them.
const stringify = JSON.stringify;
const push = Array.prototype.push;

const plain = (text, most) =>
  String(text ?? '')
    .replace(/\u001b\[[0-9;]*m/g, '')
    .toWellFormed?.()
    .slice(0, most) ?? String(text ?? '').slice(0, most).replace(/[\ud800-\udfff]/g, '\ufffd');

export class Events {
  constructor(runner) {
    this.runner = runner;
    this.lines = [];
  }

  /** One result: `file` absolute, `names` from the outermost suite inwards (empty: the file as a whole). */
  add({ file, names, outcome, line, ms, text }) {
    const record = {
      file: relative(start, file ?? '').split(sep).join('/').slice(0, 4096).replace(/[\ud800-\udfff]/g, '\ufffd'),
      names: names.slice(0, 64).map((name) => plain(name, MAX_NAME)),
      outcome,
    };
    if (Number.isInteger(line) && line > 0 && line < 1e9) record.line = line;
    if (Number.isFinite(ms) && ms >= 0 && ms < 1e12) record.ms = Math.round(ms * 1000) / 1000;
    if (text) record.text = plain(text, MAX_TEXT);
    push.call(this.lines, stringify(record));
  }

  /** Write everything; `exit` is what the runner found, true for success. */
  end(success) {
    const last = stringify({ end: this.lines.length, success: Boolean(success) });
    const data = Buffer.from([stringify({ gatekeeper: 1, runner: this.runner }), ...this.lines, last, ''].join('\n'));
    rmSync(PLACE, { force: true, recursive: true });
    const place = openSync(PLACE, WRONLY | CREAT | EXCL | NOFOLLOW, 0o600);
    for (let done = 0; done < data.length; ) done += writeSync(place, data, done);
    closeSync(place);
  }
}
