import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { type HttpResponse, RequestError } from '../../../src/clients/http-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { CircuitBreaker, CircuitOpenError } from '../../../src/operator/controller/circuit-breaker.ts'
import { NotLeaderError } from '../../../src/operator/controller/leader-fence.ts'
import { FakeClock } from '../../support/fake-clock.ts'

let clock: FakeClock
let ended: AbortController
let circuit: CircuitBreaker
/** The responses of the runtime to calls and to probes. */
let responses: { calls: number | Error; probes: number | Error }
let requests: { calls: number; probes: number[] }
let changes: number

const REFUSED = new RequestError(0, 0, 'connect ECONNREFUSED')

beforeEach(() => {
  clock = new FakeClock()
  ended = new AbortController()
  onTestFinished(() => ended.abort())
  responses = { calls: 200, probes: REFUSED }
  requests = { calls: 0, probes: [] }
  changes = 0
  circuit = new CircuitBreaker({
    clock,
    logger: silentLogger(),
    signal: ended.signal,
    onChange: () => changes++,
    probe(attempt) {
      requests.probes.push(clock.monotonicMs())
      return attempt(() => answer(responses.probes))
    },
  })
})

async function answer(what: number | Error): Promise<HttpResponse> {
  if (typeof what !== 'number') throw what
  return { status: what } as HttpResponse
}

/** The outcomes of consecutive calls: the status or the error. */
async function callOften(times: number): Promise<readonly unknown[]> {
  const outcomes: unknown[] = []
  for (let at = 0; at < times; at++) {
    const send = () => {
      requests.calls++
      return answer(responses.calls)
    }
    outcomes.push(
      await circuit.execute(send).then(
        ({ status }) => status,
        (error: unknown) => error,
      ),
    )
  }
  return outcomes
}

const circuitOpen = expect.any(CircuitOpenError)

it('rejects calls after five consecutive failures until a probe succeeds', async () => {
  responses.calls = REFUSED
  expect(await callOften(7)).toEqual([...Array(5).fill(REFUSED), circuitOpen, circuitOpen])
  expect(requests.calls).toBe(5)
  expect(changes).toBe(1)
  await clock.advance(60_000)
  expect(requests.probes).toEqual([1_000, 3_000, 7_000, 15_000, 30_000, 45_000, 60_000])
  responses = { calls: 200, probes: 404 }
  expect(await callOften(1)).toEqual([circuitOpen])
  await clock.advance(15_000)
  expect(await callOften(2)).toEqual([200, 200])
  expect(changes).toBe(2)
  await clock.advance(60_000)
  expect(requests.probes).toHaveLength(8)
})

it.each([502, 503, 504])('counts HTTP %i, which proxies send, as a failure', async (status) => {
  responses.calls = status
  expect(await callOften(6)).toEqual([...Array(5).fill(status), circuitOpen])
})

it.each([
  ['server errors of the runtime', 500],
  ['client errors', 404],
  ['calls that were not sent', new NotLeaderError()],
])('does not open for %s', async (_, end) => {
  responses.calls = end
  expect(await callOften(20)).toEqual(Array(20).fill(end))
  expect(changes).toBe(0)
})

it('does not open for failures that are not consecutive', async () => {
  for (let at = 0; at < 5; at++) {
    responses.calls = REFUSED
    await callOften(4)
    responses.calls = 200
    expect(await callOften(1)).toEqual([200])
  }
  expect(changes).toBe(0)
})

it('closes with growing pauses while only probes succeed, and soon again after a successful call', async () => {
  responses = { calls: 503, probes: 200 }
  const pauses: number[] = []
  for (let at = 0; at < 6; at++) {
    await callOften(5)
    const openedMs = clock.monotonicMs()
    await clock.advance(15_000)
    pauses.push((requests.probes.at(-1) ?? 0) - openedMs)
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  responses.calls = 200
  await callOften(1)
  responses.calls = 503
  await callOften(5)
  const openedMs = clock.monotonicMs()
  await clock.advance(15_000)
  expect((requests.probes.at(-1) ?? 0) - openedMs).toBe(1_000)
})

it('stops probing when its signal aborts', async () => {
  responses.calls = REFUSED
  await callOften(5)
  ended.abort()
  await clock.advance(60_000)
  expect(requests.probes).toEqual([])
})
