// Reporter for vitest: tests run in forked processes, this runs in their parent.
import { Events } from './node_events.mjs';

const text = (errors) => (errors ?? []).map((e) => [`${e?.name ?? 'Error'}: ${e?.message ?? e}`, e?.diff, e?.stackStr ?? e?.stack].filter(Boolean).join('\n')).join('\n');

// One test of vitest 3 and newer.
const current = (test, file) => {
  const result = test.result();
  const names = [test.name];
  for (let parent = test.parent; parent?.type === 'suite'; parent = parent.parent) names.unshift(parent.name);
  let outcome = { passed: 'passed', failed: 'failed', skipped: 'skipped' }[result?.state] ?? 'errored';
  if (test.options?.fails && outcome === 'passed') outcome = 'xfailed';
  return {
    file, names, outcome,
    line: test.location?.line,
    ms: test.diagnostic()?.duration,
    text: text(result?.errors) || (test.options?.mode === 'todo' ? 'todo' : result?.note),
  };
};

// One test of vitest 1 and 2.
const former = (task, names, file) => {
  let outcome = { pass: 'passed', fail: 'failed' }[task.result?.state] ?? (['skip', 'todo'].includes(task.mode) ? 'skipped' : 'errored');
  if (task.fails && outcome === 'passed') outcome = 'xfailed';
  return { file, names: [...names, task.name], outcome, line: task.location?.line, ms: task.result?.duration, text: text(task.result?.errors) || task.mode };
};

export default class Report {
  onTestRunEnd(modules, errors, reason) {
    const events = new Events('vitest');
    let failed = errors.length > 0 || reason !== 'passed';
    for (const module of modules) {
      const wrong = [...module.errors()];
      let count = 0;
      for (const suite of module.children.allSuites()) wrong.push(...suite.errors());
      for (const test of module.children.allTests()) {
        count += 1;
        const row = current(test, module.moduleId);
        failed ||= row.outcome === 'failed' || row.outcome === 'errored';
        events.add(row);
      }
      if (wrong.length) {
        failed = true;
        events.add({ file: module.moduleId, names: [], outcome: 'errored', text: text(wrong) });
      } else if (!count) events.add({ file: module.moduleId, names: [], outcome: 'skipped' });
    }
    this.finish(events, errors, failed);
  }

  onFinished(files = [], errors = []) {
    if (this.done) return;
    const events = new Events('vitest');
    let failed = errors.length > 0;
    const walk = (tasks, names, file) => {
      for (const task of tasks) {
        if (task.type === 'suite') {
          if (task.result?.errors?.length) {
            failed = true;
            events.add({ file, names: [...names, task.name], outcome: 'errored', text: text(task.result.errors) });
          }
          walk(task.tasks, [...names, task.name], file);
        } else {
          const row = former(task, names, file);
          failed ||= row.outcome === 'failed' || row.outcome === 'errored';
          events.add(row);
        }
      }
    };
    for (const file of files) {
      if (file.result?.errors?.length) {
        failed = true;
        events.add({ file: file.filepath, names: [], outcome: 'errored', text: text(file.result.errors) });
      }
      walk(file.tasks, [], file.filepath);
    }
    this.finish(events, errors, failed);
  }

  finish(events, errors, failed) {
    this.done = true;
    if (errors.length) events.add({ file: '(run)', names: [], outcome: 'errored', text: text(errors) });
    events.end(!failed);
  }
}
