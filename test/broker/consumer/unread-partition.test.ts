import { expect, it, onTestFinished } from 'vitest'
import type { BrokerBackend, FetchRequest } from '../../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

it.each([
  ['each fetch fails', 0, () => Promise.reject(new BrokerError('unavailable', 'no connection'))],
  ['its leader is never the right one', 0, (request: FetchRequest) => answer(request, 'not_leader')],
  ['it has no leader', -1, (request: FetchRequest) => answer(request)],
] as const)('a partition that cannot be read for long is logged once: %s', async (_, leader, fetch) => {
  const { logged, clock, poll, script } = openReader(leader, fetch)
  await poll(29_000)
  expect(logged).toEqual([])
  await poll(60_000)
  expect(logged).toMatchObject([{ topic: 't', partition: 0, msg: 'a partition cannot be read for 30 s; retrying' }])
  script.leader = 0
  script.fetch = (request) => answer(request)
  await poll(1_000)
  script.fetch = () => Promise.reject(new BrokerError('unavailable', 'no connection'))
  await poll(29_000)
  expect(logged).toHaveLength(1)
  await poll(3_000)
  expect(logged).toHaveLength(2)
  expect(clock.monotonicMs()).toBeGreaterThan(0)
})

async function answer({ partitions }: FetchRequest, code?: 'not_leader') {
  return partitions.map(({ topic, partition }) => ({
    ...{ topic, partition, bytes: Buffer.alloc(0), endOffset: 0, startOffset: 0, aborted: [] },
    ...(code !== undefined && { error: { code, message: 'NOT_LEADER_OR_FOLLOWER' } }),
  }))
}

function openReader(leader: number, fetch: (request: FetchRequest) => ReturnType<BrokerBackend['fetch']>) {
  const clock = new FakeClock()
  const logged: object[] = []
  const script = { leader, fetch }
  const backend = {
    metadata: async () => [
      { topic: 't', internal: false, partitions: [{ partition: 0, leader: script.leader, replicas: 1 }] },
    ],
    fetch: async (request: FetchRequest) => {
      await clock.sleep(500)
      return script.fetch(request)
    },
    close: async () => undefined,
  } as unknown as BrokerBackend
  const broker = createBrokerClient(backend, {
    logger: createLogger({ write: (line) => logged.push(JSON.parse(line)) }),
    clock,
    address: () => Promise.reject(new Error('none')),
  })
  const reader = broker.reader()
  reader.seek([{ topic: 't', partition: 0, offset: 0 }])
  onTestFinished(() => reader.close())
  /** Polls for this time. */
  const poll = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      const polling = reader.poll(500)
      await clock.advance(500)
      await polling
    }
  }
  return { logged, clock, poll, script }
}
