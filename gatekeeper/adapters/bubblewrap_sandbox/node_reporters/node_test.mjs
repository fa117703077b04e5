// Reporter for `node --test`: every file is a child process, this runs in its parent.
import { relative, resolve } from 'node:path';
import { Events } from './node_events.mjs';

const own = (data) => resolve(data.name) === data.file || data.file === undefined || relative(data.file, data.name) === '';

const words = (error) => {
  const cause = error?.cause;
  return (cause && typeof cause === 'object' && (cause.stack || cause.message)) || String(cause ?? error?.message ?? '');
};

export default async function* report(source) {
  const events = new Events('node');
  const stacks = new Map();
  const parents = new Set();
  const said = new Map();
  let success = true;
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      const stack = stacks.get(data.file) ?? [];
      stack.length = Math.min(stack.length, data.nesting);
      stack[data.nesting] = data.name;
      stacks.set(data.file, stack);
      // A test that has tests of its own is a suite in every report of this runner.
      if (data.nesting > 0) parents.add(`${data.file}\0${stack.slice(0, data.nesting).join('\0')}`);
      else parents.clear();
    }
    if (type === 'test:stderr') said.set(data.file, `${said.get(data.file) ?? ''}${data.message}`.slice(-4000));
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const failed = type === 'test:fail';
    const whole = data.nesting === 0 && own(data);
    const names = whole ? [] : [...(stacks.get(data.file) ?? []).slice(0, data.nesting), data.name];
    const error = data.details?.error;
    const marked = data.skip !== undefined || data.todo !== undefined || data.expectFailure !== undefined;
    const group = data.details?.type === 'suite' || parents.has(`${data.file}\0${names.join('\0')}`);
    if (failed && data.todo === undefined) success = false;
    if (group && !marked && (!failed || error?.failureType === 'subtestsFailed')) continue;
    let outcome = failed ? 'failed' : 'passed';
    if (failed && (whole || group || error?.failureType === 'hookFailed')) outcome = 'errored';
    if (data.skip !== undefined && data.skip !== false) outcome = 'skipped';
    else if (data.todo !== undefined && data.todo !== false) outcome = failed ? 'xfailed' : 'xpassed';
    else if (data.expectFailure !== undefined && data.expectFailure !== false && !failed) outcome = 'xfailed';
    const reason = [data.skip, data.todo, data.expectFailure].find((r) => typeof r === 'string');
    events.add({
      file: data.file ?? resolve(data.name),
      names,
      outcome,
      line: whole ? undefined : data.line,
      ms: data.details?.duration_ms,
      text: failed ? [words(error), whole ? said.get(data.file) : ''].filter(Boolean).join('\n') : reason,
    });
  }
  events.end(success);
}
