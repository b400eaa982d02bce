import { readFileSync } from 'node:fs'
import autocannon, { type Request } from 'autocannon'
import { median } from '../figures.ts'

export type LoadTarget = {
  readonly url: string
  /** A JSON file with the requests, which are sent in turn. */
  readonly requestsFile: string
}
export type LoadTask = {
  readonly targets: readonly LoadTarget[]
  readonly connections: number
  readonly warmUpMs: number
  /** Duration of one round of a target. */
  readonly durationMs: number
  /** The targets are measured in turn this many times, so that other load of the machine affects all of them. */
  readonly rounds: number
}
export type Call = Required<Pick<Request, 'method' | 'path'>> & Pick<Request, 'body' | 'headers'>
/** Responses per second and 99th percentile of the latency: the medians of all rounds. */
export type MeasuredLoad = { readonly rate: number; readonly p99Ms: number }

/** autocannon counts whole milliseconds. */
const LATENCY_MS_MIN = 1

/**
 * Sends requests as fast as the server responds, one at a time per connection. Fails on a response other than 2xx. The
 * certificate of the server is not verified.
 */
const { targets, connections, warmUpMs, durationMs, rounds } = JSON.parse(process.argv[2]!) as LoadTask
const loads = targets.map((target) => ({
  ...target,
  requests: JSON.parse(readFileSync(target.requestsFile, 'utf8')) as Request[],
  rates: [] as number[],
  p99Ms: [] as number[],
}))
type TargetLoad = (typeof loads)[number]

for (const load of loads) await send(load, warmUpMs)
for (let round = 0; round < rounds; round++) {
  // The order alternates, so that no target is always measured after the same one.
  for (const load of round % 2 ? loads.toReversed() : loads) await measure(load)
}
const measured = loads.map(({ rates, p99Ms }) => ({ rate: median(rates), p99Ms: median(p99Ms) }))
console.log(JSON.stringify(measured satisfies MeasuredLoad[]))

async function measure(load: TargetLoad): Promise<void> {
  const { rate, p99Ms } = await send(load, durationMs)
  load.rates.push(rate)
  load.p99Ms.push(p99Ms)
}

async function send({ url, requests }: TargetLoad, ms: number): Promise<MeasuredLoad> {
  const result = await autocannon({ url, connections, duration: ms / 1_000, requests })
  if (result.non2xx + result.errors + result.timeouts > 0) {
    throw new Error(
      `${url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed, ${result.timeouts} timed out`,
    )
  }
  return { rate: result['2xx'] / result.duration, p99Ms: Math.max(LATENCY_MS_MIN, result.latency.p99) }
}
