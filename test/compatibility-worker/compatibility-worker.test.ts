import { describe, expect, it, onTestFinished } from 'vitest'
import {
  CompatibilityWorker,
  type CompatibilityWorkerOptions,
} from '../../src/compatibility-worker/compatibility-worker.ts'
import type { WorkerJob } from '../../src/compatibility-worker/worker-job.ts'

const AVRO = { type: 'AVRO', validation: 'loose', normalized: false } as const

function start(options: CompatibilityWorkerOptions = {}): CompatibilityWorker {
  const worker = new CompatibilityWorker(options)
  onTestFinished(() => worker.close())
  return worker
}

const nameOf = (name: string): WorkerJob => ({
  op: 'read',
  schema: { ...AVRO, text: JSON.stringify({ type: 'record', name, fields: [] }) },
})
const SLOW: WorkerJob = {
  op: 'compare',
  reader: jsonOf({ properties: { a: {} }, patternProperties: { '^(a+)+(?!b)$': {} }, additionalProperties: false }),
  writer: jsonOf({ properties: { a: {}, [`${'a'.repeat(40)}!`]: {} } }),
  options: { roles: { reader: 'new', writer: 'old' } },
}
/** Needs more memory than the process may have. */
const LARGE: WorkerJob = {
  op: 'read',
  schema: { ...AVRO, text: `[${'[],'.repeat(9_000_000)}[]]` },
}

function jsonOf(schema: object) {
  return { type: 'JSON', validation: 'loose', normalized: false, text: JSON.stringify(schema) } as const
}

describe('the compatibility worker', { tags: ['slow'] }, () => {
  it('returns the outcomes of several jobs in order', async () => {
    const outcomes = await start().runSome(['A', 'B', 'C'].map(nameOf))
    expect(outcomes).toMatchObject(['A', 'B', 'C'].map((name) => ({ result: { name } })))
  })

  it('reports that one of several jobs takes too long, and runs the others', async () => {
    const worker = start({ limitMs: 1_500 })
    const outcomes = await worker.runSome([nameOf('A'), SLOW, nameOf('C')])
    // After the slow job, the time of the request is over.
    expect(outcomes).toMatchObject([
      { result: { name: 'A' } },
      { invalid: expect.stringContaining('too complex: not processed within 1500 ms') },
    ])
    expect(await worker.run(nameOf('C'))).toMatchObject({ result: { name: 'C' } })
  })

  it('does not report a job as too large because of another job of its request', async () => {
    const worker = start()
    expect(await worker.runSome([nameOf('A'), LARGE])).toMatchObject([{ result: { name: 'A' } }])
    expect(await worker.runSome([LARGE])).toMatchObject([{ invalid: expect.stringContaining('too complex') }])
  })
})
