import { expect, it } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { readToEnd } from '../../src/dead-letters/read-to-end.ts'

it('rejects when the broker sends nothing before the end', async () => {
  const offsets = async (_: string, at: unknown) => [
    { topic: 'orders', partition: 0, offset: at === 'earliest' ? 0 : 5 },
  ]
  let isClosed = false
  const reader = {
    seek: () => undefined,
    poll: async () => [],
    close: async () => {
      isClosed = true
    },
  }
  const broker = { topics: { offsets }, reader: () => reader } as unknown as Broker
  await expect(Array.fromAsync(readToEnd(broker, 'orders', []))).rejects.toMatchObject({
    code: 'timeout',
    message: "no records of topic 'orders' were received for 60000 ms",
  })
  expect(isClosed).toBe(true)
})
