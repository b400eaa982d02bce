import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkCommand } from '../../../src/cli/commands/check.ts'
import { diffCommand } from '../../../src/cli/commands/diff.ts'
import { generateCommand } from '../../../src/cli/commands/generate.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { startTestWorker } from '../../support/worker.ts'

const CONFIG = { 'connector.class': 'FileStreamSource', topic: 't', 'tasks.max': '1' }
const manifest = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name }, spec })

beforeAll(() => {
  const writes = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
  for (const write of writes) write.mockReturnValue(true)
  return () => {
    for (const write of writes) write.mockRestore()
  }
})

/** Starts a proxy that responds to this number of requests. Then it closes each connection without a response. */
async function dyingAfter(requests: number, target: string) {
  let count = 0
  const server = createServer((incoming, response) => {
    count += 1
    if (count > requests) return void incoming.socket.destroy()
    const { method, url = '/', headers } = incoming
    const forwarded = request(new URL(url, target), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(response)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count }
}

/** A registry and a worker with two objects each. */
async function startRuntimes() {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const worker = await startTestWorker()
  const [schemas, connectors] = [createRegistryClient(registry), createWorkerClient(worker)]
  for (const name of ['a', 'b']) {
    await schemas.register(name, { schema: '"int"' })
    await connectors.create(name, CONFIG, 'STOPPED')
  }
  return { registry, worker }
}

describe('a runtime that dies while it is read', () => {
  it('makes weir diff and weir check undecided, whichever request it does not respond to', {
    tags: ['slow'],
  }, async () => {
    const { registry, worker } = await startRuntimes()
    const root = temporaryDirectory()
    for (const name of ['a', 'b']) {
      const adoptionPolicy = 'AdoptIfIdentical'
      writeFileSync(join(root, `s-${name}.json`), manifest('Subject', name, { schema: '"int"', adoptionPolicy }))
      const spec = { class: CONFIG['connector.class'], config: { topic: 't' }, state: 'Stopped', adoptionPolicy }
      writeFileSync(join(root, `c-${name}.json`), manifest('Connector', name, spec))
    }
    for (const command of [diffCommand, checkCommand]) {
      for (const dying of ['registry', 'worker']) {
        const run = async (requests: number) => {
          const { url, count } = await dyingAfter(requests, dying === 'registry' ? registry.url : worker.url)
          const urls = { registry: registry.url, worker: worker.url, [dying]: url }
          const code = await command.run([root, '--registry', urls.registry, '--worker', urls.worker])
          return { code, count: count() }
        }
        const { code, count } = await run(Number.POSITIVE_INFINITY)
        expect([code, count > 3]).toEqual([0, true])
        for (let requests = 0; requests < count; requests++) {
          expect({ dying, requests, code: (await run(requests)).code }).toEqual({ dying, requests, code: 3 })
        }
      }
    }
  })

  it('makes weir generate undecided, and no manifest is written', { tags: ['slow'] }, async () => {
    const { worker } = await startRuntimes()
    for (let requests = 0; requests < 5; requests++) {
      const root = temporaryDirectory()
      const { url } = await dyingAfter(requests, worker.url)
      expect([await generateCommand.run([root, '--worker', url]), readdirSync(root)]).toEqual([3, []])
    }
  })
})

describe('weir check', () => {
  it('never accepts a JSON manifest of which only a part was written', async () => {
    const root = temporaryDirectory()
    writeFileSync(join(root, 'complete.json'), manifest('Subject', 'complete', { schema: '"int"' }))
    const text = manifest('Subject', 'order', { schema: '{"type":"int"}', compatibility: 'FULL' })
    const partial = Array.from({ length: text.length - 1 }, (_, index) => `partial-${index + 1}.json`)
    for (const [index, name] of partial.entries()) writeFileSync(join(root, name), text.slice(0, index + 1))
    expect(await checkCommand.run([root, '--output', 'json'])).toBe(1)
    const { findings } = JSON.parse(String(vi.mocked(process.stdout.write).mock.lastCall?.[0])) as {
      findings: readonly { severity: string; file: string }[]
    }
    const errors = findings.filter(({ severity }) => severity === 'error')
    expect(new Set(errors.map(({ file }) => basename(file)))).toEqual(new Set(partial))
  })

  it('never accepts a YAML manifest that ends within a value', async () => {
    const root = temporaryDirectory()
    const head = `apiVersion: ${API_VERSION}\nkind: Subject\nmetadata:\n  name: order\nspec:\n`
    for (const partial of [
      '  schema: "\\"in',
      '  schema: \'"int',
      '  references: [{name: a',
      '  schema: |\n   x\n  y',
      '  schemaFrom',
    ]) {
      writeFileSync(join(root, 'partial.yaml'), head + partial)
      expect({ partial, code: await checkCommand.run([root]) }).toEqual({ partial, code: 1 })
    }
  })
})
