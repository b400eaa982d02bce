import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { defineSink, defineSource, STRING, struct, z } from '../../../src/sdk/index.ts'
import { startTask } from '../../support/task.ts'
import { openTestBroker } from '../../support/topic.ts'

const BASE = { version: '1', summary: 'Own.', config: z.object({}) }

const source = defineSource({
  ...BASE,
  class: 'OwnSource',
  async *poll() {
    const value = { topic: 'lines', value: { a: 'b' }, valueSchema: struct('row', { a: STRING }) }
    yield [{ ...value, sourcePartition: {}, sourceOffset: { row: 1 } }]
  },
})

const puts: number[] = []
const sink = defineSink({
  ...BASE,
  class: 'OwnSink',
  start: () => ({ put: (records) => void puts.push(records.length) }),
})

it.each([
  ['source', source, {}],
  ['sink', sink, { topics: 'lines' }],
] as const)('a %s task stops while its schema registry does not respond', async (_, plugin, config) => {
  const asked = Promise.withResolvers<void>()
  const registry = createServer(() => asked.resolve())
  onTestFinished(() => {
    registry.closeAllConnections()
    registry.close()
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  const { port } = registry.address() as AddressInfo
  const broker = await openTestBroker('lines')
  const producer = await broker.producer()
  await producer.send([{ topic: 'lines', key: null, value: Buffer.from([0, 0, 0, 0, 1, 2, 98]) }])
  const avro = { 'value.converter': 'AvroConverter', 'value.converter.schema.registry.url': `http://127.0.0.1:${port}` }
  const task = startTask(broker, plugin, { ...avro, ...config })
  await asked.promise
  await task.stop()
  expect(task.said).toEqual([{ type: 'running' }])
  expect(task.counters.recordsOut).toBe(0)
  expect(puts).toEqual([])
})
