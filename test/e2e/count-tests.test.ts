import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SCRIPT = join(import.meta.dirname, '../../scripts/count-tests.mjs')

type File = { readonly name?: string; readonly status: 'passed' | 'failed'; readonly tests: readonly string[] }
type Run = { readonly success: boolean; readonly files: readonly File[] }

/** Tests are named by their index in the file. */
function writeReport({ success, files }: Run): string {
  const testResults = files.map(({ name = '/checkout/test/e2e/some.test.ts', status, tests }) => ({
    name,
    status,
    assertionResults: tests.map((t, index) => ({ status: t, fullName: `test ${index}` })),
  }))
  return writeText(JSON.stringify({ success, testResults }))
}

function writeText(text: string): string {
  const file = join(temporaryDirectory(), 'report.json')
  writeFileSync(file, text)
  return file
}

function execute(report: string, ci = '') {
  const env = { ...process.env, CI: ci }
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, report], { env, encoding: 'utf8' })
  return { code: status, line: stdout.trim() }
}

function count(run: Run, ci = '') {
  return execute(writeReport(run), ci)
}

it('adds up passed, failed and skipped tests', () => {
  const files: File[] = [
    { status: 'passed', tests: ['passed', 'passed', 'skipped'] },
    { status: 'failed', tests: ['passed', 'failed', 'todo'] },
  ]
  expect(count({ success: false, files })).toEqual({ code: 1, line: '3 passed, 1 failed, 2 skipped' })
})

it('accepts skipped tests, except with CI set', () => {
  const files: File[] = [{ status: 'passed', tests: ['passed', 'skipped'] }]
  expect(count({ success: true, files })).toEqual({ code: 0, line: '1 passed, 0 failed, 1 skipped' })
  expect(count({ success: true, files }, 'true')).toEqual({ code: 1, line: '1 passed, 0 failed, 1 skipped' })
})

it('accepts and counts the one suite that may be skipped in CI', () => {
  const node = {
    name: '/checkout/test/e2e/node-cluster.test.ts',
    status: 'passed',
    tests: ['skipped', 'skipped'],
  } as const
  const other = { status: 'passed', tests: ['passed'] } as const
  expect(count({ success: true, files: [node, other] }, 'true')).toEqual({
    code: 0,
    line: '1 passed, 0 failed, 2 skipped',
  })
  const skipping = { status: 'passed', tests: ['passed', 'skipped'] } as const
  expect(count({ success: true, files: [node, skipping] }, 'true').code).toBe(1)
})

it('counts a file that could not be loaded as one failure', () => {
  const files: File[] = [
    { status: 'failed', tests: [] },
    { status: 'passed', tests: ['passed'] },
  ]
  expect(count({ success: false, files })).toEqual({ code: 1, line: '1 passed, 1 failed, 0 skipped' })
})

it('fails if the run failed outside of tests, ran no tests, or wrote no report', () => {
  expect(count({ success: false, files: [{ status: 'passed', tests: ['passed'] }] }).code).toBe(1)
  expect(count({ success: true, files: [] }).code).toBe(1)
  expect(execute(writeText('{"testResults": ['))).toEqual({ code: 1, line: '0 passed, 1 failed, 0 skipped' })
})
