import { execFileSync } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { monsters } from '../support/fuzz.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** 100 ms on a machine of its own; other suites run beside this one. */
const WAIT_MS_MAX = 1_000
const GROWTH_MEGABYTES_MAX = 400

it('answers others while it reads the largest and the worst, in bounded memory', { timeout: 180_000 }, async () => {
  const registry = await startRegistryProcess(['--data', temporaryDirectory()], {})
  onTestFinished(() => registry.kill())
  // Made before, so that making them holds nobody up.
  const requests = monsters().map(([line, body]) => {
    const [method = '', path = ''] = line.split(' ')
    return { method, path, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
  })
  const beforeMegabytes = residentMegabytes(registry)
  const statuses: number[] = []
  let mostMegabytes = 0
  const waitMs = await longestWait(registry, async () => {
    for (const { method, path, body } of requests) {
      const headers = { 'content-type': 'application/json' }
      statuses.push((await fetch(registry.url + path, { method, headers, body })).status)
      mostMegabytes = Math.max(mostMegabytes, residentMegabytes(registry))
    }
  })
  expect(statuses.filter((status) => status >= 500 || status === 413)).toEqual([])
  expect(waitMs).toBeLessThan(WAIT_MS_MAX)
  expect(mostMegabytes - beforeMegabytes).toBeLessThan(GROWTH_MEGABYTES_MAX)
})

/** Asks all the while for something small; gives the longest it had to wait. */
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

function residentMegabytes({ pid }: RegistryProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024
}
