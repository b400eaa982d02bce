import { readFileSync } from 'node:fs'
import autocannon, { type Request } from 'autocannon'
import { cpuMs } from '../process.ts'

export type LoadTarget = {
  readonly url: string
  /** Process of the server; undefined if it is not on this machine. */
  readonly pid: number | undefined
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
/** Responses per second, the median of all rounds, and CPU time of the server for a response, the average of all rounds. */
export type MeasuredLoad = { readonly rate: number; readonly cpuUs: number | undefined }

/** Sends requests as fast as the server responds, one at a time per connection. Fails on a response other than 2xx. */
const { targets, connections, warmUpMs, durationMs, rounds } = JSON.parse(process.argv[2]!) as LoadTask
const loads = targets.map((target) => ({
  ...target,
  requests: JSON.parse(readFileSync(target.requestsFile, 'utf8')) as Request[],
  rates: [] as number[],
  responses: 0,
  cpuMs: 0,
}))
type TargetLoad = (typeof loads)[number]

for (const load of loads) await send(load, warmUpMs)
for (let round = 0; round < rounds; round++) {
  // The order alternates, so that no target is always measured after the same one.
  for (const load of round % 2 ? loads.toReversed() : loads) await measure(load)
}
const measured = loads.map(({ rates, cpuMs, responses, pid }) => ({
  rate: rates.toSorted((left, right) => left - right)[rates.length >> 1]!,
  cpuUs: pid === undefined ? undefined : (1_000 * cpuMs) / responses,
}))
console.log(JSON.stringify(measured satisfies MeasuredLoad[]))

async function measure(load: TargetLoad): Promise<void> {
  const { pid } = load
  const beforeMs = pid === undefined ? 0 : await cpuMs(pid)
  const { responses, seconds } = await send(load, durationMs)
  load.cpuMs += pid === undefined ? 0 : (await cpuMs(pid)) - beforeMs
  load.responses += responses
  load.rates.push(responses / seconds)
}

async function send({ url, requests }: TargetLoad, ms: number) {
  const result = await autocannon({ url, connections, duration: ms / 1_000, requests })
  if (result.non2xx + result.errors + result.timeouts > 0) {
    throw new Error(
      `${url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed, ${result.timeouts} timed out`,
    )
  }
  return { responses: result['2xx'], seconds: result.duration }
}
