import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LONGEST_FILES } from './env/longest-first.ts'

const root = join(import.meta.dirname, '..')
const files = (...patterns: string[]) => globSync(patterns, { cwd: root }).map((file) => file.split(sep).join('/'))
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

describe('tests', () => {
  it('are skipped only by test/env/real.ts, because a real part is missing', () => {
    const skips = files('test/**/*.ts')
      // The one place that skips, with the reason in the title.
      .filter((file) => file !== 'test/env/real.ts')
      .flatMap((file) =>
        [...textOf(file).matchAll(/\b(?:describe|it|test)\.(?:skip|skipIf|runIf|only|todo|fails)\b|\bskip\(/g)].map(
          ([call]) => `${file}: ${call}`,
        ),
      )
    expect(skips).toEqual([])
  })

  it('assert no durations, because a machine may be slow or busy; `cpuMsOf` measures CPU time', () => {
    const durations = files('test/{*,!(bench)/**/*}.ts').flatMap((file) =>
      [...textOf(file).matchAll(/expect\([^\n]*(?:performance|Date)\.now\(\) - .*/g)].map(
        ([line]) => `${file}: ${line}`,
      ),
    )
    expect(durations).toEqual([])
  })

  it('wait at least two minutes for real parts, for the same reason', () => {
    const short = files('test/{contract,e2e,golden,support}/**/*.ts').flatMap((file) =>
      [...textOf(file).matchAll(/everyMs: [\d_]+, timeoutMs: ([\d_]+)/g)]
        .filter(([, limitMs]) => Number(limitMs!.replaceAll('_', '')) < 120_000)
        .map(([line]) => `${file}: ${line}`),
    )
    expect(short).toEqual([])
  })

  it('that run at the same time use nothing of Vitest that knows one running test only', () => {
    const wrong = files('test/**/*.ts')
      .filter((file) => /from '[^']*\/concurrent-tests\.ts'/.test(textOf(file)))
      .flatMap((file) =>
        [...textOf(file).matchAll(/\bexpect\s*\.poll\(|\bonTestFinished\(|\bvi\.(?:fn|spyOn|useFakeTimers)\(/g)].map(
          ([call]) => `${file}: ${call}`,
        ),
      )
    expect(wrong).toEqual([])
  })

  it('compare bytes and their type, and no text with a pattern', () => {
    expect(() => expect({ of: Buffer.from('ab') }).toEqual({ of: Buffer.from('ac') })).toThrow()
    expect({ of: Buffer.from('a') }).toEqual({ of: Buffer.from('a') })
    expect({ of: Buffer.from('a') }).not.toEqual({ of: Uint8Array.of(97) })
    expect(() => expect({ message: 'a' }).toMatchObject({ message: /a/ })).toThrow()
  })

  it('start with the longest files, all of which exist', () => {
    expect(LONGEST_FILES.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('may be skipped in CI in one suite only, on machines that cannot run a node', () => {
    const users = files('test/**/*.ts').filter((file) => /import \{[^}]*\brealWhereAMachineCan\b/.test(textOf(file)))
    expect(users).toEqual(['test/e2e/node-cluster.test.ts'])
    expect(textOf('scripts/count-tests.mjs')).toContain("'test/e2e/node-cluster.test.ts'")
  })
})
