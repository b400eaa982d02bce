// Usage: count-tests.mjs REPORT [REPORT_OF_REPEATED_FILES]
// Counts the results in vitest's JSON reports, and prints `N passed, N failed, N skipped`. The second report replaces the
// results of the files in it; a test that passed only there is named in the output. Exits with 1 when a test failed, when
// no test ran, or when, with CI set, a required test was skipped.
// Usage: count-tests.mjs --failed-files REPORT
// Prints the paths of the files that failed, one in a line. Prints nothing if there are too many to repeat them.
import { readFileSync } from 'node:fs'

/** Suites that may be skipped in CI; see test/env/real.ts. */
const MAY_BE_SKIPPED = 'test/e2e/node-cluster.test.ts'
/** With more failed files than this, the cause is not the load of the machine. */
const REPEATED_FILES_MAX = 4
const STATUS = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  pending: 'skipped',
  todo: 'skipped',
  disabled: 'skipped',
}

const [first, second] = process.argv.slice(2)
if (first === '--failed-files') printFailedFiles(readReport(second))
else printCount(readReport(first), second === undefined ? undefined : readReport(second))

function printFailedFiles(report) {
  const files = report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  if (files.length <= REPEATED_FILES_MAX) for (const file of files) console.log(file)
}

function printCount(report, repeated) {
  const repeatedFiles = new Map((repeated?.testResults ?? []).map((file) => [file.name, file]))
  for (const file of report.testResults) printUnstable(file, repeatedFiles.get(file.name))
  const counts = report.testResults.map((file) => countFile(repeatedFiles.get(file.name) ?? file))
  const passed = sum(counts, 'passed')
  const skipped = sum(counts, 'skipped')
  // A run may fail outside of the tests: an unhandled rejection, a failed setup, a missing report.
  const runs = repeated === undefined ? [report] : [report, repeated]
  const failedRuns = runs.filter((run) => !run.success && run.testResults.every((file) => countFile(file).failed === 0))
  const failed = sum(counts, 'failed') + failedRuns.length
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  const skipFails = process.env.CI !== undefined && process.env.CI !== '' && skipped > sum(counts, 'excused')
  process.exitCode = failed > 0 || passed === 0 || skipFails ? 1 : 0
}

/** A file that could not be loaded has no tests, and counts as one failed test. */
function countFile({ name = '', status, assertionResults }) {
  const count = { passed: 0, failed: 0, skipped: 0, excused: 0 }
  for (const test of assertionResults) count[STATUS[test.status] ?? 'failed'] += 1
  if (status === 'failed' && count.failed === 0) count.failed = 1
  if (name.replaceAll('\\', '/').endsWith(MAY_BE_SKIPPED)) count.excused = count.skipped
  return count
}

function sum(counts, member) {
  return counts.reduce((total, count) => total + count[member], 0)
}

function printUnstable(file, repeated) {
  const passed = new Set(repeated?.assertionResults.filter((t) => t.status === 'passed').map((t) => t.fullName))
  const unstable = file.assertionResults.filter((t) => t.status !== 'passed' && passed.has(t.fullName))
  for (const { fullName } of unstable) {
    console.log(`failed at first, passed when repeated alone: ${file.name}: ${fullName}`)
  }
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { success: false, testResults: [] }
  }
}
