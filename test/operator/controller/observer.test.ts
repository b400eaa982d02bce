import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/config/logger.ts'
import { CircuitOpenError } from '../../../src/operator/controller/circuit-breaker.ts'
import { Observer } from '../../../src/operator/controller/observer.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const INTERVAL_MS = 30_000

let clock: FakeClock
let there: Map<string, { state: string }>
let failure: Error | undefined
let told: string[]
let outages: boolean[]
let observer: Observer<{ state: string }>

beforeEach(async () => {
  clock = new FakeClock()
  there = new Map(['a', 'b', 'c'].map((name) => [name, { state: 'RUNNING' }]))
  failure = undefined
  told = []
  outages = []
  observer = new Observer({
    clock,
    logger: silentLogger(),
    intervalMs: INTERVAL_MS,
    list: async () => {
      if (failure !== undefined) throw failure
      return new Map(there)
    },
    onListed(things, changed) {
      for (const name of changed) told.push(`${name} ${things.get(name)?.state ?? 'gone'}`)
    },
    onAvailabilityChange: () => outages.push(observer.isObserved),
  })
  expect(observer.isObserved).toBe(false)
  observer.start()
  onTestFinished(() => observer.stop())
  await clock.advance(0)
})

async function toldWithin(ms: number): Promise<readonly string[]> {
  told.length = 0
  await clock.advance(ms)
  return [...told].sort()
}

it('tells each thing that came, changed or went since the last look, and none that stayed', async () => {
  expect(told).toEqual(['a RUNNING', 'b RUNNING', 'c RUNNING'])
  expect(await toldWithin(INTERVAL_MS)).toEqual([])
  there.set('a', { state: 'FAILED' }).set('d', { state: 'RUNNING' }).delete('b')
  expect(await toldWithin(INTERVAL_MS)).toEqual(['a FAILED', 'b gone', 'd RUNNING'])
})

it('takes one answer that is missing for no outage, and knows what it knew', async () => {
  failure = new Error('no answer')
  expect(await toldWithin(INTERVAL_MS)).toEqual([])
  failure = undefined
  there.set('c', { state: 'PAUSED' })
  expect(await toldWithin(5_000)).toEqual(['c PAUSED'])
  expect(outages).toEqual([])
})

it('tells once of an outage, and of its end', async () => {
  expect(observer.isObserved).toBe(true)
  failure = new Error('no answer')
  await clock.advance(INTERVAL_MS + 4_999)
  expect(observer.isObserved).toBe(true)
  await clock.advance(60_000)
  expect(outages).toEqual([false])
  failure = undefined
  await clock.advance(5_000)
  expect(outages).toEqual([false, true])
  expect(observer.lagMs).toBeLessThan(5_000)
})

it('leaves the end of an outage to whoever let it ask nobody', async () => {
  failure = new Error('no answer')
  await clock.advance(INTERVAL_MS + 5_000)
  expect(outages).toEqual([false])
  failure = new CircuitOpenError('no answer')
  await clock.advance(INTERVAL_MS)
  failure = undefined
  there.set('a', { state: 'FAILED' })
  expect(await toldWithin(INTERVAL_MS)).toEqual(['a FAILED'])
  expect(outages).toEqual([false])
})
