import { describe, expect, it } from 'vitest'
import type { StoredRecord } from '../../src/broker/broker.ts'
import { formatDeadLetter } from '../../src/cli/dead-letters/format-dead-letter.ts'
import { parseDeadLetter, toReplayRecord } from '../../src/dead-letters/dead-letter.ts'

const deadLetter = (headers: Readonly<Record<string, string>>, more: Partial<StoredRecord> = {}) =>
  parseDeadLetter(0, {
    offset: 4,
    timestampMs: 0,
    key: Buffer.from('k'),
    value: Buffer.from('v'),
    headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
    ...more,
  })

describe('a dead letter', () => {
  it('is replayed as the original record, without the error headers', () => {
    const dead = deadLetter({ mine: '1', '__connect.errors.topic': 'orders', '__connect.errors.stage': 'TASK_PUT' })
    expect(toReplayRecord(dead, undefined)).toEqual({
      topic: 'orders',
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: [['mine', Buffer.from('1')]],
      timestampMs: 0,
    })
    expect(toReplayRecord(dead, 'other')).toMatchObject({ topic: 'other' })
  })

  it('cannot be replayed without a topic', () => {
    expect(toReplayRecord(deadLetter({}), undefined)).toBe('no header names its topic: give one with --to')
    expect(toReplayRecord(deadLetter({}), 'orders')).toMatchObject({ topic: 'orders' })
  })

  it('of a source record that was never serialized cannot be replayed', () => {
    const dead = { '__connect.errors.topic': 'orders', '__connect.errors.content': 'json' }
    expect(toReplayRecord(deadLetter(dead), undefined)).toContain('the source must read it again')
    expect(toReplayRecord(deadLetter({ ...dead, '__connect.errors.content': 'none' }), undefined)).toContain(
      'too large',
    )
    expect(toReplayRecord(deadLetter({ ...dead, '__connect.errors.content': 'bytes' }), undefined)).toMatchObject({
      topic: 'orders',
    })
  })

  it('shows text as text, other bytes in hexadecimal, and truncates both', () => {
    expect(formatDeadLetter(deadLetter({}, { key: null, value: Buffer.from('two\nlines') }))).toBe(
      '0/4  1970-01-01T00:00:00.000Z  \n  value two\\nlines',
    )
    expect(formatDeadLetter(deadLetter({}, { value: Buffer.from([0, 255, 16]) }))).toContain('  value 0x00ff10')
    expect(formatDeadLetter(deadLetter({}, { value: Buffer.alloc(5_000, 'x') }))).toMatch(
      /value x{200}… \(5000 bytes\)$/,
    )
    expect(formatDeadLetter(deadLetter({}, { value: null }))).toContain('  value none')
  })
})
