import { execFileSync } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { expensiveRequests } from '../support/hostile-requests.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'
import { expectServiceDuring, expectShortTurns, MEASURING_TURNS, measureTurns } from '../support/service-during.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const GROWTH_MEGABYTES_MAX = 400

it('a registry serves other requests while it processes large and expensive ones, in bounded memory', async () => {
  const registry = await startRegistryProcess(['--data', temporaryDirectory()], {}, MEASURING_TURNS)
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
  measureTurns(registry)
  await expectServiceDuring(`${registry.url}/schemas/types`, async () => {
    for (const { line, body } of requests) {
      statuses.push(await send(registry, line, body))
      maxMegabytes = Math.max(maxMegabytes, residentMegabytes(registry))
    }
  })
  expect(statuses.filter((status) => status >= 500 || status === 413)).toEqual([])
  await expectShortTurns(registry)
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

function residentMegabytes(registry: RegistryProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(registry.pid)], { encoding: 'utf8' })) / 1_024
}
