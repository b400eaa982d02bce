import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RECORDED_DURATIONS } from './env/recorded-durations.ts'

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

  it('keep records with fixed timestamps, which a broker deletes after their retention time', () => {
    const hasFixed = (text: string) => /\btimestampMs: (?:[\d_]+|at|n|index)\b/.test(text)
    const deleted = files('test/**/*.ts').filter((file) => {
      const text = textOf(file)
      return hasFixed(text) && text.includes('topics.create(') && !text.includes("'retention.ms': '-1'")
    })
    expect(deleted).toEqual([])
  })

  it('wait at least two minutes for real parts, for the same reason', () => {
    const short = files('test/{contract,e2e,golden,support}/**/*.ts').flatMap((file) =>
      [...textOf(file).matchAll(/everyMs: [\d_]+, timeoutMs: ([\d_]+)/g)]
        .filter(([, limitMs]) => Number(limitMs!.replaceAll('_', '')) < 120_000)
        .map(([line]) => `${file}: ${line}`),
    )
    expect(short).toEqual([])
  })

  it('remove directories by `removeDirectory`, because a process that was killed may still have children that write', () => {
    const wrong = files('test/**/*.ts')
      .filter((file) => file !== 'test/env/remove-directory.ts')
      .flatMap(
        (file) =>
          textOf(file)
            .match(/\brm(?:Sync)?\([^)]*recursive: true, force: true.*/g)
            ?.map((call) => `${file}: ${call}`) ?? [],
      )
    expect(wrong).toEqual([])
  })

  it('say how long `vi` waits, because its own limit of a second is too short for a busy machine', () => {
    const short = files('test/**/*.ts').flatMap((file) =>
      textOf(file)
        .split(/^(?=.*\bvi\.wait(?:For|Until)\()/m)
        .slice(1)
        // The statement ends at the first line that is not indented more than its first one, or in its first line.
        .map((text) => /^( *).*(?:;|\)$|\n(?:\1 .*\n)*\1[^ ].*)/m.exec(text)?.[0] ?? text)
        .filter((call) => !/timeout|_MS\b/.test(call))
        .map((call) => `${file}: ${call.trim()}`),
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

  it('have recorded durations of files that exist', () => {
    expect(Object.keys(RECORDED_DURATIONS).filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('may be skipped in CI in one suite only, on machines that cannot run a node', () => {
    const users = files('test/**/*.ts').filter((file) => /import \{[^}]*\brealWhereAMachineCan\b/.test(textOf(file)))
    expect(users).toEqual(['test/e2e/node-cluster.test.ts'])
    expect(textOf('scripts/count-tests.mjs')).toContain("'test/e2e/node-cluster.test.ts'")
  })
})
