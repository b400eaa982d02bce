// Usage: count-tests.mjs REPORT... : adds up vitest's JSON reports, prints `N passed, N failed, N skipped`, and exits
// with 1 when a test failed, when no test ran, or when, with CI set, a required test was skipped.
import { readFileSync } from 'node:fs'

/** Suites that may be skipped in CI; see test/env/real.ts. */
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
  // A run may fail outside of the tests: an unhandled rejection, a failed setup, a missing report.
  let failures = 0
  for (const { name = '', status, assertionResults } of report.testResults) {
    for (const test of assertionResults) count[STATUS[test.status] ?? 'failed'] += 1
    if (name.replaceAll('\\', '/').endsWith(MAY_BE_SKIPPED)) {
      excused += assertionResults.filter((test) => STATUS[test.status] === 'skipped').length
    }
    const failed = assertionResults.filter((test) => (STATUS[test.status] ?? 'failed') === 'failed').length
    failures += failed
    // A file that could not be loaded has no tests and counts as one failed test.
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
