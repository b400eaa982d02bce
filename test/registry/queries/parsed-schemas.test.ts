import { beforeAll, describe, expect, it } from 'vitest'
import { IncompleteCheck, WorkerResults } from '../../../src/compatibility-worker/worker-results.ts'
import { DecisionResults } from '../../../src/registry/commands/decision-results.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { toSubject } from '../../../src/registry/model/subject.ts'
import { ParsedSchemas } from '../../../src/registry/queries/parsed-schemas.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'

const createCache = (options: { entriesMax?: number; expiryMs?: number } = {}) => {
  const clock = { nowMs: 0 }
  const schemas = new ParsedSchemas({ entriesMax: 100, expiryMs: 1_000, nowMs: () => clock.nowMs, ...options })
  const operations: string[] = []
  const workerResults = new WorkerResults(
    ({ operation }) => operations.push(operation),
    () => clock.nowMs,
  )
  const parse = (text: string, validation: 'loose' | 'strict' = 'loose') =>
    schemas.parse(
      new RegistryState(),
      toSubject('s'),
      { type: 'AVRO', text, references: [] },
      { validation, results: workerResults },
    )
  return { schemas, clock, operations, parse }
}

describe('the cache of parsed schemas', () => {
  it('parses a schema again only if it was unused for longer than expiryMs', async () => {
    const { schemas, clock, operations, parse } = createCache()
    await schemas.formats.load('AVRO')
    for (const nowMs of [0, 1_000, 2_000]) {
      clock.nowMs = nowMs
      parse('"int"')
    }
    expect(operations).toEqual(['read'])
    clock.nowMs = 3_001
    parse('"int"')
    expect(operations).toEqual(['read', 'read'])
  })

  it('parses a schema once for both kinds of validation', async () => {
    const { schemas, operations, parse } = createCache()
    await schemas.formats.load('AVRO')
    for (const validation of ['loose', 'strict', 'loose'] as const) parse('"int"', validation)
    expect(operations).toEqual(['read'])
  })

  it('rejects a schema by strict validation that is cached by loose validation', async () => {
    const { schemas, parse } = createCache()
    await schemas.formats.load('AVRO')
    const text = '{"type":"record","name":"a-b","fields":[]}'
    for (let time = 0; time < 2; time++) {
      expect(parse(text).canonical).toBe(text)
      expect(() => parse(text, 'strict')).toThrow('Invalid schema')
    }
  })

  it('evicts the least recently used schema when it has entriesMax entries', async () => {
    const { schemas, operations, parse } = createCache({ entriesMax: 2 })
    await schemas.formats.load('AVRO')
    for (const text of ['"int"', '"long"', '"int"', '"string"']) parse(text)
    expect(operations).toHaveLength(3)
    parse('"int"')
    expect(operations).toHaveLength(3)
    parse('"long"')
    expect(operations).toHaveLength(4)
  })
})

describe('the comparison of two schemas', () => {
  const { schemas, operations, parse } = createCache()
  beforeAll(() => schemas.formats.load('AVRO'))
  const record = (fields: number) =>
    JSON.stringify({
      type: 'record',
      name: 'R',
      fields: Array.from({ length: fields }, (_, at) => ({ name: `field_${at}`, type: 'int', default: 0 })),
    })

  it.each([
    ['runs in this process if both are small', 1, 2, true],
    ['requires the compatibility worker if the writer schema is large', 1, 300, false],
    ['requires the compatibility worker if the reader schema is large', 300, 1, false],
  ])('%s', (_, reader, writer, isInProcess) => {
    const compare = () =>
      parse(record(reader)).incompatibilities(parse(record(writer)), { roles: { reader: 'new', writer: 'old' } })
    if (isInProcess) expect(compare()).toEqual([])
    else expect(compare).toThrow(IncompleteCheck)
    // Both are small enough to be parsed in this process.
    expect(operations).toContain('read')
  })
})

it('computes the same GUID for a large schema as without the cache, also when only the metadata differs', () => {
  const results = new DecisionResults(
    () => {},
    () => 0,
  )
  const content = { type: 'AVRO', text: `"${'x'.repeat(200_000)}"`, references: [], ruleSet: undefined } as const
  for (const metadata of [undefined, { properties: { owner: 'me' } }, undefined]) {
    expect(results.guidOf({ ...content, metadata })).toBe(guidOf({ ...content, metadata }))
  }
})
