import { readFileSync } from 'node:fs'
import autocannon, { type Request } from 'autocannon'

export type LoadTask = {
  readonly url: string
  /** A JSON file with the requests, which are sent in turn. */
  readonly requestsFile: string
  readonly connections: number
  readonly warmUpMs: number
  readonly durationMs: number
}
export type Call = Required<Pick<Request, 'method' | 'path'>> & Pick<Request, 'body' | 'headers'>
/** Responses per second. */
export type LoadResult = { readonly rate: number }

/** Sends requests as fast as the server responds, one at a time per connection. Fails on a response other than 2xx. */
const { url, requestsFile, connections, warmUpMs, durationMs } = JSON.parse(process.argv[2]!) as LoadTask
const requests = JSON.parse(readFileSync(requestsFile, 'utf8')) as Request[]
const load = (ms: number) => autocannon({ url, connections, duration: ms / 1_000, requests })
await load(warmUpMs)
const result = await load(durationMs)
if (result.non2xx + result.errors + result.timeouts > 0) {
  throw new Error(`${url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed, ${result.timeouts} timed out`)
}
console.log(JSON.stringify({ rate: result['2xx'] / result.duration } satisfies LoadResult))
