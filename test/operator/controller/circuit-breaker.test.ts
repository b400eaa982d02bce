import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { type HttpResponse, RequestError } from '../../../src/clients/http.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { CircuitBreaker, CircuitOpenError } from '../../../src/operator/controller/circuit-breaker.ts'
import { NotLeaderError } from '../../../src/operator/controller/fence.ts'
import { FakeClock } from '../../support/fake-clock.ts'

let clock: FakeClock
let ended: AbortController
let circuit: CircuitBreaker
/** What the runtime says to calls, and what to probes. */
let said: { calls: number | Error; probes: number | Error }
let asked: { calls: number; probes: number[] }
let changes: number

const REFUSED = new RequestError(0, 0, 'connect ECONNREFUSED')

beforeEach(() => {
  clock = new FakeClock()
  ended = new AbortController()
  onTestFinished(() => ended.abort())
  said = { calls: 200, probes: REFUSED }
  asked = { calls: 0, probes: [] }
  changes = 0
  circuit = new CircuitBreaker({
    clock,
    logger: silentLogger(),
    signal: ended.signal,
    onChange: () => changes++,
    probe(attempt) {
      asked.probes.push(clock.monotonicMs())
      return attempt(() => answer(said.probes))
    },
  })
})

async function answer(what: number | Error): Promise<HttpResponse> {
  if (typeof what !== 'number') throw what
  return { status: what } as HttpResponse
}

/** How so many calls in a row ended: the status, or what was thrown. */
async function callOften(times: number): Promise<readonly unknown[]> {
  const ends: unknown[] = []
  for (let at = 0; at < times; at++) {
    const send = () => {
      asked.calls++
      return answer(said.calls)
    }
    ends.push(
      await circuit.execute(send).then(
        ({ status }) => status,
        (error: unknown) => error,
      ),
    )
  }
  return ends
}

const away = expect.any(CircuitOpenError)

it('rejects calls after five consecutive failures until a probe succeeds', async () => {
  said.calls = REFUSED
  expect(await callOften(7)).toEqual([...Array(5).fill(REFUSED), away, away])
  expect(asked.calls).toBe(5)
  expect(changes).toBe(1)
  await clock.advance(60_000)
  expect(asked.probes).toEqual([1_000, 3_000, 7_000, 15_000, 30_000, 45_000, 60_000])
  said = { calls: 200, probes: 404 }
  expect(await callOften(1)).toEqual([away])
  await clock.advance(15_000)
  expect(await callOften(2)).toEqual([200, 200])
  expect(changes).toBe(2)
  await clock.advance(60_000)
  expect(asked.probes).toHaveLength(8)
})

it.each([502, 503, 504])('counts HTTP %i, which proxies send, as a failure', async (status) => {
  said.calls = status
  expect(await callOften(6)).toEqual([...Array(5).fill(status), away])
})

it.each([
  ['server errors of the runtime', 500],
  ['client errors', 404],
  ['calls that were not sent', new NotLeaderError()],
])('does not open for %s', async (_, end) => {
  said.calls = end
  expect(await callOften(20)).toEqual(Array(20).fill(end))
  expect(changes).toBe(0)
})

it('does not open for failures that are not consecutive', async () => {
  for (let at = 0; at < 5; at++) {
    said.calls = REFUSED
    await callOften(4)
    said.calls = 200
    expect(await callOften(1)).toEqual([200])
  }
  expect(changes).toBe(0)
})

it('closes with growing pauses while only probes succeed, and soon again after a successful call', async () => {
  said = { calls: 503, probes: 200 }
  const pauses: number[] = []
  for (let at = 0; at < 6; at++) {
    await callOften(5)
    const openedMs = clock.monotonicMs()
    await clock.advance(15_000)
    pauses.push((asked.probes.at(-1) ?? 0) - openedMs)
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  said.calls = 200
  await callOften(1)
  said.calls = 503
  await callOften(5)
  const openedMs = clock.monotonicMs()
  await clock.advance(15_000)
  expect((asked.probes.at(-1) ?? 0) - openedMs).toBe(1_000)
})

it('stops probing when its signal aborts', async () => {
  said.calls = REFUSED
  await callOften(5)
  ended.abort()
  await clock.advance(60_000)
  expect(asked.probes).toEqual([])
})
