import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { freePort } from '../env/ports.ts'
import { type Server, startServer } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds } from './cli.ts'
import { until } from './until.ts'

/**
 * Limit of what an attack may add to the latency of another client (p99, which is the slowest of fewer than 100 requests). The default
 * proves that nothing blocks the main thread, also on a slow machine that runs other tests: a blocked thread would not respond at all, or
 * not before the program ends the guilty task, which takes longer than this. `WEIR_ATTACK_P99_MS=100` is the limit on a machine with idle
 * cores.
 */
const ADDED_MS_MAX = Number(process.env['WEIR_ATTACK_P99_MS'] ?? 2_500)
/** Limit of the CPU time of one turn of the main thread. */
const TURN_MS_MAX = Number(process.env['WEIR_ATTACK_P99_MS'] ?? 1_000)
const REQUEST_TIMEOUT_MS = 60_000
const PAUSE_MS = 20

/** `nodeArgs` of a program whose turns `expectShortTurns` measures. */
export const MEASURING_TURNS = ['--import', new URL('event-loop-turns.ts', import.meta.url).href]

/** Expects that a program serves another client while `attack` runs. A server that does nothing else is the control. */
export async function expectServiceDuring(url: string, attack: () => Promise<unknown>, name = 'attack'): Promise<void> {
  const control = await startControlServer()
  const isOver = new AbortController()
  const measuring = Promise.allSettled([measure(url, isOver.signal), measure(control.url, isOver.signal)])
  try {
    await attack()
  } finally {
    isOver.abort()
    await measuring
    await control.server.kill()
  }
  const [ours, controls] = (await measuring).map(latenciesOf)
  const [p99Ms, controlP99Ms] = [p99(ours!), p99(controls!)]
  console.info(`${name}: ${ours!.length} requests, p99 ${p99Ms.toFixed(0)} ms, control ${controlP99Ms.toFixed(0)} ms`)
  expect(p99Ms, `p99 during ${name}; of the control server: ${controlP99Ms}`).toBeLessThan(
    ADDED_MS_MAX + 3 * controlP99Ms,
  )
}

function latenciesOf(result: PromiseSettledResult<readonly number[]>): readonly number[] {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

type MeasuredProgram = { readonly pid: number | undefined; readonly directory: string }

export function measureTurns({ pid }: MeasuredProgram): void {
  process.kill(pid!, 'SIGUSR2')
}

/** Expects that no turn of the event loop since `measureTurns` was long. */
export async function expectShortTurns({ pid, directory }: MeasuredProgram): Promise<void> {
  process.kill(pid!, 'SIGUSR2')
  const file = join(directory, 'longest-turn')
  const isWritten = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
  await until('the longest turn to be written', { everyMs: 20, timeoutMs: 120_000 }, isWritten)
  const turnMs = Number(readFileSync(file, 'utf8'))
  console.info(`longest turn: ${turnMs.toFixed(0)} ms of CPU time`)
  expect(turnMs).toBeLessThan(TURN_MS_MAX)
  // A value close to 0 would mean that nothing was measured.
  expect(turnMs).toBeGreaterThan(0.1)
}

async function startControlServer(): Promise<{ readonly url: string; readonly server: Server }> {
  const port = await freePort()
  const code = `require('node:http').createServer((_, answer) => answer.end('{}')).listen(${port}, '127.0.0.1')`
  const directory = partDirectory('control')
  const server = startServer({ file: process.execPath, args: ['--eval', code], directory }, join(directory, 'log'))
  const url = `http://127.0.0.1:${port}/`
  await until('the control server', { everyMs: 25, timeoutMs: 120_000 }, () => responds(url))
  return { url, server }
}

/** Sends one request after the other, and returns their latencies. Rejects when one of them is not answered. */
async function measure(url: string, signal: AbortSignal): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true })
  const latenciesMs: number[] = []
  try {
    do {
      const startMs = performance.now()
      await request(url, agent)
      latenciesMs.push(performance.now() - startMs)
      await sleep(PAUSE_MS)
    } while (!signal.aborted)
  } finally {
    agent.destroy()
  }
  return latenciesMs
}

async function request(url: string, agent: Agent): Promise<void> {
  const sent = get(url, { agent, timeout: REQUEST_TIMEOUT_MS })
  sent.on('timeout', () => sent.destroy(new Error(`no response from ${url} within ${REQUEST_TIMEOUT_MS} ms`)))
  try {
    const [response] = await once(sent, 'response')
    await once(response.resume(), 'end')
    expect(response.statusCode).toBe(200)
  } catch (error) {
    // The server may close an idle connection at the moment in which it is used again.
    if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    await request(url, agent)
  }
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0
}
