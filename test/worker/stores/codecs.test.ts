import { describe, expect, it } from 'vitest'
import { parseConfigRecord, toConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { OffsetState, parseOffsetRecord, partitionId, toOffsetKey } from '../../../src/worker/stores/offset-state.ts'
import {
  parseStatusKey,
  parseStatusValue,
  toStatusKey,
  toStatusValue,
} from '../../../src/worker/stores/status-codec.ts'
import { GOLDEN } from './golden-topics.ts'

const of = (topic: string) => GOLDEN.filter((record) => record.topic === topic)

describe('config records', () => {
  it('have the same bytes as those of a Java worker', () => {
    for (const { key, value } of of('connect-configs').filter(({ key }) => !key.startsWith('connector-'))) {
      const parsed = parseConfigRecord(key, value)
      expect(toConfigRecord(parsed!)).toEqual({ key, value })
    }
  })

  it('keep the order of the configuration keys', () => {
    const { value } = of('connect-configs').find(({ key }) => key === 'connector-a')!
    const config = (JSON.parse(value!) as { properties: Record<string, string> }).properties
    expect(toConfigRecord({ kind: 'connector', connector: 'a', config }).value).toBe(value)
  })

  it.each([
    ['an unknown kind', 'something-else', '{}'],
    ['an unknown target state', 'target-state-a', '{"state":"DANCING"}'],
    ['a task without a number', 'task-a', '{"properties":{}}'],
    ['a count that is not a number', 'commit-a', '{"tasks":"many"}'],
    ['a negative count', 'tasks-fencing-a', '{"task-count":-1}'],
    ['a count for which a worker has no memory', 'commit-a', '{"tasks":2147483647}'],
    ['a value that is not an object', 'connector-a', '[]'],
  ])('are ignored: %s', (_, key, value) => {
    expect(parseConfigRecord(key, value)).toBeUndefined()
  })

  it('are read when a worker before 3.5 wrote the target state under its old field name', () => {
    expect(parseConfigRecord('target-state-a', '{"state":"PAUSED"}')).toMatchObject({ target: 'PAUSED' })
  })

  it('take the task number from the text after the last hyphen of the key', () => {
    expect(parseConfigRecord('task-a-b-12', '{"properties":{}}')).toMatchObject({ connector: 'a-b', task: 12 })
  })
})

describe('status records', () => {
  it('are written byte by byte as Java workers write them', () => {
    for (const { key, value } of of('connect-status')) {
      const parsed = parseStatusKey(key)!
      expect(toStatusKey(parsed)).toBe(key)
      if (value !== null && parsed.kind !== 'topic') expect(toStatusValue(parseStatusValue(value))).toBe(value)
    }
  })

  it('are read without a version, as workers before 4.1 write them', () => {
    const value = '{"state":"RUNNING","trace":null,"worker_id":"h:1","generation":2}'
    expect(parseStatusValue(value)).toMatchObject({ state: 'RUNNING', version: null })
  })
})

describe('offset records', () => {
  it('are read and written with the same bytes as by a Java worker', () => {
    for (const { key, value } of of('connect-offsets')) {
      const [connector, partition] = JSON.parse(key) as [string, Record<string, string>]
      expect(String(toOffsetKey(connector, partition))).toBe(key)
      const state = new OffsetState()
      state.apply(parseOffsetRecord(Buffer.from(key), value === null ? null : Buffer.from(value)))
      const expected = value === null ? [] : [{ key: Buffer.from(key), partition, offset: JSON.parse(value) }]
      expect(state.of(connector)).toEqual(expected)
    }
  })

  it('identify a source partition independently of the order of its members', () => {
    const state = new OffsetState()
    state.apply(parseOffsetRecord(Buffer.from('["c",{"a":1,"b":2}]'), Buffer.from('{"n":1}')))
    state.apply(parseOffsetRecord(Buffer.from('["c",{"b":2,"a":1}]'), Buffer.from('{"n":2}')))
    expect(state.of('c')).toMatchObject([{ offset: { n: 2 } }])
    expect(partitionId({ a: 1, b: 2 })).toBe(partitionId({ b: 2, a: 1 }))
  })

  it.each(['x', '{}', '["c"]', '[1,{}]'])('are rejected when the key is %s', (key) => {
    expect(() => parseOffsetRecord(Buffer.from(key), null)).toThrow()
  })
})
