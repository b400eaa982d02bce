// Usage: count-tests.mjs REPORT
// Counts the results in vitest's JSON report, and prints `N passed, N failed, N skipped`. Exits with 1 when a test failed,
// when no test ran, or when, with CI set, a required test was skipped.
import { readFileSync } from 'node:fs'

/** Suites that may be skipped in CI; see test/env/real.ts. */
const MAY_BE_SKIPPED = 'test/e2e/node-cluster.test.ts'
const STATUS = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  pending: 'skipped',
  todo: 'skipped',
  disabled: 'skipped',
}

const report = readReport(process.argv[2])
const counts = report.testResults.map(countFile)
const [passed, skipped, failedTests] = ['passed', 'skipped', 'failed'].map(sum)
// A run may fail outside of the tests: an unhandled rejection, a failed setup, a missing report.
const failed = failedTests === 0 && !report.success ? 1 : failedTests
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
const skipFails = process.env.CI !== undefined && process.env.CI !== '' && skipped > sum('excused')
process.exitCode = failed > 0 || passed === 0 || skipFails ? 1 : 0

/** A file that could not be loaded has no tests, and counts as one failed test. */
function countFile({ name = '', status, assertionResults }) {
  const count = { passed: 0, failed: 0, skipped: 0, excused: 0 }
  for (const test of assertionResults) count[STATUS[test.status] ?? 'failed'] += 1
  if (status === 'failed' && count.failed === 0) count.failed = 1
  if (name.replaceAll('\\', '/').endsWith(MAY_BE_SKIPPED)) count.excused = count.skipped
  return count
}

function sum(member) {
  return counts.reduce((total, count) => total + count[member], 0)
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { success: false, testResults: [] }
  }
}
