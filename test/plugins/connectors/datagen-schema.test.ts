import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { matchingTextGenerator } from '../../../src/java-compat/avro-random-generator/matching-text.ts'
import { randomAt } from '../../../src/java-compat/avro-random-generator/random.ts'
import { createRecordGenerator } from '../../../src/java-compat/avro-random-generator/record-generator.ts'
import { javaRegex } from '../../../src/java-compat/java-regex.ts'
import { datagen } from '../../../src/plugins/connectors/datagen/datagen-source.ts'
import { QUICKSTART_NAMES, quickstart } from '../../../src/plugins/connectors/datagen/quickstarts/quickstarts.ts'
import { checkValue, decimalToText, runSource, validateConfig } from '../../../src/sdk/index.ts'
import { type HandWrittenName, WRITTEN_BY_HAND } from '../../bench/datagen/written-by-hand.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import golden from './datagen.golden.json' with { type: 'json' }

type Properties = Readonly<Record<string, unknown>>

describe('Datagen with a custom schema', () => {
  it.each<[string, Properties, Properties, readonly unknown[]]>([
    ['int', { start: 3 }, {}, [3, 4, 5, 6, 7]],
    ['long', { start: 10, step: 5, restart: 20 }, {}, [10, 15, 10, 15, 10]],
    ['int', { start: 5, restart: 2 }, {}, [5, 4, 3, 5, 4]],
    ['double', { start: 0, step: 0.5, initial: 1, restart: 2 }, {}, [1, 1.5, 0, 0.5, 1]],
    ['string', { start: 1 }, { prefix: 'P-', suffix: '!' }, ['P-1!', 'P-2!', 'P-3!', 'P-4!', 'P-5!']],
    ['boolean', { start: false }, {}, [false, true, false, true, false]],
  ])('generates the sequence of a %s with iteration %o', (type, iteration, more, expected) => {
    expect(valuesOf({ type, 'arg.properties': { ...more, iteration } }, 5)).toEqual(expected)
  })

  it.each<[Properties, (value: never) => boolean]>([
    [{ type: 'int' }, (value) => Number.isInteger(value)],
    [{ type: 'int', 'arg.properties': { range: { min: -2, max: 3 } } }, (value) => value >= -2 && value < 3],
    [{ type: 'int', 'arg.properties': { range: { min: 2_147_483_000 } } }, (value) => value >= 2_147_483_000],
    [{ type: 'long', 'arg.properties': { range: { min: 0, max: 2 ** 63 } } }, (value) => value >= 0],
    [{ type: 'long' }, (value) => Number.isInteger(Number(value))],
    [{ type: 'long', 'arg.properties': { range: { min: 2 ** 60 } } }, (value) => typeof value === 'bigint'],
    [{ type: 'double', 'arg.properties': { range: { min: 1, max: 1.5 } } }, (value) => value >= 1 && value < 1.5],
    [{ type: 'double', 'arg.properties': { range: { min: 5 } } }, (value) => value >= 5],
    [{ type: 'float' }, (value) => value >= 0 && value < 1 && Math.fround(value) === value],
    [{ type: 'boolean', 'arg.properties': { odds: 1 } }, (value) => value === true],
    [{ type: 'boolean', 'arg.properties': { odds: 0 } }, (value) => value === false],
    [{ type: 'string' }, (value: string) => /^[a-z]{8,15}$/.test(value)],
    [{ type: 'string', 'arg.properties': { length: 3, prefix: 'x' } }, (value: string) => /^x[a-z]{3}$/.test(value)],
    [{ type: 'string', 'arg.properties': { regex: '[ab]*', length: 4 } }, (value: string) => /^[ab]{4,}$/.test(value)],
    [
      { type: 'string', 'arg.properties': { regex: '[ab]*', length: { min: 2, max: 4 } } },
      (value: string) => /^[ab]{2,3}$/.test(value),
    ],
    [
      { type: 'bytes', 'arg.properties': { length: { min: 1, max: 4 } } },
      (value: Buffer) => [1, 2, 3].includes(value.length),
    ],
    [{ type: 'bytes', 'arg.properties': { options: ['NDI='] } }, (value: Buffer) => value.toString() === '42'],
    [{ type: 'fixed', name: 'f', size: 5 }, (value: Buffer) => value.length === 5],
    [{ type: 'enum', name: 'e', symbols: ['A', 'B'] }, (value: string) => /^[AB]$/.test(value)],
    [
      { type: 'enum', name: 'e', symbols: ['A', 'B', 'C'], 'arg.properties': { options: ['B', 'C'] } },
      (value: string) => /^[BC]$/.test(value),
    ],
    [
      { type: 'array', items: { type: 'int', 'arg.properties': { options: [1, 2] } }, 'arg.properties': { length: 2 } },
      (value: readonly number[]) => value.length === 2 && value.every((item) => item === 1 || item === 2),
    ],
    [
      { type: 'map', values: 'int', 'arg.properties': { length: 4, keys: { options: ['a', 'b'] } } },
      (value: ReadonlyMap<string, number>) => [...value.keys()].every((key) => key === 'a' || key === 'b'),
    ],
    [
      {
        type: 'record',
        name: 'inner',
        fields: [
          { name: 'month', type: 'string' },
          { name: 'day', type: 'int' },
        ],
        'arg.properties': { options: [{ month: 'May', day: 1 }] },
      },
      (value: object) => inspect(value) === "{ month: 'May', day: 1 }",
    ],
    [
      {
        type: 'bytes',
        logicalType: 'decimal',
        precision: 6,
        scale: 2,
        'arg.properties': { range: { min: 0.5, max: 2 } },
      },
      (value) => Number(decimalToText(value)) >= 0.5 && Number(decimalToText(value)) < 2,
    ],
    [
      {
        ...{ type: 'fixed', name: 'f', size: 4, logicalType: 'decimal', precision: 4, scale: 1 },
        'arg.properties': { range: { min: -3, max: -2 } },
      },
      (value) => Number(decimalToText(value)) >= -3 && Number(decimalToText(value)) < -2,
    ],
    [{ type: 'int', logicalType: 'date' }, (value: Date) => value.getTime() % 86_400_000 === 0],
    [{ type: 'int', logicalType: 'time-millis' }, (value) => value >= 0 && value < 86_400_000],
    [{ type: 'long', logicalType: 'timestamp-millis' }, (value: Date) => value.getUTCFullYear() < 2040],
  ])('generates values for %j', (schema, isRight) => {
    const wrong = valuesOf(schema, 200).filter((value) => !isRight(value as never))
    expect(wrong).toEqual([])
  })

  it('generates all branches of a union and all numbers in a range', () => {
    const seen = new Set(valuesOf(['null', { type: 'int', 'arg.properties': { range: { min: 1, max: 4 } } }], 200))
    expect([...seen].toSorted()).toEqual([1, 2, 3, null])
    const branches = valuesOf(['int', 'string'], 50).map((value) => Object.keys(value as object).join())
    expect(new Set(branches)).toEqual(new Set(['int', 'string']))
  })

  it.each([
    'abc',
    '[A-Z]{2}-\\d{3}',
    '(GET|POST|) /[^/ ]+',
    'a?b+c*d{2,4}e{3,}',
    '\\w\\W\\s\\S\\D.',
    '^(?:x|[yz]\\.)$',
    '[\\p{Alpha}]\\Q.*\\E',
  ])('generates strings that completely match %s', { tags: ['slow'] }, (pattern) => {
    const make = matchingTextGenerator(pattern)
    const texts = Array.from({ length: 200 }, (_, index) => make(randomAt(1, index)))
    expect(texts.filter((text) => !javaRegex(pattern, { whole: true }).test(text))).toEqual([])
  })

  it('reads the schema from a file, and names a missing file in the error', async () => {
    const file = join(temporaryDirectory(), 'own.avsc')
    const run = () =>
      runSource(datagen, {
        config: { 'kafka.topic': 't', 'max.interval': '0', 'schema.filename': file, 'schema.keyfield': 'a' },
      })
    await expect(run().take(1)).rejects.toThrow(
      /^cannot read the schema of schema\.filename \(ENOENT.*own\.avsc'.*: copy/,
    )
    writeFileSync(file, textOf({ type: 'int', 'arg.properties': { iteration: { start: 7 } } }))
    expect(await run().take(1)).toMatchObject([{ key: 7, keySchema: { type: 'int32' }, value: { a: 7 } }])
  })

  it('generates the same records for a seed as earlier versions', () => {
    const digests = QUICKSTART_NAMES.map((name) => {
      const { avroText, keyField } = quickstart(name)
      const { record } = createRecordGenerator(avroText, keyField)
      const records = Array.from({ length: 200 }, (_, at) => inspect(record(at, randomAt(7, at)), { depth: 9 }))
      return [name, createHash('sha256').update(records.join('')).digest('hex').slice(0, 16)]
    })
    expect(Object.fromEntries(digests)).toEqual(golden)
  })

  it.each(Object.entries(WRITTEN_BY_HAND))(
    'generates the same %s as the generator of the benchmark that is written by hand',
    (name, expected) => {
      const { avroText, keyField } = quickstart(name as HandWrittenName)
      const { record } = createRecordGenerator(avroText, keyField)
      const records = (generate: typeof record) => Array.from({ length: 500 }, (_, at) => generate(at, randomAt(3, at)))
      expect(records(record)).toStrictEqual(records(expected))
    },
  )

  it('generates records with any field names and any number of fields', () => {
    const names = ['__proto__', 'constructor', 'default', 'random', ...Array.from({ length: 600 }, (_, at) => `f${at}`)]
    for (const some of [names, names.slice(1), names.slice(1, 20), names.slice(0, 1)]) {
      const typeOf = (start: number) => ({ type: 'int', 'arg.properties': { iteration: { start } } })
      const fields = some.map((name, at) => ({ name, type: typeOf(at) }))
      const { record } = createRecordGenerator(textOf({ type: 'record', name: 'inner', fields }), '')
      const { a } = record(0, randomAt(0, 0)).value
      expect(Object.entries(a as object)).toEqual(some.map((name, at) => [name, at]))
    }
  })

  it('generates records without a key if no key field is configured', () => {
    const { keySchema, record } = createRecordGenerator(textOf('int'), '')
    expect({ keySchema, key: record(0, randomAt(0, 0)).key }).toEqual({ keySchema: null, key: null })
  })

  it.each<[Properties | string, string]>([
    ['{', 'Invalid value for configuration schema.string: expected a member name'],
    ['"int"', 'the schema must be a record, not int'],
    [{ range: { min: 3, max: 3 } }, 'o.a: the range from 3 (inclusive) to 3 (exclusive) is empty'],
    [{ regex: 'a' }, 'o.a: arg.properties.regex is not supported for int: expected options, range, iteration'],
    [{ distribution: {} }, 'o.a: arg.properties: Unrecognized key: "distribution"'],
    [{ range: { min: '3' } }, 'o.a: arg.properties.range.min: Invalid input'],
    [{ options: { file: 'x', encoding: 'json' } }, 'o.a: arg.properties.options: Invalid input'],
    [{ options: ['x'] }, 'o.a: the option "x" is not a valid int'],
    [{ iteration: { start: 1, restart: 1 } }, "o.a: an iteration from 1 with step 1 never reaches 'restart' 1"],
    [{ iteration: { start: 1, restart: 5, step: -1 } }, "never reaches 'restart' 5"],
    [{ iteration: { start: true } }, "o.a: 'start' of the iteration must be a number"],
  ])('reports the location of an invalid schema: %j', (written, message) => {
    const schema = typeof written === 'string' ? written : textOf({ type: 'int', 'arg.properties': written })
    expect(problems({ 'schema.string': schema })).toEqual([expect.stringContaining(message)])
  })

  it.each<[Properties, string]>([
    [
      { quickstart: 'users', 'schema.string': textOf('int') },
      'quickstart and schema.string are set, but only one of them is allowed',
    ],
    [{ 'schema.keyfield': 'b', 'schema.string': textOf('int') }, "o has no field 'b'; its fields are a"],
    [
      { quickstart: 'users', 'schema.keyfield': 'name' },
      "configuration schema.keyfield: ksql.users has no field 'name'; its fields are registertime",
    ],
    [{ quickstart: 'beers' }, 'String must be one of: orders, '],
    [{ 'schema.string': textOf({ type: 'string', 'arg.properties': { regex: '(' } }) }, 'o.a: the expression (: '],
    [
      { 'schema.string': textOf({ type: 'string', 'arg.properties': { regex: 'a(?=b)' } }) },
      'o.a: the expression a(?=b): lookarounds are not supported',
    ],
    [
      { 'schema.string': textOf({ type: 'string', 'arg.properties': { length: { min: 2, max: 2 } } }) },
      'the length from 2 (inclusive) to 2 (exclusive) is empty',
    ],
  ])('rejects the configuration %j', (written, message) => {
    expect(problems(written as Record<string, string>)).toEqual([expect.stringContaining(message)])
  })
})

function problems(written: Readonly<Record<string, string>>): readonly string[] {
  return validateConfig(datagen.config, { 'kafka.topic': 't', ...written }).flatMap(({ errors }) => errors)
}

function textOf(schema: unknown): string {
  return JSON.stringify({ type: 'record', name: 'o', fields: [{ name: 'a', type: schema }] })
}

/** What a field of this schema has in so many records, each of which fits. */
function valuesOf(schema: unknown, count: number): readonly unknown[] {
  const stream = createRecordGenerator(textOf(schema), '')
  return Array.from({ length: count }, (_, index) => {
    const { value } = stream.record(index, randomAt(1, index))
    checkValue(stream.schema, value)
    return value['a']
  })
}
