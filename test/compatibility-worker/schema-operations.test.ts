import { describe, expect, it } from 'vitest'
import { type EarlierVersion, SchemaOperations } from '../../src/compatibility-worker/schema-operations.ts'
import { runJob, type UnparsedSchema, type WorkerJob } from '../../src/compatibility-worker/worker-job.ts'
import type { Format, FormatType } from '../../src/formats/format.ts'
import { loadFormat } from '../../src/formats/load-format.ts'
import type { CompatibilityRules } from '../../src/formats/version-compatibility.ts'

const formats = new Map<FormatType, Format>()
for (const type of ['AVRO', 'JSON', 'PROTOBUF'] as const) formats.set(type, await loadFormat(type))

/** A worker that runs jobs in this process. `limited`: a job with this version and others exceeds a limit. */
function start({ limited = '-' }: { readonly limited?: string } = {}) {
  const jobs: WorkerJob[] = []
  const run = async (job: WorkerJob) => {
    jobs.push(job)
    const versions = 'versions' in job ? job.versions : []
    const isLimited = versions.length > 1 && versions.some(({ text }) => text.includes(limited))
    return isLimited ? ({ invalid: 'too large', isLimit: true } as const) : runJob(job, formats)
  }
  const operations = new SchemaOperations({ worker: { run } })
  const parse = (schema: UnparsedSchema) =>
    operations.parse(schema, () => formats.get(schema.type)!.parse(schema, schema))
  const version = (schema: UnparsedSchema): EarlierVersion => ({ schema, parse: () => parse(schema) })
  const conflictsOf = async (schema: UnparsedSchema, versions: readonly UnparsedSchema[], rules = BACKWARD) => {
    const found: string[] = []
    const numbered = versions.map((one, at) => ({ ...version(one), at }))
    for await (const { version: one, found: conflict } of operations.conflicts(await parse(schema), numbered, rules)) {
      found.push(`${one.at} ${conflict.kind}`)
    }
    return found
  }
  const findEquivalent = async (schema: UnparsedSchema, versions: readonly UnparsedSchema[]) => {
    const numbered = versions.map((one, at) => ({ ...version(one), isInlined: false, at }))
    return (await operations.findEquivalent(await parse(schema), numbered))?.at
  }
  return {
    jobs,
    conflictsOf,
    findEquivalent,
    countsOf: () => jobs.map((job) => ('versions' in job ? job.versions.length : 0)),
  }
}

const BACKWARD: CompatibilityRules = { level: 'BACKWARD_TRANSITIVE' }
const loose = { validation: 'loose', normalized: false } as const
const record = (fields: number, doc = '', first = 'int'): UnparsedSchema => ({
  ...loose,
  type: 'AVRO',
  text: JSON.stringify({
    type: 'record',
    name: 'R',
    ...(doc && { doc }),
    fields: Array.from({ length: fields }, (_, at) => ({ name: `f${at}`, type: at === 0 ? first : 'int', default: 0 })),
  }),
})
const json = (schema: object): UnparsedSchema => ({ ...loose, type: 'JSON', text: JSON.stringify(schema) })

describe('the comparison of a schema with versions', () => {
  it('runs in this process if they are small together, otherwise in one job for all versions', async () => {
    const { conflictsOf, countsOf } = start()
    expect(await conflictsOf(record(1), [record(2), record(3)])).toEqual([])
    expect(countsOf()).toEqual([])
    expect(await conflictsOf(record(1), Array(300).fill(record(2)))).toEqual([])
    expect(countsOf()).toEqual([300])
  })

  it.each([
    ['the schema is large', record(300), [record(1)]],
    ['a version is large', record(1), [record(1), record(300)]],
    ['the schema has patterns', json({ patternProperties: { a: {} } }), [json({})]],
    ['a version has patterns', json({}), [json({ patternProperties: { a: {} } })]],
  ])('runs in the worker if %s', async (_, schema, versions) => {
    const { conflictsOf, countsOf } = start()
    await conflictsOf(schema, versions)
    expect(countsOf()).toContain(versions.length)
  })

  it('sends at most one million characters at once, unless one version is larger', async () => {
    const { conflictsOf, countsOf } = start()
    const large = (characters: number) => record(1, 'x'.repeat(characters))
    expect(await conflictsOf(record(1), [...Array(5).fill(large(400_000)), large(2_000_000), record(1)])).toEqual([])
    expect(countsOf()).toEqual([2, 2, 1, 1, 1])
  })

  it.each([
    ['in this process', 2],
    ['in the worker', 300],
  ])('yields the conflicts in order, also with versions of another type and unreadable ones, %s', async (_, fields) => {
    const { conflictsOf } = start()
    const unreadable = { ...record(1), text: '{' }
    const versions = [record(fields), record(2, '', 'string'), json({}), record(1), unreadable]
    expect(await conflictsOf(record(fields), versions)).toEqual(['1 incompatible', '2 type', '4 unreadable'])
  })

  it('compares a version alone if others may have exceeded a limit', async () => {
    const { conflictsOf, countsOf } = start({ limited: 'LIMITED' })
    const versions = [record(300), record(300, 'LIMITED'), record(300)]
    expect(await conflictsOf(record(300), versions)).toEqual([])
    expect(countsOf()).toEqual([3, 1, 2, 1, 1])
  })
})

describe('the look-up of a schema among versions', () => {
  const LARGE = 'x'.repeat(70_000)

  it.each([
    ['small', record(1), [record(2), record(1), record(1)], 1, []],
    ['large', record(1, LARGE), [record(2), record(1, LARGE), record(1)], 1, [0, 3]],
    ['small, among large ones', record(1), [record(1, LARGE), record(1)], 1, [1]],
    ['unknown', record(1), [record(2), record(3)], undefined, []],
  ] as const)('finds the first that is equivalent: %s', async (_, schema, versions, expected, counts) => {
    const { findEquivalent, countsOf } = start()
    expect(await findEquivalent(schema, versions)).toBe(expected)
    expect(countsOf()).toEqual(counts)
  })
})
