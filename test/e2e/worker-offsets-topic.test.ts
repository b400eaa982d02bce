import { expect, it } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { readRecords } from '../support/topic.ts'
import { startTestWorker } from '../support/worker.ts'

const OWN = { 'offsets.storage.topic': 'own-offsets' }

it('serves tasks and the REST API from the offsets topic of the connector', async () => {
  const { url, broker } = await startTestWorker({ 'offset.flush.interval.ms': '20', 'offset.storage.partitions': '1' })
  const client = createWorkerClient({ url })
  const config = { 'connector.class': 'Datagen', 'kafka.topic': 't', iterations: '5', 'max.interval': '0', ...OWN }
  await client.create('c', config)
  const offset = async () => (await client.offsets('c'))[0]?.offset?.['current.iteration']
  await expect.poll(offset).toBe(5)
  const last = (await readRecords(broker, 'own-offsets')).at(-1)
  expect(JSON.parse(String(last?.value))).toMatchObject({ 'current.iteration': 5 })
  await client.putConfig('c', { ...config, iterations: '8' })
  await expect.poll(offset).toBe(8)
  expect(await readRecords(broker, 't')).toHaveLength(8)
  await client.stop('c')
  // Accepted when the task has ended, which commits its offsets once more.
  await client.resetOffsets('c')
  expect(await client.offsets('c')).toEqual([])
})
