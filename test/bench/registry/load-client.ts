import { readFileSync } from 'node:fs'
import autocannon, { type Request } from 'autocannon'

export type LoadTask = {
  readonly url: string
  /** A file with what is asked in turn, as JSON. */
  readonly requestsFile: string
  readonly connections: number
  readonly warmUpMs: number
  readonly durationMs: number
}
export type Call = Required<Pick<Request, 'method' | 'path'>> & Pick<Request, 'body' | 'headers'>
/** Answered requests a second. */
export type LoadResult = { readonly rate: number }

/** Asks as fast as the server answers, each connection one request at a time. Every answer has to be a 2xx. */
const { url, requestsFile, connections, warmUpMs, durationMs } = JSON.parse(process.argv[2]!) as LoadTask
const requests = JSON.parse(readFileSync(requestsFile, 'utf8')) as Request[]
const load = (ms: number) => autocannon({ url, connections, duration: ms / 1_000, requests })
await load(warmUpMs)
const result = await load(durationMs)
if (result.non2xx + result.errors + result.timeouts > 0) {
  throw new Error(`${url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed, ${result.timeouts} timed out`)
}
console.log(JSON.stringify({ rate: result['2xx'] / result.duration } satisfies LoadResult))
