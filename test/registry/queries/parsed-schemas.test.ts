import { describe, expect, it } from 'vitest'
import { SchemaOperations } from '../../../src/compatibility-worker/schema-operations.ts'
import { toSubject } from '../../../src/registry/model/subject.ts'
import { ParsedSchemas } from '../../../src/registry/queries/parsed-schemas.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'

const createCache = (options: { entriesMax?: number; expiryMs?: number } = {}) => {
  const clock = { nowMs: 0 }
  const nowMs = () => clock.nowMs
  const operations: string[] = []
  const onOperation = ({ operation }: { readonly operation: string }) => void operations.push(operation)
  const worker = { run: () => Promise.reject(new Error('all schemas are small')) }
  const schemas = new ParsedSchemas({
    operations: new SchemaOperations({ worker, onOperation, nowMs }),
    entriesMax: 100,
    expiryMs: 1_000,
    nowMs,
    ...options,
  })
  const parse = (text: string, validation: 'loose' | 'strict' = 'loose') =>
    schemas.parse(new RegistryState(), toSubject('s'), { type: 'AVRO', text, references: [] }, validation)
  return { clock, operations, parse }
}

describe('the cache of parsed schemas', () => {
  it('parses a schema again only if it was unused for longer than expiryMs', async () => {
    const { clock, operations, parse } = createCache()
    for (const nowMs of [0, 1_000, 2_000]) {
      clock.nowMs = nowMs
      await parse('"int"')
    }
    expect(operations).toEqual(['read'])
    clock.nowMs = 3_001
    await parse('"int"')
    expect(operations).toEqual(['read', 'read'])
  })

  it('parses a schema once for both kinds of validation', async () => {
    const { operations, parse } = createCache()
    for (const validation of ['loose', 'strict', 'loose'] as const) await parse('"int"', validation)
    expect(operations).toEqual(['read'])
  })

  it('rejects a schema by strict validation that is cached by loose validation', async () => {
    const { parse } = createCache()
    const text = '{"type":"record","name":"a-b","fields":[]}'
    for (let time = 0; time < 2; time++) {
      expect((await parse(text)).canonical).toBe(text)
      await expect(parse(text, 'strict')).rejects.toThrow('Invalid schema')
    }
  })

  it('evicts the least recently used schema when it has entriesMax entries', async () => {
    const { operations, parse } = createCache({ entriesMax: 2 })
    for (const text of ['"int"', '"long"', '"int"', '"string"']) await parse(text)
    expect(operations).toHaveLength(3)
    await parse('"int"')
    expect(operations).toHaveLength(3)
    await parse('"long"')
    expect(operations).toHaveLength(4)
  })
})
