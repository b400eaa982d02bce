import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../env/ports.ts'
import { startServer } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds } from './cli.ts'
import { until } from './until.ts'

/**
 * Maximum p99 latency of another client during an attack, in addition to that of an idle server. With another test
 * suite on two cores, the machine itself adds hundreds of milliseconds; on idle cores, use `WEIR_ATTACK_P99_MS=100`.
 */
export const P99_MS_MAX = Number(process.env['WEIR_ATTACK_P99_MS'] ?? 1_000)

/** Latency of requests. A failed request counts as infinite. */
export type Latency = { readonly p99Ms: number; readonly maxMs: number; readonly count: number }

const EVERY_MS = 20
const TIMEOUT_MS = 20_000

/** Starts a minimal server in another process. Its latency is the baseline of this machine during an attack. */
export async function startControlServer(): Promise<{
  readonly url: string
  kill(): Promise<void>
}> {
  const port = await freePort()
  const code = `require('node:http').createServer((_, answer) => answer.end('{}')).listen(${port}, '127.0.0.1')`
  const directory = partDirectory('control')
  const server = startServer({ file: process.execPath, args: ['--eval', code], directory }, join(directory, 'log'))
  const url = `http://127.0.0.1:${port}/`
  await until('the control server', { everyMs: 25, timeoutMs: 60_000 }, () => responds(url))
  return { url, kill: () => server.kill() }
}

/** Measures the latency of each URL with sequential requests until `work` is done. */
export async function latencyWhile(urls: readonly string[], work: () => Promise<void>): Promise<readonly Latency[]> {
  const over = new AbortController()
  const measured = urls.map((url) => measure(url, over.signal))
  try {
    await work()
  } finally {
    over.abort()
  }
  return Promise.all(measured)
}

async function measure(url: string, signal: AbortSignal): Promise<Latency> {
  const agent = new Agent({ keepAlive: true })
  const took: number[] = []
  while (!signal.aborted) {
    const beganMs = performance.now()
    const isAnswered = await ask(url, agent)
    took.push(isAnswered ? performance.now() - beganMs : Number.POSITIVE_INFINITY)
    await sleep(EVERY_MS)
  }
  agent.destroy()
  took.sort((a, b) => a - b)
  return { p99Ms: took[Math.floor(took.length * 0.99)] ?? 0, maxMs: took.at(-1) ?? 0, count: took.length }
}

async function ask(url: string, agent: Agent): Promise<boolean> {
  const request = get(url, { agent, timeout: TIMEOUT_MS })
  request.on('timeout', () => request.destroy(new Error('timeout')))
  try {
    const [answer] = await once(request, 'response')
    await once(answer.resume(), 'end')
    return answer.statusCode === 200
  } catch {
    return false
  }
}
