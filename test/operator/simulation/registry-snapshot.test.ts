import { describe, expect, it, onTestFinished } from 'vitest'
import { collectArchive } from '../../../src/cli/archive/collect-archive.ts'
import { RequestError } from '../../../src/clients/http-client.ts'
import { createRegistryClient, type NewSchema } from '../../../src/clients/registry-client.ts'
import type { RegistryReader } from '../../../src/operator/simulation/registry-overlay.ts'
import { RegistrySnapshot } from '../../../src/operator/simulation/registry-snapshot.ts'
import { startTestRegistry } from '../../support/registry.ts'

const record = (name: string, ...fields: readonly object[]) => JSON.stringify({ type: 'record', name, fields })
const A = { name: 'a', type: 'int' }

const REFERRING: NewSchema = {
  schema: record('Payment', { name: 'o', type: 'Order' }),
  references: [{ name: 'Order', subject: 'base', version: 1 }],
}

/** What a read returns, or the codes of its error. */
async function answer(read: Promise<unknown>): Promise<unknown> {
  try {
    return await read
  } catch (error) {
    if (error instanceof RequestError) return { status: error.status, errorCode: error.errorCode }
    throw error
  }
}

const SCHEMAS: readonly NewSchema[] = [
  { schema: record('Order', A) },
  { schema: record('Order', A, { ...A, name: 'b', default: 1 }) },
  { schema: ' { "type": "record", "fields": [ {"type":"int","name":"a"} ], "name": "Order" } ' },
  { schema: record('Other', A) },
  { schema: '{not a schema' },
  { schema: '{"type":"object"}', schemaType: 'JSON' },
  { schema: record('Order', A), metadata: { properties: { owner: 'me' } } },
]

describe('a snapshot of a registry', () => {
  it('answers reads as the registry whose content it has', { tags: ['slow'] }, async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const client = createRegistryClient({ url: registry.url })
    await client.putConfig({ compatibility: 'FORWARD' })
    await client.register('base', { schema: record('Order', A) })
    await client.register('order', SCHEMAS[0]!)
    await client.register('order', SCHEMAS[1]!)
    await client.register('deleted', { schema: '"int"' })
    await client.deleteSubject('deleted')
    await client.register(':.legacy:order', { schema: '"long"' })
    await client.putConfig({ compatibility: 'FULL' }, 'order')
    await client.putConfig({ compatibility: 'NONE' }, ':.legacy:')
    await client.putMode('READONLY', ':.legacy:')
    await client.putMode('READONLY', 'deleted')
    await client.register('refers', REFERRING)
    const snapshot = new RegistrySnapshot(await collectArchive(client, { deleted: true }))

    const names = [
      'order',
      'deleted',
      'refers',
      'unknown',
      ':.legacy:order',
      ':.legacy:unknown',
      ':.legacy:',
      undefined,
    ]
    const subjects = names.filter((name) => name !== undefined)
    const reads: readonly (readonly [string, (one: RegistryReader) => Promise<unknown>])[] = [
      ...names.flatMap((name) =>
        [true, false].flatMap((effective) => [
          [`mode ${name} ${effective}`, (one: RegistryReader) => one.mode(name, { effective })] as const,
          [
            `level ${name} ${effective}`,
            async (one: RegistryReader) => (await one.config(name, { effective })).compatibility,
          ] as const,
        ]),
      ),
      ...subjects.flatMap((name) =>
        [true, false].flatMap((deleted) => [
          [`versions ${name} ${deleted}`, (one: RegistryReader) => one.versions(name, { deleted })] as const,
          ...SCHEMAS.map(
            (schema, at) =>
              [
                `lookup ${name} ${at} ${deleted}`,
                async (one: RegistryReader) => {
                  const { id, version } = await one.lookup(name, schema, { deleted })
                  return { id, version }
                },
              ] as const,
          ),
        ]),
      ),
      ...['', ':.legacy:', ':*:'].map(
        (prefix) =>
          [`subjects ${prefix}`, async (one: RegistryReader) => [...(await one.subjects({ prefix }))].sort()] as const,
      ),
      ['lookup by reference', async (one) => (await one.lookup('refers', REFERRING)).version],
      ['version 1', async (one) => (await one.version('order', 1)).schema],
      ['version 9', (one) => one.version('order', 9)],
      ['latest', async (one) => (await one.version('order', 'latest')).version],
    ]
    const answersOf = async (one: RegistryReader) =>
      Object.fromEntries(await Promise.all(reads.map(async ([what, read]) => [what, await answer(read(one))] as const)))
    expect(await answersOf(snapshot)).toEqual(await answersOf(client))
  })
})
