// Usage: count-tests.mjs REPORT... : adds up vitest's JSON reports, prints `N passed, N failed, N skipped`, and exits
// with 1 when something failed, when nothing ran, or when, with CI set, something was skipped that had to run.
import { readFileSync } from 'node:fs'

/** What not every machine of CI can run; test/env/real.ts says why. */
const MAY_BE_SKIPPED = 'test/e2e/node-cluster.test.ts'

let excused = 0
const count = { passed: 0, failed: 0, skipped: 0 }
const STATUS = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  pending: 'skipped',
  todo: 'skipped',
  disabled: 'skipped',
}

for (const file of process.argv.slice(2)) {
  const report = readReport(file)
  // A run may fail outside of any test: an unhandled rejection, a set-up that threw, a report that was never written.
  let failures = 0
  for (const { name = '', status, assertionResults } of report.testResults) {
    for (const test of assertionResults) count[STATUS[test.status] ?? 'failed'] += 1
    if (name.replaceAll('\\', '/').endsWith(MAY_BE_SKIPPED)) {
      excused += assertionResults.filter((test) => STATUS[test.status] === 'skipped').length
    }
    const failed = assertionResults.filter((test) => (STATUS[test.status] ?? 'failed') === 'failed').length
    failures += failed
    // A file that could not even be collected has no tests, and counts as one that failed.
    if (status === 'failed' && failed === 0) {
      count.failed += 1
      failures += 1
    }
  }
  if (!report.success && failures === 0) count.failed += 1
}

console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
const skipFails = process.env.CI !== undefined && process.env.CI !== '' && count.skipped > excused
process.exitCode = count.failed > 0 || count.passed === 0 || skipFails ? 1 : 0

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { success: false, testResults: [] }
  }
}
