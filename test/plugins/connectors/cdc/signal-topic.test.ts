import { describe, expect, it } from 'vitest'
import type { RawSignal } from '../../../../src/plugins/connectors/cdc/signals/signal.ts'
import {
  printSignalOffset,
  SignalTopic,
  storedSignalOffset,
} from '../../../../src/plugins/connectors/cdc/signals/signal-topic.ts'
import type { TopicRecord } from '../../../../src/sdk/index.ts'

const LOG = '{"type":"log","data":{"message":"m"}}'

/** A topic of signals for the connector `cdc`, which has these keys and values from offset 5 on. */
function topicOf(...records: readonly (readonly [key: string | null, value: string | null])[]) {
  let unread = records.map(([key, value], index): TopicRecord => {
    const toBytes = (text: string | null) => (text === null ? null : Buffer.from(text))
    return { offset: 5 + index, key: toBytes(key), value: toBytes(value) }
  })
  let nextOffset = 5
  const reader = {
    get nextOffset() {
      return nextOffset
    },
    async poll() {
      const polled = unread
      unread = []
      nextOffset += polled.length
      return polled
    },
    async close() {},
  }
  const warnings: string[] = []
  const warn = (_: object, message: string) => void warnings.push(message)
  const log = { debug: () => {}, info: () => {}, warn, error: () => {} }
  const executed: RawSignal[] = []
  const topic = new SignalTopic({ reader, recordKey: 'cdc', waitMs: 0, log })
  return { topic, executed, warnings, execute: async (signal: RawSignal) => void executed.push(signal) }
}

describe('SignalTopic', () => {
  it('executes the records with the key of the connector, and moves behind all others', async () => {
    const { topic, execute, executed, warnings } = topicOf(
      ['other', LOG],
      [null, LOG],
      ['cdc', '{"id":"a","type":"pause-snapshot"}'],
      ['cdc', 'no JSON'],
      ['cdc', null],
      ['cdc', LOG],
    )
    await topic.poll(execute)
    expect(executed).toEqual([
      { id: 'a', type: 'pause-snapshot', data: null },
      { id: 'offset 10', type: 'log', data: '{"message":"m"}' },
    ])
    expect(warnings).toHaveLength(2)
    expect(topic.nextOffset).toBe(11)
  })

  it('stays at a signal that cannot be executed yet, and reports the same reason once', async () => {
    const { topic, execute, executed, warnings } = topicOf(['cdc', LOG], ['cdc', LOG], ['cdc', LOG])
    let isAvailable = false
    const fail = async (signal: RawSignal) => {
      if (executed.length > 0 && !isAvailable) throw new Error('no server')
      await execute(signal)
    }
    await topic.poll(fail)
    await topic.poll(fail)
    expect([topic.nextOffset, executed.length, warnings.length]).toEqual([6, 1, 1])
    isAvailable = true
    await topic.poll(fail)
    expect([topic.nextOffset, executed.length, warnings.length]).toEqual([8, 3, 1])
  })

  it('stores its offset with that of the source, and rejects a damaged one', () => {
    expect(storedSignalOffset(printSignalOffset(7))).toBe(7)
    expect(storedSignalOffset({})).toBeUndefined()
    expect(() => storedSignalOffset({ signal_kafka_offset: '7' })).toThrow("'signal_kafka_offset' of an offset must be")
  })
})
