import { readFileSync } from 'node:fs'
import autocannon, { type Request } from 'autocannon'

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
/** Responses per second of each target: the median of its rounds. */
export type LoadResult = { readonly rates: readonly number[] }

/** Sends requests as fast as the server responds, one at a time per connection. Fails on a response other than 2xx. */
const { targets, connections, warmUpMs, durationMs, rounds } = JSON.parse(process.argv[2]!) as LoadTask
const loads = targets.map(({ url, requestsFile }) => ({
  url,
  requests: JSON.parse(readFileSync(requestsFile, 'utf8')) as Request[],
  rates: [] as number[],
}))
for (const { url, requests } of loads) await rateOf(url, requests, warmUpMs)
for (let round = 0; round < rounds; round++) {
  // The order alternates, so that no target is always measured after the same one.
  for (const { url, requests, rates } of round % 2 ? loads.toReversed() : loads) {
    rates.push(await rateOf(url, requests, durationMs))
  }
}
console.log(JSON.stringify({ rates: loads.map(({ rates }) => median(rates)) } satisfies LoadResult))

async function rateOf(url: string, requests: Request[], ms: number): Promise<number> {
  const result = await autocannon({ url, connections, duration: ms / 1_000, requests })
  if (result.non2xx + result.errors + result.timeouts > 0) {
    throw new Error(
      `${url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed, ${result.timeouts} timed out`,
    )
  }
  return result['2xx'] / result.duration
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1]!
}
