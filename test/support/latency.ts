import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../env/ports.ts'
import { startServer } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { answers } from './cli.ts'
import { until } from './until.ts'

/**
 * How much longer than at a server that does nothing else another client may wait during an attack. Beside another suite on
 * two cores the machine itself takes hundreds of milliseconds; `WEIR_ATTACK_P99_MS=100` holds the promise on idle cores.
 */
export const P99_MS_MAX = Number(process.env['WEIR_ATTACK_P99_MS'] ?? 1_000)

/** How long requests took; a request that failed took for ever. */
export type Latency = { readonly p99Ms: number; readonly maxMs: number; readonly count: number }

const EVERY_MS = 20
const TIMEOUT_MS = 20_000

/** A bare server in a process of its own: how long an answer takes on this machine at this time, whoever is attacked. */
export async function startControlServer(): Promise<{
  readonly url: string
  kill(): Promise<void>
}> {
  const port = await freePort()
  const code = `require('node:http').createServer((_, answer) => answer.end('{}')).listen(${port}, '127.0.0.1')`
  const directory = partDirectory('control')
  const server = startServer({ file: process.execPath, args: ['--eval', code], directory }, join(directory, 'log'))
  const url = `http://127.0.0.1:${port}/`
  await until('the control server', { everyMs: 25, timeoutMs: 60_000 }, () => answers(url))
  return { url, kill: () => server.kill() }
}

/** Asks each of these again and again, one request at a time, while `work` goes on. */
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
