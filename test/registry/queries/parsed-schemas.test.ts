import { beforeAll, describe, expect, it } from 'vitest'
import { MissingWorkerResult, WorkerResults } from '../../../src/registry/compatibility-worker/worker-results.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { toSubject } from '../../../src/registry/model/subject.ts'
import { ParsedSchemas } from '../../../src/registry/queries/parsed-schemas.ts'
import { RegistryState } from '../../../src/registry/store/state.ts'

const schemas = (options: { entriesMax?: number; expiryMs?: number } = {}) => {
  const clock = { nowMs: 0 }
  const held = new ParsedSchemas({ entriesMax: 100, expiryMs: 1_000, nowMs: () => clock.nowMs, ...options })
  const done: string[] = []
  const workerResults = new WorkerResults(({ operation }) => done.push(operation))
  const parse = (text: string) =>
    held.parse(
      new RegistryState(),
      toSubject('s'),
      { type: 'AVRO', text, references: [] },
      { validation: 'loose', workerResults },
    )
  return { held, clock, done, parse }
}

describe('schemas that are held parsed', () => {
  it('are parsed once, and again when they were not used for long', async () => {
    const { held, clock, done, parse } = schemas()
    await held.formats.load('AVRO')
    for (const nowMs of [0, 1_000, 2_000]) {
      clock.nowMs = nowMs
      parse('"int"')
    }
    expect(done).toEqual(['read'])
    clock.nowMs = 3_001
    parse('"int"')
    expect(done).toEqual(['read', 'read'])
  })

  it('are at most so many: those that were not used for longest go', async () => {
    const { held, done, parse } = schemas({ entriesMax: 2 })
    await held.formats.load('AVRO')
    for (const text of ['"int"', '"long"', '"int"', '"string"']) parse(text)
    expect(done).toHaveLength(3)
    parse('"int"')
    expect(done).toHaveLength(3)
    parse('"long"')
    expect(done).toHaveLength(4)
  })
})

describe('schemas of which one is too large to be compared here', () => {
  const { held, done, parse } = schemas()
  beforeAll(() => held.formats.load('AVRO'))
  const record = (fields: number) =>
    JSON.stringify({
      type: 'record',
      name: 'R',
      fields: Array.from({ length: fields }, (_, at) => ({ name: `field_${at}`, type: 'int', default: 0 })),
    })

  it.each([
    ['two small ones', 1, 2, true],
    ['a small and a large one', 1, 300, false],
    ['a large and a small one', 300, 1, false],
  ])('are left to the examiner: %s', (_, reader, writer, isHere) => {
    const compare = () =>
      parse(record(reader)).incompatibilities(parse(record(writer)), { roles: { reader: 'new', writer: 'old' } })
    if (isHere) expect(compare()).toEqual([])
    else expect(compare).toThrow(MissingWorkerResult)
    // Each was read here all the same.
    expect(done).toContain('read')
  })
})

it('gives the content of a large schema the identity that it has, also where only what stands beside its text differs', () => {
  const workerResults = new WorkerResults(() => {})
  const content = { type: 'AVRO', text: `"${'x'.repeat(200_000)}"`, references: [], ruleSet: undefined } as const
  for (const metadata of [undefined, { properties: { owner: 'me' } }, undefined]) {
    expect(workerResults.guidOf({ ...content, metadata })).toBe(guidOf({ ...content, metadata }))
  }
})
