import { describe, expect, it } from 'vitest'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { RecordCodec } from '../../../src/registry/store/record-codec.ts'
import type { RegistryRecord } from '../../../src/registry/store/registry-record.ts'

const decode = (key: string, value: string | null, codec = new RecordCodec()) =>
  codec.decode(Buffer.from(key), value === null ? null : Buffer.from(value))
const encode = (record: RegistryRecord, codec = new RecordCodec()) => {
  if (record.kind === 'none') throw new Error('nothing to write')
  const { key, value } = codec.encode(record)
  return [String(key), value && String(value)]
}

/** Records of Confluent's registry. */
const STORED: readonly (readonly [title: string, key: string, value: string | null])[] = [
  [
    'a plain schema',
    '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
    '{"subject":"s","version":1,"id":7,"schema":"\\"int\\"","deleted":false}',
  ],
  [
    'a schema with everything',
    '{"keytype":"SCHEMA","subject":":.c:s","version":2,"magic":1}',
    '{"subject":":.c:s","version":2,"id":7,"md5":"d629bb05-ad85-3d20-fbcb-895de3c459f7","schemaType":"JSON","references":[{"name":"n","subject":"t","version":1}],"metadata":{"properties":{"a":"b"}},"ruleSet":{"domainRules":[{"name":"r","mode":"WRITE","type":"T"}]},"schema":"{}","deleted":true}',
  ],
  ['a deleted schema', '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', null],
  [
    'a config',
    '{"keytype":"CONFIG","subject":"s","magic":0}',
    '{"subject":"s","normalize":true,"compatibilityLevel":"FULL_TRANSITIVE"}',
  ],
  ['the global config', '{"keytype":"CONFIG","magic":0}', '{"compatibilityLevel":"NONE"}'],
  ['a mode', '{"keytype":"MODE","subject":"s","magic":0}', '{"subject":"s","mode":"IMPORT"}'],
  ['a deleted mode', '{"keytype":"MODE","magic":0}', null],
  ['a deleted subject', '{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}', '{"subject":"s","version":3}'],
  ['a cleared subject', '{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}', '{"subject":"s"}'],
  [
    'a context',
    '{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}',
    '{"tenant":"default","context":".c"}',
  ],
]

describe('records of the topic', () => {
  it.each(STORED)('are encoded as they were read: %s', (_, key, value) => {
    expect(encode(decode(key, value))).toEqual([key, value])
  })

  it('with an empty value delete the key', () => {
    expect(decode('{"keytype":"CONFIG","magic":0}', '')).toEqual({ kind: 'config', subject: null, value: null })
  })

  it.each([
    ['{"keytype":"CONFIG","subject":null,"magic":0}', { kind: 'config', subject: null, value: {} }],
    [
      '{"magic":0,"keytype":"SCHEMA","version":4,"subject":"s"}',
      { kind: 'schema', subject: 's', version: 4, value: null },
    ],
  ])('are written with the key text that was read: %s', (key, change) => {
    const codec = new RecordCodec()
    decode(key, null, codec)
    expect(encode(change as RegistryRecord, codec)[0]).toBe(key)
  })

  it.each([
    '{"keytype":"SCHEMA","subject":"a,\\"version\\":2","version":1,"magic":1}',
    '{"keytype":"SCHEMA","subject":"\\u0061\\n","version":1,"magic":1}',
    '{"keytype":"SCHEMA","subject":":.:s","version":0,"magic":1}',
    '{"keytype":"SCHEMA","subject":"","version":1234567890,"magic":1}',
    '{"keytype":"SCHEMA","subject":"s","version":1,"extra":{"a":2,"magic":1},"magic":1}',
    '{"keytype":"SCHEMA","subject":"s","version":1e1,"magic":1}',
  ])('have the key that its JSON text denotes: %s', (key) => {
    const { subject, version } = JSON.parse(key) as { readonly subject: string; readonly version: number }
    expect(decode(key, null)).toEqual({ kind: 'schema', subject: subject.replace(':.:', ''), version, value: null })
  })

  it.each([
    '{"keytype":"SCHEMA","subject":"s","version":01,"magic":1}',
    '{"keytype":"SCHEMA","subject":"s","version":,"magic":1}',
    '{"keytype":"SCHEMA","subject":"a\nb","version":1,"magic":1}',
    '{"keytype":"SCHEMA","subject":",\\"magic\\":1}',
  ])('with a key that is no JSON text are rejected: %s', (key) => {
    expect(() => decode(key, null)).toThrow()
  })

  it.each([
    ['"references":[{"name":"n","subject":null,"version":1}]', 'its references are invalid'],
    ['"references":{"name":"n"}', 'its references are invalid'],
    ['"metadata":{"tags":5}', 'its metadata is invalid: tags'],
    ['"ruleSet":{"domainRules":[{"name":"r","kind":"ENCRYPT"}]}', 'its rule set is invalid: domainRules.0.kind'],
  ])('cannot be read with %s, which must not be dropped', (member, reason) => {
    const key = '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
    const md5 = '"md5":"d629bb05-ad85-3d20-fbcb-895de3c459f7"'
    expect(() => decode(key, `{"subject":"s","version":1,"id":7,${md5},${member},"schema":"{}"}`)).toThrow(reason)
  })

  it('may have null entries in maps and lists, as Java permits', () => {
    const ruleSet =
      '{"domainRules":[{"name":"r","mode":"WRITE","type":"T","tags":["a",null],"params":{"x":null,"y":"z"}}]}'
    const schema = decode(
      '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
      `{"subject":"s","version":1,"id":7,"references":null,"ruleSet":${ruleSet},"schema":"{}"}`,
    )
    expect(schema).toMatchObject({
      value: {
        content: {
          references: [],
          ruleSet: { domainRules: [{ name: 'r', mode: 'WRITE', type: 'T', tags: ['a'], params: { y: 'z' } }] },
        },
      },
    })
  })

  it('keep unknown members', () => {
    const key = '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'
    const value =
      '{"subject":"s","version":1,"id":7,"schemaTags":[{"tags":["PII"]}],"schema":"\\"int\\"","deleted":false}'
    expect(encode(decode(key, value))[1]).toBe(value)
  })

  it('without subject or type in the value use the subject of the key and AVRO', () => {
    const mode = decode('{"keytype":"MODE","subject":"s","magic":0}', '{"mode":"READONLY"}')
    expect(mode).toEqual({ kind: 'mode', subject: 's', value: 'READONLY' })
    const schema = decode(
      '{"keytype":"SCHEMA","subject":"s","version":1,"magic":0}',
      '{"subject":"s","version":1,"id":7,"schema":"\\"int\\""}',
    )
    expect(schema).toMatchObject({ value: { content: { type: 'AVRO', references: [] }, deleted: false } })
  })

  it('have the GUID of the record, otherwise the MD5 of the content', () => {
    const guidWith = (members: string) => {
      const value = `{"subject":"s","version":1,"id":7,${members}"schema":"\\"int\\""}`
      return decode('{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', value)
    }
    const INT = guidOf({ text: '"int"', references: [], metadata: undefined, ruleSet: undefined })
    const guid = (text: string) => ({ value: { content: { guid: text } } })
    expect(guidWith('')).toMatchObject(guid(INT))
    expect(guidWith('"references":[],"schemaTags":[],')).toMatchObject(guid(INT))
    expect(guidWith('"md5":"D629BB05AD853D20FBCB895DE3C459F7",')).toMatchObject(
      guid('d629bb05-ad85-3d20-fbcb-895de3c459f7'),
    )
    expect(guidWith('"md5":7,')).toMatchObject(guid(INT))
    const contents = [
      '"references":[{"name":"n","subject":"t","version":1}],',
      '"metadata":{"properties":{"a":"b"}},',
      '"ruleSet":{"domainRules":[]},',
    ]
    for (const members of contents) expect(guidWith(members)).toMatchObject(guid(expect.any(String)))
  })

  it('without effect are decoded as none', () => {
    const none = { kind: 'none' }
    expect(decode('{"keytype":"NOOP","magic":0}', null)).toEqual(none)
    expect(decode('{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}', null)).toEqual(none)
  })

  it.each(['{"length":0}', '5', '[{}]'])('with invalid references throw an error: %s', (references) => {
    const value = `{"subject":"s","version":1,"id":7,"schema":"x","references":${references}}`
    expect(() => decode('{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', value)).toThrow()
  })

  it.each([
    ['{', null],
    ['7', null],
    ['{"keytype":"NEW"}', null],
    ['{"keytype":"SCHEMA","subject":"s","version":1,"magic":2}', null],
    ['{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', '{"subject":"s","version":1,"schema":"x"}'],
    ['{"keytype":"MODE","magic":0}', '{"mode":"SOMETIMES"}'],
  ])('that are invalid throw an error: %s with value %s', (key, value) => {
    expect(() => decode(key, value)).toThrow()
  })
})
