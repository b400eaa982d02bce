import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { createLogger, silentLogger } from '../../../src/common/logging/logger.ts'
import { CircuitOpenError } from '../../../src/operator/controller/circuit-breaker.ts'
import { ListPoller } from '../../../src/operator/controller/list-poller.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const INTERVAL_MS = 30_000

let clock: FakeClock
let objects: Map<string, { state: string }>
let failure: Error | undefined
let reported: string[]
let outages: boolean[]
let poller: ListPoller<{ state: string }>

beforeEach(async () => {
  clock = new FakeClock()
  objects = new Map(['a', 'b', 'c'].map((name) => [name, { state: 'RUNNING' }]))
  failure = undefined
  reported = []
  outages = []
  poller = new ListPoller({
    clock,
    logger: silentLogger(),
    intervalMs: INTERVAL_MS,
    list: async () => {
      if (failure !== undefined) throw failure
      return new Map(objects)
    },
    onListed(listed, changed) {
      for (const name of changed) reported.push(`${name} ${listed.get(name)?.state ?? 'deleted'}`)
    },
    onAvailabilityChange: () => outages.push(poller.isAvailable),
  })
  expect(poller.isAvailable).toBe(false)
  poller.start()
  onTestFinished(() => poller.stop())
  await clock.advance(0)
})

async function reportedWithin(ms: number): Promise<readonly string[]> {
  reported.length = 0
  await clock.advance(ms)
  return [...reported].sort()
}

it('reports the objects that were created, changed or deleted since the last list', async () => {
  expect(reported).toEqual(['a RUNNING', 'b RUNNING', 'c RUNNING'])
  expect(await reportedWithin(INTERVAL_MS)).toEqual([])
  objects.set('a', { state: 'FAILED' }).set('d', { state: 'RUNNING' }).delete('b')
  expect(await reportedWithin(INTERVAL_MS)).toEqual(['a FAILED', 'b deleted', 'd RUNNING'])
})

it('reports no outage after one failed list, and compares with the last successful one', async () => {
  failure = new Error('no answer')
  expect(await reportedWithin(INTERVAL_MS)).toEqual([])
  failure = undefined
  objects.set('c', { state: 'PAUSED' })
  expect(await reportedWithin(5_000)).toEqual(['c PAUSED'])
  expect(outages).toEqual([])
})

it('reports the begin and the end of an outage once each', async () => {
  expect(poller.isAvailable).toBe(true)
  failure = new Error('no answer')
  await clock.advance(INTERVAL_MS + 4_999)
  expect(poller.isAvailable).toBe(true)
  await clock.advance(60_000)
  expect(outages).toEqual([false])
  failure = undefined
  await clock.advance(5_000)
  expect(outages).toEqual([false, true])
  expect(poller.lagMs).toBeLessThan(5_000)
})

it('does not report the end of an outage after the circuit breaker was open', async () => {
  failure = new Error('no answer')
  await clock.advance(INTERVAL_MS + 5_000)
  expect(outages).toEqual([false])
  failure = new CircuitOpenError('no answer')
  await clock.advance(INTERVAL_MS)
  failure = undefined
  objects.set('a', { state: 'FAILED' })
  expect(await reportedWithin(INTERVAL_MS)).toEqual(['a FAILED'])
  expect(outages).toEqual([false])
})

it('logs an error of the handler of a list as a bug, and continues to poll', async () => {
  const lines: { readonly msg: string }[] = []
  const logger = createLogger({ write: (line) => void lines.push(JSON.parse(line)) })
  let calls = 0
  const failing = new ListPoller<string>({
    clock,
    logger,
    intervalMs: INTERVAL_MS,
    list: async () => new Map(),
    onListed() {
      calls += 1
      throw new TypeError('x is not a function')
    },
    onAvailabilityChange: () => outages.push(failing.isAvailable),
  })
  failing.start()
  onTestFinished(() => failing.stop())
  await clock.advance(INTERVAL_MS)
  expect(calls).toBe(2)
  expect([failing.isAvailable, outages]).toEqual([true, []])
  expect(lines.map(({ msg }) => msg)).toEqual(Array(2).fill('the handler of a list of runtime objects failed'))
})
