import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseProperties } from '../../src/config/properties.ts'
import {
  booleanSetting,
  enumSetting,
  integerSetting,
  listSetting,
  readSettings,
  type SettingsSpec,
} from '../../src/config/settings.ts'
import { settingsFromEnvironment, settingsFromSources } from '../../src/config/settings-sources.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const spec: SettingsSpec<z.ZodObject> = {
  program: 'the registry',
  shape: z.object({
    listeners: listSetting().default(['http://0.0.0.0:8081']),
    'brokerstore.topic': z.string().default('_schemas'),
    'brokerstore.timeout.ms': integerSetting({ min: 1 }).default(500),
    debug: booleanSetting().default(false),
    'schema.compatibility.level': enumSetting(['NONE', 'BACKWARD']).default('BACKWARD'),
  }),
  aliases: { 'kafkastore.*': 'brokerstore.*', 'avro.compatibility.level': 'schema.compatibility.level' },
  passThrough: ['brokerstore.'],
}

const written = (source: string, pairs: Record<string, string>) =>
  Object.entries(pairs).map(([key, value]) => ({ key, value, source }))

describe('settings', () => {
  it('are read from several sources: the environment overrides the file, and a flag both, by any alias of a key', () => {
    const file = join(temporaryDirectory(), 'a.properties')
    writeFileSync(file, 'kafkastore.topic=from-file\ndebug=false\nlisteners=http://a:1, http://b:2\n')
    const environment = written('environment', { 'kafkastore.topic': 'from-environment', debug: ' TRUE ' })
    const flags = ['brokerstore.topic=from-flag', 'avro.compatibility.level=none']
    const { values } = readSettings(spec, settingsFromSources({ file, environment, flags }))
    expect(values).toEqual({
      listeners: ['http://a:1', 'http://b:2'],
      'brokerstore.topic': 'from-flag',
      'brokerstore.timeout.ms': 500,
      debug: true,
      'schema.compatibility.level': 'NONE',
    })
  })

  it('return keys that are not their own, and warn about those without a known prefix', () => {
    const { rest, warnings } = readSettings(
      spec,
      written('f:3', { 'kafkastore.sasl.mechanism': 'PLAIN', lisseners: 'x' }),
    )
    expect(rest).toEqual({ 'brokerstore.sasl.mechanism': 'PLAIN', lisseners: 'x' })
    expect(warnings).toEqual(["f:3: the registry has no setting 'lisseners': it is ignored"])
  })

  it('are rejected with all invalid values at once: key, value, source and the expected value', () => {
    const wrong = written('f:7', { debug: 'yes', 'kafkastore.timeout.ms': '0' })
    expect(() => readSettings(spec, wrong)).toThrow(
      'f:7: brokerstore.timeout.ms=0: expected a whole number from 1 to 2147483647\nf:7: debug=yes: expected true or false',
    )
  })

  it('are rejected when two aliases of a key have different values', () => {
    const both = written('f', { 'kafkastore.topic': 'a', 'brokerstore.topic': 'b' })
    expect(() => readSettings(spec, both)).toThrow(
      "'kafkastore.topic' and 'brokerstore.topic' are names of the same setting",
    )
  })

  it('are read from environment variables as in Confluent’s images', () => {
    const environment = { SCHEMA_REGISTRY_LISTENERS: 'l', SCHEMA_REGISTRY_A__B_C___D: 'v', OTHER: 'o' }
    expect(settingsFromEnvironment('SCHEMA_REGISTRY', environment).map(({ key, value }) => [key, value])).toEqual([
      ['listeners', 'l'],
      ['a_b.c-d', 'v'],
    ])
  })

  it('reject a flag that is not KEY=VALUE', () => {
    expect(() => settingsFromSources({ file: undefined, environment: [], flags: ['oops'] })).toThrow(
      '--set oops: expected KEY=VALUE',
    )
  })
})

describe('properties file', () => {
  it.each([
    ['a=b', { a: 'b' }],
    ['a: b', { a: 'b' }],
    ['a b', { a: 'b' }],
    ['a', { a: '' }],
    ['# c\n! d\n\na=1', { a: '1' }],
    ['a\\=b=c\\:d', { 'a=b': 'c:d' }],
    ['a=one\\\n   two', { a: 'onetwo' }],
    ['a=ends\\\\\nb=2', { a: 'ends\\', b: '2' }],
    ['a=\\u00e4\\t\\\\', { a: 'ä\t\\' }],
    ['a=1\na=2', { a: '2' }],
    ['jaas=M required user="x=y";', { jaas: 'M required user="x=y";' }],
  ])('%j', (text, expected) => {
    expect(Object.fromEntries([...parseProperties(text)].map(([key, { value }]) => [key, value]))).toEqual(expected)
  })

  it('has the line number of each key', () => {
    expect(parseProperties('#\na=1\\\n 2\nb=3').get('b')?.line).toBe(4)
  })

  it('joins many lines in linear time', async () => {
    const parse = () => expect(parseProperties('a=x\\\n'.repeat(200_000)).get('a')?.value).toHaveLength(599_998)
    expect(await cpuMsOf(parse)).toBeLessThan(5_000)
  })
})

describe('a .properties file', () => {
  const read = (content: string | Buffer) => {
    const file = join(temporaryDirectory(), 'worker.properties')
    writeFileSync(file, content)
    const { rest, warnings } = readSettings(
      { ...spec, passThrough: ['x.'] },
      settingsFromSources({ file, environment: [], flags: [] }),
    )
    return { rest, warnings: warnings.map((warning) => warning.replace(file, 'FILE')) }
  }

  it('is read as ISO 8859-1 with escapes, as Kafka does, and a line in the log says so if it is UTF-8', () => {
    expect(read('# Straße\nx.a=1\nx.name=M\u00fcller\nx.euro=\u20ac\n')).toEqual({
      rest: { 'x.a': '1', 'x.name': 'M\u00c3\u00bcller', 'x.euro': '\u00e2\u0082\u00ac' },
      warnings: [
        "FILE:3: the characters beyond ASCII are read as ISO 8859-1, as Kafka's programs read them, although the file is valid UTF-8: replace them by escapes such as \\u00fc",
      ],
    })
    expect(read(Buffer.from('x.name=M\u00fcller', 'latin1'))).toEqual({
      rest: { 'x.name': 'M\u00fcller' },
      warnings: [],
    })
    expect(read('# Straße\nx.name=M\\u00fcller \\u20AC')).toEqual({
      rest: { 'x.name': 'M\u00fcller \u20ac' },
      warnings: [],
    })
  })

  it('with an invalid escape is an error, as in Java', () => {
    expect(() => read('x.a=\\u00f')).toThrow(/cannot read the settings file .*: Malformed \\uxxxx encoding: \\u00f/)
  })
})
