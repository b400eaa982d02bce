// Usage: record-durations.mjs REPORT
// Writes test/env/recorded-durations.json from a JSON report of a run of all tests on an otherwise idle machine:
//     npm test -- --reporter=default --reporter=json --outputFile.json=report.json
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'test/env/recorded-durations.json')
/** Shorter files need no place in the order, and their tests no limit of their own. */
const LEAST_SECONDS = 1

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const durations = testResults
  .map(({ name, startTime, endTime, assertionResults }) => ({
    file: relative(ROOT, name).split(sep).join('/'),
    fileSeconds: rounded((endTime - startTime) / 1_000),
    testSeconds: rounded(Math.max(0, ...assertionResults.map(({ duration }) => duration ?? 0)) / 1_000),
  }))
  .filter(({ fileSeconds }) => fileSeconds >= LEAST_SECONDS)
  .toSorted((a, b) => (a.file < b.file ? -1 : 1))
const lines = durations.map(
  ({ file, fileSeconds, testSeconds }) => `  ${JSON.stringify(file)}: [${fileSeconds}, ${testSeconds}]`,
)
writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
console.log(`${lines.length} of ${testResults.length} files recorded`)

/** Coarse, so that two runs differ in few lines. */
function rounded(seconds) {
  const step = seconds < 10 ? 1 : seconds < 60 ? 5 : 10
  return Math.round(seconds / step) * step
}
