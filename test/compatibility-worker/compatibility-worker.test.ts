import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  CompatibilityWorker,
  type CompatibilityWorkerOptions,
} from '../../src/compatibility-worker/compatibility-worker.ts'
import type { UnparsedSchema, WorkerJob } from '../../src/compatibility-worker/worker-job.ts'

const AVRO = { type: 'AVRO', validation: 'loose', normalized: false } as const

function start(options: CompatibilityWorkerOptions = {}): CompatibilityWorker {
  const worker = new CompatibilityWorker(options)
  onTestFinished(() => worker.close())
  return worker
}

const nameOf = (name: string, fields = 0): WorkerJob => ({
  op: 'read',
  schema: {
    ...AVRO,
    text: JSON.stringify({
      type: 'record',
      name,
      fields: Array.from({ length: fields }, (_, at) => ({ name: `f${at}`, type: 'int' })),
    }),
  },
})
/** Its property names are matched with the pattern of the compared schema. */
const SLOW = jsonOf({ properties: { a: {}, [`${'a'.repeat(40)}!`]: {} } })
const PATTERN = jsonOf({
  properties: { a: {} },
  patternProperties: { '^(a+)+(?!b)$': {} },
  additionalProperties: false,
})
const compare = (...versions: UnparsedSchema[]): WorkerJob => ({
  op: 'compare',
  schema: PATTERN,
  versions,
  rules: { level: 'BACKWARD' },
})
/** Needs more memory than the process may have. */
const LARGE: WorkerJob = {
  op: 'read',
  schema: { ...AVRO, text: `[${'[],'.repeat(9_000_000)}[]]` },
}

function jsonOf(schema: object) {
  return { type: 'JSON', validation: 'loose', normalized: false, text: JSON.stringify(schema) } as const
}

describe('the compatibility worker', { tags: ['slow'] }, () => {
  it('runs several jobs in order', async () => {
    const worker = start()
    const outcomes = await Promise.all(['A', 'B', 'C'].map((name) => worker.run(nameOf(name))))
    expect(outcomes).toMatchObject(['A', 'B', 'C'].map((name) => ({ result: { name } })))
  })

  it('reports that a job takes too long, and runs the next', async () => {
    const worker = start({ limitMs: 500 })
    const tooLong = 'too complex: not processed within 500 ms of CPU time'
    expect(await worker.run(compare(SLOW))).toEqual({ invalid: tooLong, isLimit: true })
    expect(await worker.run(nameOf('C'))).toMatchObject({ result: { name: 'C' } })
  })

  it('reports that a job needs too much memory, and runs the next', async () => {
    const worker = start()
    // On a slow machine, the garbage collection before that can use up the CPU time.
    expect(await worker.run(LARGE)).toEqual({ invalid: expect.stringMatching(/^too complex: /), isLimit: true })
    expect(await worker.run(nameOf('C'))).toMatchObject({ result: { name: 'C' } })
  })

  it('returns the result of the versions before the one that takes too long', async () => {
    expect(await start({ limitMs: 500 }).run(compare(PATTERN, SLOW, PATTERN))).toEqual({
      result: { compared: 1, found: undefined },
    })
  })

  it('does not reject a job because its process had no processor', async () => {
    const worker = start({ limitMs: 2_000 })
    expect(await worker.run(nameOf('A'))).toMatchObject({ result: { name: 'A' } })
    const [pid] = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'compatibility-worker-process'], {
      encoding: 'utf8',
    }).split('\n')
    const outcome = worker.run(nameOf('B', 30_000))
    await sleep(50)
    process.kill(Number(pid), 'SIGSTOP')
    await sleep(2_500)
    process.kill(Number(pid), 'SIGCONT')
    expect(await outcome).toMatchObject({ result: { name: 'B' } })
  })

  it('rejects jobs when too many wait, and when it is closed', async () => {
    const worker = start({ waitingMax: 1 })
    const [first, second, third] = ['A', 'B', 'C'].map((name) => worker.run(nameOf(name)).catch(String))
    expect(await third).toContain('1 checks of large schemas are waiting')
    expect(await first).toMatchObject({ result: { name: 'A' } })
    expect(await second).toMatchObject({ result: { name: 'B' } })
    worker.close()
    await expect(worker.run(nameOf('D'))).rejects.toThrow('the program is stopping')
  })
})
