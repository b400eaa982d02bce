import { describe, expect, it } from 'vitest'
import type { UnparsedSchema, WorkerJobOutcome } from '../../src/compatibility-worker/worker-job.ts'
import {
  IncompleteCheck,
  repeatWithResults,
  type SchemaJob,
  WorkerResults,
} from '../../src/compatibility-worker/worker-results.ts'

const schemaOf = (text: string): UnparsedSchema => ({ type: 'AVRO', text, validation: 'loose', normalized: false })
const jobOf = (text: string) => ({ op: 'read', schema: schemaOf(text) }) as const

/** A check whose tests each take `testMs`, and a worker that runs at most `jobsMax` jobs of a request. */
function start({ testMs = 0, jobsMax = 1_000 } = {}) {
  const clock = { nowMs: 0 }
  const results = new WorkerResults(
    () => undefined,
    () => clock.nowMs,
  )
  const tested: number[] = []
  const requests: number[] = []
  let calls = 0
  const worker = {
    runSome: async (jobs: readonly unknown[]): Promise<readonly WorkerJobOutcome[]> => {
      requests.push(jobs.length)
      return (jobs as readonly SchemaJob[]).slice(0, jobsMax).map((job) => {
        const text = job.op === 'read' ? job.schema.text : ''
        return { result: { canonical: text, name: undefined, fields: [] } }
      })
    },
  }
  const find = <Found>(count: number, test: (item: number) => Found | undefined) =>
    repeatWithResults(
      () => {
        calls += 1
        const items = Array.from({ length: count }, (_, at) => at)
        return results.findInTurns('check', items, String, (item) => {
          clock.nowMs += testMs
          tested.push(item)
          return test(item)
        })
      },
      results,
      worker,
    )
  const need = (job: SchemaJob): undefined => void results.get(job)
  return { results, find, need, tested, requests, calls: () => calls }
}

describe('a check of many items', () => {
  it('gives way to other work after 10 ms, and tests each item once', async () => {
    const { find, tested, calls } = start({ testMs: 4 })
    expect(await find(9, () => undefined)).toBeUndefined()
    expect([calls(), tested]).toEqual([3, [0, 1, 2, 3, 4, 5, 6, 7, 8]])
  })

  it('makes progress when each test takes longer than that', async () => {
    const { find, calls } = start({ testMs: 60_000 })
    expect(await find(5, (item) => (item === 4 ? 'found' : undefined))).toBe('found')
    expect(calls()).toBe(5)
  })

  it('requests the missing results of several items at once, up to 64 jobs', async () => {
    const { find, need, requests } = start()
    await find(100, (item) => need(jobOf(`${item}`)))
    expect(requests).toEqual([64, 36])
  })

  it('requests jobs of at most one million characters at once, unless a single job is larger', async () => {
    const { find, need, requests } = start()
    const text = 'x'.repeat(400_000)
    await find(5, (item) => need(jobOf(`${item}${text}`)))
    expect(requests).toEqual([3, 2])
    const large = start()
    await large.find(2, (item) => large.need(jobOf(`${item}${'x'.repeat(2_000_000)}`)))
    expect(large.requests).toEqual([1, 1])
  })

  it('requests the jobs again for which the worker had no time', async () => {
    const { find, need, requests } = start({ jobsMax: 2 })
    await find(5, (item) => need(jobOf(`${item}`)))
    expect(requests).toEqual([5, 3, 1])
  })

  it.each<[what: string, outcome: () => string]>([
    ['a result', () => 'later'],
    [
      'an error',
      () => {
        throw new Error('later')
      },
    ],
  ])('returns the result of the first item, also if a later one has %s before', async (_, outcome) => {
    const { results, find } = start()
    const found = await find(2, (item) => {
      if (item === 1) return outcome()
      return 'result' in results.get(jobOf('0')) ? 'first' : undefined
    })
    expect(found).toBe('first')
  })

  it('rejects with the error of a test', async () => {
    const { find } = start()
    await expect(
      find(3, () => {
        throw new Error('invalid')
      }),
    ).rejects.toThrow('invalid')
  })
})

it('does not take the result of one schema for another', async () => {
  const { results, find, need } = start()
  await find(1, () => need(jobOf('a')))
  expect(results.get(jobOf('a'))).toEqual({ result: { canonical: 'a', name: undefined, fields: [] } })
  expect(() => results.get(jobOf('b'))).toThrow(IncompleteCheck)
  expect(() => results.get({ op: 'read', schema: { ...schemaOf('a'), normalized: true } })).toThrow(IncompleteCheck)
})
