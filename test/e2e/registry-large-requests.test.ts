import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { expensiveRequests } from '../support/hostile-requests.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

/** Maximum CPU time of one turn of the event loop. CPU time does not depend on other processes of this machine. */
const TURN_MS_MAX = 100
/** Maximum latency of a small request. This process contributes to it, because it sends bodies of 10 MB. */
const WAIT_MS_MAX = 3_000
const GROWTH_MEGABYTES_MAX = 400
const LONGEST_TURN = new URL('../support/event-loop-turns.ts', import.meta.url).href

it('a registry serves other requests while it processes large and expensive ones, in bounded memory', {
  timeout: 180_000,
}, async () => {
  const registry = await startRegistryProcess(['--data', temporaryDirectory()], {}, ['--import', LONGEST_TURN])
  onTestFinished(() => registry.kill())
  await loadFormats(registry)
  // Created in advance, so that their creation does not delay other requests.
  const requests = expensiveRequests().map(([line, body]) => ({
    line,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }))
  const beforeMegabytes = residentMegabytes(registry)
  const statuses: number[] = []
  let maxMegabytes = 0
  process.kill(pidOf(registry), 'SIGUSR2')
  const waitMs = await longestWait(registry, async () => {
    for (const { line, body } of requests) {
      statuses.push(await send(registry, line, body))
      maxMegabytes = Math.max(maxMegabytes, residentMegabytes(registry))
    }
  })
  expect(statuses.filter((status) => status >= 500 || status === 413)).toEqual([])
  const turnMs = await longestTurnMs(registry)
  expect(turnMs).toBeLessThan(TURN_MS_MAX)
  // Reading a body of 10 MB takes time, so a value close to 0 would mean that nothing was measured.
  expect(turnMs).toBeGreaterThan(1)
  expect(waitMs).toBeLessThan(WAIT_MS_MAX)
  expect(maxMegabytes - beforeMegabytes).toBeLessThan(GROWTH_MEGABYTES_MAX)
})

/** Registers one schema of each type, because the code of a type is loaded with its first schema. */
async function loadFormats(registry: RegistryProcess): Promise<void> {
  for (const [schemaType, schema] of Object.entries({ AVRO: '"int"', JSON: '{}', PROTOBUF: 'message M {}' })) {
    const status = await send(registry, `POST /subjects/${schemaType}/versions`, JSON.stringify({ schemaType, schema }))
    expect(status).toBe(200)
  }
}

async function send({ url }: RegistryProcess, line: string, body: string | Buffer): Promise<number> {
  const [method = '', path = ''] = line.split(' ')
  const response = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body })
  await response.arrayBuffer()
  return response.status
}

async function longestTurnMs(registry: RegistryProcess): Promise<number> {
  process.kill(pidOf(registry), 'SIGUSR2')
  const file = join(registry.directory, 'longest-turn')
  const isWritten = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
  await until('the longest turn to be written', { everyMs: 5, timeoutMs: 60_000 }, isWritten)
  return Number(readFileSync(file, 'utf8'))
}

/** Sends small requests during `during`, and returns the longest latency. */
async function longestWait({ url }: RegistryProcess, during: () => Promise<void>): Promise<number> {
  let done = false
  let longestMs = 0
  const ask = async () => {
    while (!done) {
      const startMs = performance.now()
      await (await fetch(`${url}/schemas/types`)).text()
      longestMs = Math.max(longestMs, performance.now() - startMs)
    }
  }
  const asking = ask()
  await during()
  done = true
  await asking
  return longestMs
}

function pidOf({ pid = 0 }: RegistryProcess): number {
  return pid
}

function residentMegabytes(registry: RegistryProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pidOf(registry))], { encoding: 'utf8' })) / 1_024
}
