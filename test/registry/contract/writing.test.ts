import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each option of the writes and checks in the contract's table of endpoints.

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

describe('registering and looking up a schema', () => {
  it.each(
    rows({
      'returns the whole schema': { when: S, answer: INT_1 },
      'returns the same response when the schema is already registered': { given: [S], when: S, answer: INT_1 },
      'accepts the schemaType AVRO': {
        when: ['POST /subjects/s/versions', { ...INT, schemaType: 'AVRO' }],
        answer: INT_1,
      },
      'ignores unknown members': { when: ['POST /subjects/s/versions', { ...INT, x: [1] }], answer: INT_1 },
      'accepts a JSON schema': {
        when: ['POST /subjects/s/versions', JSONS],
        answer: { ...INT_1, schemaType: 'JSON', schema: '{"type":"object"}' },
      },
      'accepts a Protobuf schema': {
        when: ['POST /subjects/s/versions', PROTO],
        answer: { ...INT_1, schemaType: 'PROTOBUF', schema: 'syntax = "proto3";\n\nmessage M {}\n' },
      },
      'assigns the same ID to the same schema in another subject': {
        given: [S],
        when: ['POST /subjects/t/versions', INT],
        answer: INT_1,
      },
      'assigns IDs independently in each context': {
        given: [S],
        when: ['POST /contexts/c/subjects/t/versions', LONG],
        answer: { ...INT_1, schema: '"long"' },
      },
      'accepts a version number that is the next one, and stores it in the metadata': {
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
      'normalizes the schema with normalize=true': {
        when: ['POST /subjects/s/versions?normalize=true', unsorted('z', 'y')],
        answer: { ...INT_1, schema: unsorted('y', 'z').schema },
      },
      'normalizes the schema if the config sets normalize': {
        given: [
          ['PUT /config/s', { normalize: true }],
          ['POST /subjects/s/versions', unsorted('z', 'y')],
        ],
        when: ['POST /subjects/s/versions', unsorted('y', 'z')],
        answer: expect.objectContaining({ version: 1 }),
      },
      'skips the compatibility check with force=true': {
        given: [S],
        when: ['POST /subjects/s/versions?force=true', { schema: '"string"' }],
        answer: { ...INT_1, id: 2, version: 2, schema: '"string"' },
      },
      'returns the registered schema in the requested format': {
        given: [['POST /subjects/address/versions', ADDRESS]],
        when: ['POST /subjects/s/versions?format=resolved', PERSON],
        answer: { ...INT_1, id: 2, references: PERSON.references, schema: RESOLVED },
      },
      'resolves the version -1 of a reference to the latest version': {
        given: [['POST /subjects/address/versions', ADDRESS]],
        when: [
          'POST /subjects/s/versions',
          { ...PERSON, references: [{ name: 'n.Address', subject: 'address', version: -1 }] },
        ],
        answer: { ...INT_1, id: 2, references: PERSON.references, schema: PERSON.schema },
      },
      'returns only the ID with response profile 7': {
        settings: { 'weir.response.profile': '7' },
        when: S,
        answer: { id: 1 },
      },
      'looks up a schema by its content': { given: [S], when: ['POST /subjects/s', INT], answer: at('s', INT_1) },
      'looks up an Avro schema whose aliases and properties have a different order': {
        given: [['POST /subjects/s/versions', DECIMAL('"precision":4,"scale":2', '"a","b"')]],
        when: ['POST /subjects/s', DECIMAL('"scale":2,"precision":4', '"b","a"')],
        answer: at('s', { ...INT_1, schema: DECIMAL('"precision":4,"scale":2', '"a","b"').schema }),
      },
      'does not register a second version of an Avro schema with a different order': {
        given: [['POST /subjects/s/versions', DECIMAL('"precision":4,"scale":2', '"a","b"')]],
        when: ['POST /subjects/s/versions', DECIMAL('"scale":2,"precision":4', '"b","a"')],
        answer: expect.objectContaining({ id: 1, version: 1 }),
      },
      'looks up a soft-deleted version with deleted=true': {
        given: [S, ['DELETE /subjects/s']],
        when: ['POST /subjects/s?deleted=true', INT],
        answer: { ...at('s', INT_1), deleted: true },
      },
      'looks up a schema by its normalized content': {
        given: [['POST /subjects/s/versions?normalize=true', unsorted('z', 'y')]],
        when: ['POST /subjects/s?normalize=true', unsorted('y', 'z')],
        answer: expect.objectContaining({ version: 1 }),
      },
      'looks up a schema in other contexts if the default context has no such subject': {
        given: [['POST /contexts/c/subjects/s/versions', INT]],
        when: ['POST /subjects/s', INT],
        answer: at(':.c:s', INT_1),
      },
      'looks up a schema and returns it in the requested format': {
        given: [
          ['POST /subjects/address/versions', ADDRESS],
          ['POST /subjects/s/versions', PERSON],
        ],
        when: ['POST /subjects/s?format=resolved', PERSON],
        answer: at('s', { ...INT_1, id: 2, references: PERSON.references, schema: RESOLVED }),
      },
      'returns an empty object for POST /': { when: ['POST /', {}], answer: {} },
    }),
  )('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})

describe('checking compatibility', () => {
  const against = (version: string) => `POST /compatibility/subjects/s/versions${version}` as const
  const R: Request = ['POST /subjects/s/versions', record(a)]

  it.each(
    rows({
      'is compatible with the latest version of an unknown subject': {
        when: [against('/latest'), INT],
        answer: { is_compatible: true },
      },
      'is compatible with all versions of an unknown subject': {
        when: [against(''), INT],
        answer: { is_compatible: true },
      },
      'returns 40402 for an unknown version number': {
        when: [against('/1'), INT],
        ...errorResponse(40402, 'Version 1 not found.'),
      },
      'returns 42202 for an invalid version': {
        when: [against('/0'), INT],
        ...errorResponse(42202, expect.stringContaining("'0' is not a valid version id")),
      },
      'returns true for a compatible schema': {
        given: [R],
        when: [against('/1'), record()],
        answer: { is_compatible: true },
      },
      'returns false for an incompatible schema': {
        given: [R],
        when: [against('/latest'), record(a, b)],
        answer: { is_compatible: false },
      },
      'resolves the alias of the subject': {
        given: [R, ['PUT /config/other', { alias: 's' }]],
        when: ['POST /compatibility/subjects/other/versions/latest', record(a, b)],
        answer: { is_compatible: false },
      },
      'returns no messages for a compatible schema with verbose=true': {
        given: [R],
        when: [`${against('/1')}?verbose=true`, record()],
        answer: { is_compatible: true, messages: [] },
      },
      'returns the incompatibilities with verbose=true': {
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
      'checks all versions with a transitive level': {
        given: [R, ['POST /subjects/s/versions', record()], ['PUT /config/s', { compatibility: 'FORWARD_TRANSITIVE' }]],
        when: [against(''), record(b)],
        answer: { is_compatible: false },
      },
      'does not check soft-deleted versions': {
        given: [R, ['POST /subjects/s/versions', record()], ['DELETE /subjects/s/versions/1']],
        when: [against(''), record(b, a)],
        answer: { is_compatible: false },
      },
      'returns 42201 for an invalid schema': {
        when: [against('/latest'), { schema: '{' }],
        ...errorResponse(42201, expect.stringContaining('Invalid schema')),
      },
      'returns the error of an invalid schema as a message with verbose=true': {
        when: [`${against('/latest')}?verbose=true`, { schema: '{' }],
        answer: { is_compatible: false, messages: [expect.stringContaining('Invalid schema')] },
      },
    }),
  )('%s', (_, row) => expectRow(row))
})

describe('the config endpoints', () => {
  const PUT: Request = ['PUT /config/s', { compatibility: 'full', normalize: true }]

  it.each(
    rows({
      'sets and returns the global config': {
        when: ['PUT /config', { compatibility: 'NONE' }],
        answer: { compatibility: 'NONE' },
      },
      'returns the level as compatibilityLevel from GET': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['GET /config'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'deletes and returns the global config': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['DELETE /config'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'returns the server’s default after the global config was deleted': {
        given: [['PUT /config', { compatibility: 'NONE' }], ['DELETE /config']],
        when: ['GET /config'],
        answer: { compatibilityLevel: 'BACKWARD' },
      },
      'sets and returns the config of a subject': { when: PUT, answer: { compatibility: 'FULL', normalize: true } },
      'keeps members that an update does not contain': {
        given: [PUT],
        when: ['PUT /config/s', { alias: 't' }],
        answer: { compatibility: 'FULL', normalize: true, alias: 't' },
      },
      'removes members that are null in an update': {
        given: [PUT],
        when: ['PUT /config/s', { normalize: null }],
        answer: { compatibility: 'FULL' },
      },
      'deletes and returns the config of a subject': {
        given: [PUT],
        when: ['DELETE /config/s'],
        answer: { compatibilityLevel: 'FULL', normalize: true },
      },
      'sets the config of a context': {
        given: [['PUT /contexts/c/config', { compatibility: 'NONE' }]],
        when: ['GET /config/:.c:'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'returns the inherited config with defaultToGlobal=true': {
        given: [['PUT /config', { compatibility: 'NONE' }]],
        when: ['GET /config/s?defaultToGlobal=true'],
        answer: { compatibilityLevel: 'NONE' },
      },
      'stores every member of a config': {
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

describe('the mode endpoints', () => {
  const READONLY: Request = ['PUT /mode/s', { mode: 'READONLY' }]

  it.each(
    rows({
      'sets the mode and returns it as sent': {
        when: ['PUT /mode', { mode: 'readonly' }],
        answer: { mode: 'readonly' },
      },
      'returns the mode in upper case': {
        given: [['PUT /mode', { mode: 'readonly' }]],
        when: ['GET /mode'],
        answer: { mode: 'READONLY' },
      },
      'deletes and returns the global mode': {
        given: [['PUT /mode', { mode: 'READONLY' }]],
        when: ['DELETE /mode'],
        answer: { mode: 'READONLY' },
      },
      'sets and returns the mode of a subject': { when: READONLY, answer: { mode: 'READONLY' } },
      'returns the mode of a subject': { given: [READONLY], when: ['GET /mode/s'], answer: { mode: 'READONLY' } },
      'deletes and returns the mode of a subject': {
        given: [READONLY],
        when: ['DELETE /mode/s'],
        answer: { mode: 'READONLY' },
      },
      'removes the mode of a subject if it is null': {
        given: [READONLY, ['PUT /mode/s', { mode: null }]],
        when: ['GET /mode/s'],
        ...errorResponse(40409, "Subject 's' does not have subject-level mode configured"),
      },
      'deletes the modes of all subjects with recursive=true': {
        given: [READONLY, ['DELETE /mode?recursive=true']],
        when: ['GET /mode/s'],
        ...errorResponse(40409, expect.any(String)),
      },
      'sets FORWARD for the global scope': {
        when: ['PUT /mode/:.__GLOBAL:', { mode: 'FORWARD' }],
        answer: { mode: 'FORWARD' },
      },
      'sets IMPORT for a subject with live versions with force=true': {
        given: [S],
        when: ['PUT /mode/s?force=true', { mode: 'IMPORT' }],
        answer: { mode: 'IMPORT' },
      },
      'accepts IDs and versions on registration in mode IMPORT': {
        given: [['PUT /mode', { mode: 'IMPORT' }]],
        when: ['POST /subjects/s/versions', { ...INT, id: 7, version: 3 }],
        answer: { ...INT_1, id: 7, version: 3 },
      },
      'returns the global mode from GET /': {
        given: [['PUT /mode', { mode: 'READONLY' }]],
        when: ['GET /'],
        answer: { mode: 'READONLY' },
      },
    }),
  )('%s', (_, row) => expectRow(row))
})
