// Reporter for jest: tests run in worker processes, this runs in their parent.
import { Events } from './node_events.mjs';

const WORDS = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', todo: 'skipped', disabled: 'skipped' };

export default class Report {
  onRunComplete(_contexts, results) {
    const events = new Events('jest');
    let failed = false;
    for (const file of results.testResults) {
      const error = file.testExecError ?? (file.failureMessage && file.testResults.length === 0 ? file.failureMessage : undefined);
      if (error) {
        failed = true;
        events.add({ file: file.testFilePath, names: [], outcome: 'errored', text: error.stack || error.message || file.failureMessage || error });
      }
      for (const test of file.testResults) {
        let outcome = WORDS[test.status] ?? 'errored';
        if (test.failing && outcome === 'passed') outcome = 'xfailed';
        if (outcome === 'failed' || outcome === 'errored') failed = true;
        events.add({
          file: file.testFilePath,
          names: [...test.ancestorTitles, test.title],
          outcome,
          line: test.location?.line,
          ms: test.duration ?? undefined,
          text: test.failureMessages?.length ? test.failureMessages.join('\n') : test.status === 'todo' ? 'todo' : '',
        });
      }
      if (!error && file.testResults.length === 0) events.add({ file: file.testFilePath, names: [], outcome: file.skipped ? 'skipped' : 'passed' });
    }
    events.end(results.success && !failed && !results.runExecError && !results.wasInterrupted);
  }
}
