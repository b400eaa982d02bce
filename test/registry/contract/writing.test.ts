import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each thing that a write or a check of the contract's table of endpoints can be asked for.

const INT = { schema: '{"type": "int"}' }
const LONG = { schema: '"long"' }
const record = (...fields: object[]) => ({ schema: JSON.stringify({ type: 'record', name: 'R', fields }) })
const a = { name: 'a', type: 'int' }
const b = { name: 'b', type: 'int' }
const DECIMAL = (properties: string, aliases: string) => ({
  schema: `{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"bytes","logicalType":"decimal",${properties}}}],"aliases":[${aliases}]}`,
})
const unsorted = (...aliases: string[]) => ({
  schema: JSON.stringify({ type: 'record', name: 'R', fields: [], aliases }),
})
const guid = expect.any(String)
const ts = expect.any(Number)
const INT_1 = { id: 1, version: 1, guid, schemaType: 'AVRO', schema: '"int"' }
const at = (subject: string, registered: object) => ({ subject, ...registered, ts })
const ADDRESS = { schema: '{"type":"record","name":"n.Address","fields":[]}' }
const PERSON = {
  schema: '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":"Address"}]}',
  references: [{ name: 'n.Address', subject: 'address', version: 1 }],
}
const RESOLVED =
  '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":{"type":"record","name":"Address","fields":[]}}]}'
const PROTO = { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; message M { }' }
const JSONS = { schemaType: 'JSON', schema: '{ "type": "object" }' }

const S: Request = ['POST /subjects/s/versions', INT]
const rows = (table: Readonly<Record<string, RegistryCase>>) => Object.entries(table)

describe('registering and looking up', () => {
  it.each(
    rows({
      'answers the whole schema': { when: S, answer: INT_1 },
      'answers the same again': { given: [S], when: S, answer: INT_1 },
      'takes AVRO by its name': { when: ['POST /subjects/s/versions', { ...INT, schemaType: 'AVRO' }], answer: INT_1 },
      'ignores members it does not know': { when: ['POST /subjects/s/versions', { ...INT, x: [1] }], answer: INT_1 },
      'takes JSON': {
        when: ['POST /subjects/s/versions', JSONS],
        answer: { ...INT_1, schemaType: 'JSON', schema: '{"type":"object"}' },
      },
      'takes PROTOBUF': {
        when: ['POST /subjects/s/versions', PROTO],
        answer: { ...INT_1, schemaType: 'PROTOBUF', schema: 'syntax = "proto3";\n\nmessage M {}\n' },
      },
      'gives one id to one content': {
        given: [S],
        when: ['POST /subjects/t/versions', INT],
        answer: INT_1,
      },
      'counts in each context': {
        given: [S],
        when: ['POST /contexts/c/subjects/t/versions', LONG],
        answer: { ...INT_1, schema: '"long"' },
      },
      'takes the version that is next': {
        given: [S],
        when: ['POST /subjects/s/versions', { ...LONG, version: 2 }],
        answer: {
          ...INT_1,
          id: 2,
          version: 2,
          schema: '"long"',
          metadata: { properties: { 'confluent:version': '2' } },
        },
      },
      normalises: {
        when: ['POST /subjects/s/versions?normalize=true', unsorted('z', 'y')],
        answer: { ...INT_1, schema: unsorted('y', 'z').schema },
      },
      'normalises where config says so': {
        given: [
          ['PUT /config/s', { normalize: true }],
          ['POST /subjects/s/versions', unsorted('z', 'y')],
        ],
        when: ['POST /subjects/s/versions', unsorted('y', 'z')],
        answer: expect.objectContaining({ version: 1 }),
      },
      'leaves compatibility unchecked when forced': {
        given: [S],
        when: ['POST /subjects/s/versions?force=true', { schema: '"string"' }],
        answer: { ...INT_1, id: 2, version: 2, schema: '"string"' },
      },
      'answers in the form that is asked for': {
        given: [['POST /subjects/address/versions', ADDRESS]],
        when: ['POST /subjects/s/versions?format=resolved', PERSON],
        answer: { ...INT_1, id: 2, references: PERSON.references, schema: RESOLVED },
      },
      'takes a reference to the latest version': {
        given: [['POST /subjects/address/versions', ADDRESS]],
        when: [
          'POST /subjects/s/versions',
          { ...PERSON, references: [{ name: 'n.Address', subject: 'address', version: -1 }] },
        ],
        answer: { ...INT_1, id: 2, references: PERSON.references, schema: PERSON.schema },
      },
      'answers the id alone on the older line': {
        settings: { 'weir.response.profile': '7' },
        when: S,
        answer: { id: 1 },
      },
      'finds by content': { given: [S], when: ['POST /subjects/s', INT], answer: at('s', INT_1) },
      'finds an Avro schema whose aliases and properties are in another order': {
        given: [['POST /subjects/s/versions', DECIMAL('"precision":4,"scale":2', '"a","b"')]],
        when: ['POST /subjects/s', DECIMAL('"scale":2,"precision":4', '"b","a"')],
        answer: at('s', { ...INT_1, schema: DECIMAL('"precision":4,"scale":2', '"a","b"').schema }),
      },
      'registers no second version of an Avro schema in another order': {
        given: [['POST /subjects/s/versions', DECIMAL('"precision":4,"scale":2', '"a","b"')]],
        when: ['POST /subjects/s/versions', DECIMAL('"scale":2,"precision":4', '"b","a"')],
        answer: expect.objectContaining({ id: 1, version: 1 }),
      },
      'finds deleted ones when asked': {
        given: [S, ['DELETE /subjects/s']],
        when: ['POST /subjects/s?deleted=true', INT],
        answer: { ...at('s', INT_1), deleted: true },
      },
      'finds by normalised content': {
        given: [['POST /subjects/s/versions?normalize=true', unsorted('z', 'y')]],
        when: ['POST /subjects/s?normalize=true', unsorted('y', 'z')],
        answer: expect.objectContaining({ version: 1 }),
      },
      'finds in any context': {
        given: [['POST /contexts/c/subjects/s/versions', INT]],
        when: ['POST /subjects/s', INT],
        answer: at(':.c:s', INT_1),
      },
      'finds and answers in the form that is asked for': {
        given: [
          ['POST /subjects/address/versions', ADDRESS],
          ['POST /subjects/s/versions', PERSON],
        ],
        when: ['POST /subjects/s?format=resolved', PERSON],
        answer: at('s', { ...INT_1, id: 2, references: PERSON.references, schema: RESOLVED }),
      },
      'answers POST /': { when: ['POST /', {}], answer: {} },
    }),
  )('%s', (_, row) => expectRow(row))
})

describe('checking compatibility', () => {
  const against = (version: string) => `POST /compatibility/subjects/s/versions${version}` as const
  const R: Request = ['POST /subjects/s/versions', record(a)]

  it.each(
    rows({
      'has nothing to say against an unknown subject’s latest': {
        when: [against('/latest'), INT],
        answer: { is_compatible: true },
      },
      'nor against all its versions': { when: [against(''), INT], answer: { is_compatible: true } },
      'misses a numbered version': { when: [against('/1'), INT], ...errorResponse(40402, 'Version 1 not found.') },
      'refuses what is no version': {
        when: [against('/0'), INT],
        ...errorResponse(42202, expect.stringContaining("'0' is not a valid version id")),
      },
      'says yes': { given: [R], when: [against('/1'), record()], answer: { is_compatible: true } },
      'says no': { given: [R], when: [against('/latest'), record(a, b)], answer: { is_compatible: false } },
      'follows an alias, as registering does': {
        given: [R, ['PUT /config/other', { alias: 's' }]],
        when: ['POST /compatibility/subjects/other/versions/latest', record(a, b)],
        answer: { is_compatible: false },
      },
      'says yes in many words': {
        given: [R],
        when: [`${against('/1')}?verbose=true`, record()],
        answer: { is_compatible: true, messages: [] },
      },
      'says no with reasons': {
        given: [R],
        when: [`${against('/latest')}?verbose=true`, record(a, b)],
        answer: {
          is_compatible: false,
          messages: [
            "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'b' at path '/fields/1' in the new schema has no default value and is missing in the old schema', additionalInfo:'b'}",
            '{oldSchemaVersion: 1}',
            `{oldSchema: '${record(a).schema}'}`,
            "{validateFields: 'false', compatibility: 'BACKWARD'}",
          ],
        },
      },
      'asks the versions that the level demands': {
        given: [R, ['POST /subjects/s/versions', record()], ['PUT /config/s', { compatibility: 'FORWARD_TRANSITIVE' }]],
        when: [against(''), record(b)],
        answer: { is_compatible: false },
      },
      'leaves deleted versions out': {
        given: [R, ['POST /subjects/s/versions', record()], ['DELETE /subjects/s/versions/1']],
        when: [against(''), record(b, a)],
        answer: { is_compatible: false },
      },
      'refuses what is no schema': {
        when: [against('/latest'), { schema: '{' }],
        ...errorResponse(42201, expect.stringContaining('Invalid schema')),
      },
      'says why it is no schema': {
        when: [`${against('/latest')}?verbose=true`, { schema: '{' }],
        answer: { is_compatible: false, messages: [expect.stringContaining('Invalid schema')] },
      },
    }),
  )('%s', (_, row) => expectRow(row))
})

describe('config', () => {
  const PUT: Request = ['PUT /config/s', { compatibility: 'full', normalize: true }]

  it.each(
    rows({
      'is set for everything': {
        when: ['PUT /config', { compatibility: 'NONE' }],
        answer: { compatibility: 'NONE' },
      },
      'is read under its other name': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['GET /config'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'is deleted for everything': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['DELETE /config'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'is the server’s when it is deleted': {
        given: [['PUT /config', { compatibility: 'NONE' }], ['DELETE /config']],
        when: ['GET /config'],
        answer: { compatibilityLevel: 'BACKWARD' },
      },
      'is set for a subject': { when: PUT, answer: { compatibility: 'FULL', normalize: true } },
      'keeps what is not named': {
        given: [PUT],
        when: ['PUT /config/s', { alias: 't' }],
        answer: { compatibility: 'FULL', normalize: true, alias: 't' },
      },
      'unsets what is null': {
        given: [PUT],
        when: ['PUT /config/s', { normalize: null }],
        answer: { compatibility: 'FULL' },
      },
      'is deleted for a subject': {
        given: [PUT],
        when: ['DELETE /config/s'],
        answer: { compatibilityLevel: 'FULL', normalize: true },
      },
      'is set for a context': {
        given: [['PUT /contexts/c/config', { compatibility: 'NONE' }]],
        when: ['GET /config/:.c:'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'is found around a subject': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['GET /config/s?defaultToGlobal=true'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'has every member': {
        when: [
          'PUT /config/s',
          {
            alias: 't',
            aliasForDeks: 'u',
            normalize: true,
            validateFields: true,
            validateNewSchemas: false,
            validateRules: true,
            compatibility: 'NONE',
            compatibilityPolicy: 'LENIENT',
            compatibilityGroup: 'g',
            defaultMetadata: { properties: { x: '1' } },
            overrideMetadata: { tags: { x: ['1'] } },
            defaultRuleSet: { domainRules: [] },
            overrideRuleSet: { migrationRules: [] },
          },
        ],
        answer: expect.objectContaining({
          alias: 't',
          aliasForDeks: 'u',
          normalize: true,
          validateFields: true,
          validateNewSchemas: false,
          validateRules: true,
          compatibility: 'NONE',
          compatibilityPolicy: 'LENIENT',
          compatibilityGroup: 'g',
          defaultMetadata: { properties: { x: '1' } },
          overrideMetadata: { tags: { x: ['1'] } },
        }),
      },
    }),
  )('%s', (_, row) => expectRow(row))
})

describe('mode', () => {
  const READONLY: Request = ['PUT /mode/s', { mode: 'READONLY' }]

  it.each(
    rows({
      'is set and echoed': { when: ['PUT /mode', { mode: 'readonly' }], answer: { mode: 'readonly' } },
      'is read in upper case': {
        given: [['PUT /mode', { mode: 'readonly' }]],
        when: ['GET /mode'],
        answer: { mode: 'READONLY' },
      },
      'is deleted for everything': {
        given: [['PUT /mode', { mode: 'READONLY' }]],
        when: ['DELETE /mode'],
        answer: { mode: 'READONLY' },
      },
      'is set for a subject': { when: READONLY, answer: { mode: 'READONLY' } },
      'is read for a subject': { given: [READONLY], when: ['GET /mode/s'], answer: { mode: 'READONLY' } },
      'is deleted for a subject': { given: [READONLY], when: ['DELETE /mode/s'], answer: { mode: 'READONLY' } },
      'is unset by null': {
        given: [READONLY, ['PUT /mode/s', { mode: null }]],
        when: ['GET /mode/s'],
        ...errorResponse(40409, "Subject 's' does not have subject-level mode configured"),
      },
      'is deleted with those within': {
        given: [READONLY, ['DELETE /mode?recursive=true']],
        when: ['GET /mode/s'],
        ...errorResponse(40409, expect.any(String)),
      },
      'is FORWARD above all contexts': {
        when: ['PUT /mode/:.__GLOBAL:', { mode: 'FORWARD' }],
        answer: { mode: 'FORWARD' },
      },
      'is IMPORT over live versions when forced': {
        given: [S],
        when: ['PUT /mode/s?force=true', { mode: 'IMPORT' }],
        answer: { mode: 'IMPORT' },
      },
      'takes ids and versions in IMPORT': {
        given: [['PUT /mode', { mode: 'IMPORT' }]],
        when: ['POST /subjects/s/versions', { ...INT, id: 7, version: 3 }],
        answer: { ...INT_1, id: 7, version: 3 },
      },
      'shows in the root': {
        given: [['PUT /mode', { mode: 'READONLY' }]],
        when: ['GET /'],
        answer: { mode: 'READONLY' },
      },
    }),
  )('%s', (_, row) => expectRow(row))
})
