import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { connectThreadBackend, serveBackend } from '../../../src/broker/embedded/thread-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { batchOf, recordsOf } from './batch.ts'

let owner: BrokerBackend
let linked: BrokerBackend

beforeEach(async () => {
  owner = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  const { port1, port2 } = new MessageChannel()
  serveBackend(owner, port1)
  linked = connectThreadBackend(port2)
})
afterEach(async () => {
  await linked.close()
  await owner.close()
})

it('returns the results of the backend that it is connected to', async () => {
  expect(await linked.clusterId()).toBe(await owner.clusterId())
  expect(await linked.createTopic({ name: 't' })).toBe(true)
  expect(await linked.createTopic({ name: 't' })).toBe(false)
})

it('transfers bytes in both directions and does not detach the buffers of the caller', async () => {
  await linked.createTopic({ name: 't' })
  const bytes = batchOf(['a', 'b'])
  await linked.produce({ node: 0, batches: [{ topic: 't', partition: 0, bytes }], timeoutMs: 1000 })
  expect(bytes.length).toBeGreaterThan(61)
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  const [fetched] = await linked.fetch({ ...request, partitions: [{ topic: 't', partition: 0, offset: 0 }] })
  expect(recordsOf(fetched!.bytes).map(({ value }) => value)).toEqual(['a', 'b'])
})

it('preserves the code and the message of an error', async () => {
  const here = await owner.deleteTopic({ topic: 'nope' }).catch((error: unknown) => error)
  const there = await linked.deleteTopic({ topic: 'nope' }).catch((error: unknown) => error)
  expect(there).toBeInstanceOf(BrokerError)
  expect(there).toMatchObject({ code: 'topic_not_found', message: (here as Error).message })
})

it('rejects pending and later calls with `closed` when the other thread closes the port', async () => {
  const { port1, port2 } = new MessageChannel()
  const alone = connectThreadBackend(port2)
  const waiting = alone.clusterId()
  port1.close()
  await expect(waiting).rejects.toMatchObject({ code: 'closed' })
  await expect(alone.clusterId()).rejects.toMatchObject({ code: 'closed' })
})

it('answers thousands of simultaneous calls, of which 1,000 at most are sent before their responses', async () => {
  const { port1, port2 } = new MessageChannel()
  let atWork = 0
  let atWorkMax = 0
  const clusterId = async () => {
    atWork += 1
    atWorkMax = Math.max(atWorkMax, atWork)
    await new Promise((resolve) => setImmediate(resolve))
    atWork -= 1
    return 'id'
  }
  serveBackend({ clusterId } as BrokerBackend, port1)
  const busy = connectThreadBackend(port2)
  const ids = await Promise.all(Array.from({ length: 5_000 }, () => busy.clusterId()))
  expect(new Set(ids)).toEqual(new Set(['id']))
  expect(atWorkMax).toBe(1_000)
  await busy.close()
})

it('rejects calls when too many wait, and those that wait with `closed` when the port is closed', async () => {
  const { port1, port2 } = new MessageChannel()
  const alone = connectThreadBackend(port2)
  const waiting = Array.from({ length: 11_000 }, () => alone.clusterId().catch(({ code }: BrokerError) => code))
  await expect(alone.clusterId()).rejects.toMatchObject({ code: 'unavailable', retriable: true })
  port1.close()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['closed']))
})
