import { hash as hashOf } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import type { AvroSchema } from '../../../src/formats/avro/avro-schema.ts'
import { avroCodec } from '../../../src/formats/avro/codec.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'
import { askJavaAvro, type Compared } from '../../env/java-avro.ts'
import { describeOn, real } from '../../env/real.ts'
import { avroPair, avroText, hasClearFields, hasClearNames } from '../../support/avro-schemas.ts'
import { propertyRuns } from '../../support/property-seed.ts'

const java = await real('javaAvro')
const RUNS = propertyRuns(500)
/** A property proves nothing without cases of both outcomes. */
const CASES_MIN = RUNS / 10

describeOn([java], 'compared with Apache Avro for Java', () => {
  const random = fc.record({ schemas: avroPair, seed: fc.nat() })
  const compared = ([reader, writer]: readonly unknown[], seed: number) =>
    askJavaAvro(java.address, { reader: JSON.stringify(reader), writer: JSON.stringify(writer), seed })

  it('random pairs of schemas have the same incompatibilities as in SchemaCompatibility', async () => {
    await fc.assert(
      fc.asyncProperty(random, async ({ schemas, seed }) => {
        const theirs = await compared(schemas, seed)
        const ours = findings(schemas)
        // Java gives up on the whole schema where a field matches several.
        if (theirs.error === undefined) expect(ours).toEqual(theirs.findings)
        else expect(ours).toMatchObject([{ type: 'READER_FIELD_AMBIGUOUS' }])
      }),
      { numRuns: RUNS },
    )
  })

  it('lets the Java reader read data of compatible schemas, and not of incompatible ones', async () => {
    const seen = { read: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(random, async ({ schemas, seed }) => {
        const theirs = await compared(schemas, seed)
        // Readers look for an alias and for a branch by other rules than SchemaCompatibility when names are alike.
        fc.pre(
          theirs.error === undefined && theirs.refused !== null && hasClearNames(schemas) && hasClearFields(schemas),
        )
        // Java fails on its own default: of a union that begins with an array.
        fc.pre(theirs.error !== undefined || !theirs.unread?.includes('Not an array: ['))
        const ours = findings(schemas)
        if (ours.length === 0) {
          expect(theirs).toMatchObject({ refused: false, unread: null })
          seen.read += 1
        } else if (!ours.some(mayBeAboutRecordNames)) {
          expect(theirs).toMatchObject({ refused: true })
          seen.refused += 1
        }
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(CASES_MIN)
  })

  it('data is resolved to the same values of a compatible schema', async () => {
    let seen = 0
    await fc.assert(
      fc.asyncProperty(random, async ({ schemas, seed }) => {
        const theirs = await compared(schemas, seed)
        fc.pre(theirs.error === undefined && theirs.refused === false && theirs.unread === null)
        fc.pre(hasClearNames(schemas) && hasClearFields(schemas))
        const [reader, writer] = schemas.map(
          (schema) => (avroFormat.parse({ text: JSON.stringify(schema) }) as ParsedAvro).schema,
        ) as [AvroSchema, AvroSchema]
        const { decode } = avroCodec(writer, { reader })
        const { encode } = avroCodec(reader)
        const hex = (bytes: string) => Buffer.from(encode(decode(Buffer.from(bytes, 'hex')))).toString('hex')
        expect(theirs.resolved.map(({ written }) => ({ written, read: hex(written) }))).toEqual(theirs.resolved)
        seen += theirs.resolved.length
      }),
      { numRuns: RUNS },
    )
    expect(seen).toBeGreaterThan(CASES_MIN)
  })

  it('schemas are equivalent exactly when Schema.equals is true, including documentation and aliases', async () => {
    const seen = { equivalent: 0, different: 0 }
    const reordered = fc.tuple(avroPair, fc.nat()).map(([[one], seed]) => [one, reorder(one, seed)] as const)
    const described = fc.tuple(avroPair, fc.nat()).map(([[one], seed]) => [one, describe(one, seed)] as const)
    await fc.assert(
      fc.asyncProperty(fc.oneof(avroPair, reordered, described), async ([one, other]) => {
        const texts = { one: JSON.stringify(one), other: JSON.stringify(other) }
        const theirs = await askJavaAvro(java.address, texts)
        fc.pre(theirs.error === undefined)
        const ours = avroFormat.parse({ text: texts.one }).isEquivalent(avroFormat.parse({ text: texts.other }))
        expect(ours).toBe(theirs.equivalent)
        seen[ours ? 'equivalent' : 'different'] += 1
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(seen.equivalent, seen.different)).toBeGreaterThan(CASES_MIN)
  })

  it.each([true, false])('the same schemas are accepted, and printed identically, with strict: %s', async (strict) => {
    await fc.assert(
      fc.asyncProperty(avroText, async (schema) => {
        const theirs = await askJavaAvro(java.address, { schema, strict })
        const ours = written(schema, strict)
        // A symbol that is no text is `null` to loose Java.
        if (!strict && ours.error === 'Null name') return
        expect(ours).toEqual(theirs.error === undefined ? { printed: theirs.printed } : { error: expect.any(String) })
      }),
      { numRuns: RUNS },
    )
  })
})

/** The same schema with its members and aliases in another order, and a property where `seed` says so. */
function reorder(schema: unknown, seed: number): unknown {
  if (Array.isArray(schema)) return schema.map((branch) => reorder(branch, seed))
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([key, value]) => {
    if (key === 'aliases') return [key, [...(value as string[])].reverse()]
    if (key === 'fields') return [key, (value as object[]).map((field) => reorder(field, seed))]
    return [key, ['type', 'items', 'values'].includes(key) ? reorder(value, seed) : value]
  })
  return Object.fromEntries(
    members.sort(([one], [other]) => hash(`${seed}${one}`).localeCompare(hash(`${seed}${other}`))),
  )
}

/** The same schema with properties: some in another order, one with another value, or a documentation. */
function describe(schema: unknown, seed: number): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const more = [{ doc: 'd' }, { p: 1, q: { a: 1, b: 2 } }, { q: { b: 2, a: 1 }, p: 1 }, { p: 1.0 }, { aliases: ['Z'] }]
  return { ...schema, ...more[seed % more.length] }
}

function findings([reader, writer]: readonly unknown[]): Extract<Compared, { findings: object }>['findings'] {
  const parse = (schema: unknown) => avroFormat.parse({ text: JSON.stringify(schema) })
  return parse(reader)
    .incompatibilities(parse(writer), { roles: { reader: 'new', writer: 'old' } })
    .map(({ type, path, message }) => ({ type, path, info: /additionalInfo:'(.*)'\}$/.exec(message)?.[1] ?? '' }))
}

/** A reader takes any record whose fields fit, whatever its name. A union does not say what it lacks inside a branch. */
function mayBeAboutRecordNames({ type, info }: { readonly type: string; readonly info: string }): boolean {
  return type === 'NAME_MISMATCH' || (type === 'MISSING_UNION_BRANCH' && /(RECORD|ARRAY|MAP)$/.test(info))
}

function written(text: string, strict: boolean): { readonly printed?: string; readonly error?: string } {
  try {
    return { printed: avroFormat.parse({ text }, { validation: strict ? 'strict' : 'loose' }).canonical }
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError)
    return { error: (error as Error).message }
  }
}

function hash(text: string): string {
  return hashOf('md5', text)
}
