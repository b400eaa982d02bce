import { expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createDeserializer, createSerializer } from '../../src/serde/serde.ts'
import { startTestRegistry } from '../support/registry.ts'

const record = (name: string, type: string) =>
  JSON.stringify({ type: 'record', name, fields: [{ name: 'field', type }] })

it('references without a context are in the context of the schema that has them', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const endpoint = { url: registry.url }
  const client = createRegistryClient(endpoint)
  await client.register('base', { schema: record('Base', 'int') })
  await client.register(':.ctx:base', { schema: record('Base', 'string') })
  const base = [{ name: 'Base', subject: 'base', version: 1 }]
  await client.register(':.ctx:order', { schema: record('Order', 'Base'), references: base })
  const order = [{ name: 'Order', subject: ':.ctx:order', version: 1 }]
  await client.register('outer', { schema: record('Outer', 'Order'), references: order })
  const written = (subject: string, value: object) =>
    createSerializer({ registry: endpoint, policy: 'use-latest', subjectName: () => subject }).serialize('t', value)
  expect((await written(':.ctx:order', { field: { field: 'text' } }))?.toString('hex')).toMatch(/0874657874$/)
  const value = { field: { field: { field: 'text' } } }
  expect(await createDeserializer({ registry: endpoint }).deserialize(await written('outer', value))).toEqual(value)
})
