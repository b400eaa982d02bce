import { describe, expect, it } from 'vitest'
import type { StoredRecord } from '../../../src/broker/broker.ts'
import { formatDeadLetter, parseDeadLetter, toReplayRecord } from '../../../src/cli/dead-letters/dead-letter.ts'

const letter = (headers: Readonly<Record<string, string>>, more: Partial<StoredRecord> = {}) =>
  parseDeadLetter(0, {
    offset: 4,
    timestampMs: 0,
    key: Buffer.from('k'),
    value: Buffer.from('v'),
    headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
    ...more,
  })

describe('a dead letter', () => {
  it('is replayed as it was, without what the runtime wrote on it', () => {
    const dead = letter({ mine: '1', '__connect.errors.topic': 'orders', '__connect.errors.stage': 'TASK_PUT' })
    expect(toReplayRecord(dead, undefined)).toEqual({
      topic: 'orders',
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: [['mine', Buffer.from('1')]],
      timestampMs: 0,
    })
    expect(toReplayRecord(dead, 'other')).toMatchObject({ topic: 'other' })
  })

  it('without a topic needs one to be named', () => {
    expect(toReplayRecord(letter({}), undefined)).toBe('no header says which topic it is of: name one with --to')
    expect(toReplayRecord(letter({}), 'orders')).toMatchObject({ topic: 'orders' })
  })

  it('of a source that no converter has seen is not replayed', () => {
    const dead = { '__connect.errors.topic': 'orders', '__connect.errors.content': 'json' }
    expect(toReplayRecord(letter(dead), undefined)).toContain('its source has to read it again')
    expect(toReplayRecord(letter({ ...dead, '__connect.errors.content': 'none' }), undefined)).toContain('too large')
    expect(toReplayRecord(letter({ ...dead, '__connect.errors.content': 'bytes' }), undefined)).toMatchObject({
      topic: 'orders',
    })
  })

  it('shows text as text, bytes in hexadecimal, and not too much of either', () => {
    expect(formatDeadLetter(letter({}, { key: null, value: Buffer.from('two\nlines') }))).toBe(
      '0/4  1970-01-01T00:00:00.000Z  \n  value two\\nlines',
    )
    expect(formatDeadLetter(letter({}, { value: Buffer.from([0, 255, 16]) }))).toContain('  value 0x00ff10')
    expect(formatDeadLetter(letter({}, { value: Buffer.alloc(5_000, 'x') }))).toMatch(/value x{200}… \(5000 bytes\)$/)
    expect(formatDeadLetter(letter({}, { value: null }))).toContain('  value none')
  })
})
