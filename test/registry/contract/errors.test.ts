import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each error of the contract that a request can cause, with its exact message.

const INT = { schema: '"int"' }
const S: Request = ['POST /subjects/s/versions', INT]
const A: Request = ['POST /subjects/a/versions', { schema: '{"type":"record","name":"A","fields":[]}' }]
const B: Request = [
  'POST /subjects/b/versions',
  {
    schema: '{"type":"record","name":"B","fields":[{"name":"a","type":"A"}]}',
    references: [{ name: 'A', subject: 'a', version: 1 }],
  },
]
/** Types that reference each other in a ring. Comparing two rings with coprime lengths compares every pair of types. */
const ring = (length: number) => ({
  schema: JSON.stringify(
    Array.from({ length }, (_, at) => ({
      type: 'record',
      name: `R${at}`,
      fields: [{ name: 'n', type: `R${(at + 1) % length}` }],
    })),
  ),
})
const text = (word: string) => expect.stringContaining(word)
const VERSION = ' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"'
const LEVELS =
  'Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive'
const MODES = 'Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.'
const referenced = (subject: string, version: number) =>
  `One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=${subject},version=${version}}.`
const UNKNOWN_SUBJECT = errorResponse(40401, "Subject 'x' not found.")
const UNKNOWN_VERSION = errorResponse(40402, 'Version 2 not found.')
const UNKNOWN_PATH = errorResponse(404, 'HTTP 404 Not Found', 404)
const MISSING_BODY = errorResponse(422, expect.any(String), 422)
const INVALID_BODY = errorResponse(400, expect.any(String), 400)
const UNKNOWN_ID = errorResponse(40403, 'Schema 7 not found')
const UNKNOWN_GUID = errorResponse(40403, 'Schema abc not found')
const MODES_IMMUTABLE = errorResponse(42205, 'Mode changes are not allowed')
const READONLY: Request = ['PUT /mode', { mode: 'READONLY' }]
const IMPORT: Request = ['PUT /mode/s', { mode: 'IMPORT' }]
const isReadOnly = (subject: string, context = '.') =>
  errorResponse(42205, `Subject ${subject} in context ${context} is in read-only mode`)

const UNRESOLVED = { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; message M { Gone g = 1; }' }

const ROWS: Readonly<Record<string, RegistryCase>> = {
  '40401 when reading a version of an unknown subject': { when: ['GET /subjects/x/versions/1'], ...UNKNOWN_SUBJECT },
  '40401 when reading the schema text of an unknown subject': {
    when: ['GET /subjects/x/versions/1/schema'],
    ...UNKNOWN_SUBJECT,
  },
  '40401 when listing the versions of an unknown subject': { when: ['GET /subjects/x/versions'], ...UNKNOWN_SUBJECT },
  '40401 when searching an unknown subject by metadata': { when: ['GET /subjects/x/metadata'], ...UNKNOWN_SUBJECT },
  '40401 when listing references to an unknown subject': {
    when: ['GET /subjects/x/versions/1/referencedby'],
    ...UNKNOWN_SUBJECT,
  },
  '40401 when looking up a schema under an unknown subject': { when: ['POST /subjects/x', INT], ...UNKNOWN_SUBJECT },
  '40401 when deleting an unknown subject': { when: ['DELETE /subjects/x'], ...UNKNOWN_SUBJECT },
  '40401 when deleting a version of an unknown subject': {
    when: ['DELETE /subjects/x/versions/1'],
    ...UNKNOWN_SUBJECT,
  },
  '40401 when deleting the config of an unknown subject': { when: ['DELETE /config/x'], ...UNKNOWN_SUBJECT },
  '40401 when deleting the mode of an unknown subject': { when: ['DELETE /mode/x'], ...UNKNOWN_SUBJECT },
  '40401 when listing the versions of a soft-deleted subject': {
    given: [S, ['DELETE /subjects/s']],
    when: ['GET /subjects/s/versions'],
    ...errorResponse(40401, "Subject 's' not found."),
  },
  '40402 when reading an unknown version': { given: [S], when: ['GET /subjects/s/versions/2'], ...UNKNOWN_VERSION },
  '40402 when reading a soft-deleted version': {
    given: [S, ['POST /subjects/s/versions', { schema: '"long"' }], ['DELETE /subjects/s/versions/1']],
    when: ['GET /subjects/s/versions/1'],
    ...errorResponse(40402, 'Version 1 not found.'),
  },
  '40402 when reading the latest version of a soft-deleted subject': {
    given: [S, ['DELETE /subjects/s']],
    when: ['GET /subjects/s/versions/latest?deleted=true'],
    ...errorResponse(40402, 'Version -1 not found.'),
  },
  '40402 when listing references to an unknown version': {
    given: [S],
    when: ['GET /subjects/s/versions/2/referencedby'],
    ...UNKNOWN_VERSION,
  },
  '40402 when deleting an unknown version': { given: [S], when: ['DELETE /subjects/s/versions/2'], ...UNKNOWN_VERSION },
  '40403 when looking up a schema that is not registered': {
    given: [S],
    when: ['POST /subjects/s', { schema: '"long"' }],
    ...errorResponse(40403, 'Schema not found'),
  },
  '40403 when no version has the metadata properties': {
    given: [S],
    when: ['GET /subjects/s/metadata?key=x&value=y'],
    ...errorResponse(40403, 'Schema not found'),
  },
  '40403 for an unknown ID': { when: ['GET /schemas/ids/7'], ...UNKNOWN_ID },
  '40403 for the schema text of an unknown ID': { when: ['GET /schemas/ids/7/schema'], ...UNKNOWN_ID },
  '40403 for the subjects of an unknown ID': { when: ['GET /schemas/ids/7/subjects'], ...UNKNOWN_ID },
  '40403 for the versions of an unknown ID': { when: ['GET /schemas/ids/7/versions'], ...UNKNOWN_ID },
  '40403 for an unknown GUID': { when: ['GET /schemas/guids/abc'], ...UNKNOWN_GUID },
  '40403 for the IDs of an unknown GUID': { when: ['GET /schemas/guids/abc/ids'], ...UNKNOWN_GUID },
  '40404 when soft-deleting a soft-deleted subject': {
    given: [S, ['DELETE /subjects/s']],
    when: ['DELETE /subjects/s'],
    ...errorResponse(40404, "Subject 's' was soft deleted.Set permanent=true to delete permanently"),
  },
  '40405 when hard-deleting a subject that is not soft-deleted': {
    given: [S],
    when: ['DELETE /subjects/s?permanent=true'],
    ...errorResponse(40405, "Subject 's' was not deleted first before being permanently deleted"),
  },
  '40406 when soft-deleting a soft-deleted version': {
    given: [S, ['DELETE /subjects/s/versions/1']],
    when: ['DELETE /subjects/s/versions/1'],
    ...errorResponse(40406, "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently"),
  },
  '40407 when hard-deleting a version that is not soft-deleted': {
    given: [S],
    when: ['DELETE /subjects/s/versions/1?permanent=true'],
    ...errorResponse(40407, "Subject 's' Version 1 was not deleted first before being permanently deleted"),
  },
  '40408 when reading the config of a subject without config': {
    when: ['GET /config/s'],
    ...errorResponse(40408, "Subject 's' does not have subject-level compatibility configured"),
  },
  '40409 when reading the mode of a subject without mode': {
    when: ['GET /mode/s'],
    ...errorResponse(40409, "Subject 's' does not have subject-level mode configured"),
  },
  '40901 when registering an incompatible schema': {
    given: [S],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    ...errorResponse(
      40901,
      `Schema being registered is incompatible with an earlier schema for subject "s", details: [{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match with the old schema', additionalInfo:'reader type: STRING not compatible with writer type: INT'}, {oldSchemaVersion: 1}, {oldSchema: '"int"'}, {validateFields: 'false', compatibility: 'BACKWARD'}]`,
    ),
  },
  '409 when registering an incompatible schema with response profile 7': {
    settings: { 'weir.response.profile': '7' },
    given: [S],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    ...errorResponse(409, text('incompatible with an earlier schema'), 409),
  },
  '42201 when registering a malformed schema': {
    when: ['POST /subjects/s/versions', { schema: '{' }],
    ...errorResponse(42201, text('Invalid schema {')),
  },
  '42201 when looking up a malformed schema': {
    given: [S],
    when: ['POST /subjects/s', { schema: '{' }],
    ...errorResponse(42201, text(' of type AVRO, details: ')),
  },
  '42201 when registering an empty schema': {
    when: ['POST /subjects/s/versions', { schema: '' }],
    ...errorResponse(42201, 'Empty schema'),
  },
  '42201 when registering without a schema': {
    when: ['POST /subjects/s/versions', {}],
    ...errorResponse(42201, 'Empty schema'),
  },
  '42201 for an unknown schema type': {
    when: ['POST /subjects/s/versions', { ...INT, schemaType: 'avro' }],
    ...errorResponse(42201, 'Invalid schema type avro'),
  },
  '42201 for a version that is not the next one': {
    when: ['POST /subjects/s/versions', { ...INT, version: 2 }],
    ...errorResponse(42201, 'Version is not one more than previous version'),
  },
  '42201 when normalizing a Protobuf schema with an undeclared type': {
    when: ['POST /subjects/s/versions?normalize=true', UNRESOLVED],
    ...errorResponse(42201, text("the type 'Gone' in M is declared neither")),
  },
  '42201 when serializing a Protobuf schema with an unresolved import': {
    given: [IMPORT, ['POST /subjects/s/versions', { schemaType: 'PROTOBUF', schema: 'import "gone.proto";', id: 7 }]],
    when: ['GET /schemas/ids/7?format=serialized'],
    ...errorResponse(42201, text("the import 'gone.proto' is neither among the references")),
  },
  '42201 when reading with an unsupported format': {
    given: [S],
    when: ['GET /subjects/s/versions/1?format=logical'],
    ...errorResponse(42201, text('format=logical is not supported')),
  },
  '42201 when registering with an unsupported format': {
    when: ['POST /subjects/s/versions?format=logical', INT],
    ...errorResponse(42201, text('format=logical is not supported')),
  },
  '42201 for a reference to an unknown version': {
    when: ['POST /subjects/s/versions', { ...INT, references: [{ name: 'n', subject: 'no', version: 3 }] }],
    ...errorResponse(42201, text('No schema reference found for subject "no" and version 3')),
  },
  '42201 for recursive schemas that are too expensive to compare': {
    given: [['POST /subjects/s/versions', ring(31)]],
    when: ['POST /subjects/s/versions', ring(33)],
    ...errorResponse(42201, text('Invalid schema, details: ')),
  },
  '42201 for a JSON $ref without a target': {
    when: ['POST /subjects/s/versions', { schemaType: 'JSON', schema: '{"contains":{"$ref":"#/gone"}}' }],
    ...errorResponse(42201, text("details: $ref '#/gone' does not exist in the schema")),
  },
  '42201 for an invalid pattern in a JSON schema': {
    when: ['POST /subjects/s/versions', { schemaType: 'JSON', schema: '{"patternProperties":{"(":{}}}' }],
    ...errorResponse(42201, text("details: the pattern '(' is invalid: Unclosed group near index 1")),
  },
  '42201 for circular references': {
    given: [S, ['POST /subjects/s/versions', { ...INT, references: [{ name: 'n', subject: 's', version: 1 }] }]],
    when: ['POST /subjects/t/versions', { ...INT, references: [{ name: 'n', subject: 's', version: 2 }] }],
    ...errorResponse(42201, text('circular references: n → n')),
  },
  ...Object.fromEntries(
    ['0', '-2', 'two', '2147483648'].map((version) => [
      `42202 for the version ${version}`,
      {
        given: [S],
        when: [`GET /subjects/s/versions/${version}`],
        ...errorResponse(42202, `The specified version '${version}'${VERSION}`),
      } as RegistryCase,
    ]),
  ),
  '42202 when deleting an invalid version': {
    when: ['DELETE /subjects/s/versions/x'],
    ...errorResponse(42202, `The specified version 'x'${VERSION}`),
  },
  '42202 when checking compatibility with an invalid version': {
    when: ['POST /compatibility/subjects/s/versions/x', INT],
    ...errorResponse(42202, `The specified version 'x'${VERSION}`),
  },
  '42203 for an invalid global compatibility level': {
    when: ['PUT /config', { compatibility: 'SOME' }],
    ...errorResponse(42203, LEVELS),
  },
  '42203 for an invalid compatibility level of a subject': {
    when: ['PUT /config/s', { compatibility: '' }],
    ...errorResponse(42203, LEVELS),
  },
  '42204 for an invalid global mode': { when: ['PUT /mode', { mode: 'SOME' }], ...errorResponse(42204, MODES) },
  '42204 for an invalid mode of a subject': { when: ['PUT /mode/s', { mode: '' }], ...errorResponse(42204, MODES) },
  '42204 for the mode FORWARD of a subject': {
    when: ['PUT /mode/s', { mode: 'FORWARD' }],
    ...errorResponse(42204, 'Forward mode only supported on global level'),
  },
  '42205 when registering in mode READONLY': { given: [READONLY], when: S, ...isReadOnly('s') },
  '42205 when registering in a context in mode READONLY': {
    given: [['PUT /contexts/c/mode', { mode: 'READONLY' }]],
    when: ['POST /contexts/c/subjects/s/versions', INT],
    ...isReadOnly(':.c:s', '.c'),
  },
  '42205 when registering in mode READONLY_OVERRIDE': {
    given: [['PUT /mode', { mode: 'READONLY_OVERRIDE' }]],
    when: S,
    ...isReadOnly('s'),
  },
  '42205 when deleting a subject in mode READONLY': {
    given: [S, READONLY],
    when: ['DELETE /subjects/s'],
    ...isReadOnly('s'),
  },
  '42205 when deleting a version in mode READONLY': {
    given: [S, READONLY],
    when: ['DELETE /subjects/s/versions/1'],
    ...isReadOnly('s'),
  },
  '42205 when setting the config in mode READONLY': {
    given: [READONLY],
    when: ['PUT /config/s', { compatibility: 'NONE' }],
    ...isReadOnly('s'),
  },
  '42205 when deleting the config in mode READONLY': {
    given: [['PUT /config/s', { compatibility: 'NONE' }], READONLY],
    when: ['DELETE /config/s'],
    ...isReadOnly('s'),
  },
  '42205 when registering with an ID outside of mode IMPORT': {
    when: ['POST /subjects/s/versions', { ...INT, id: 1 }],
    ...errorResponse(42205, 'Subject s in context . is not in import mode'),
  },
  '42205 when registering without an ID in mode IMPORT': {
    given: [IMPORT],
    when: S,
    ...errorResponse(42205, 'Subject s in context . is not in read-write mode'),
  },
  '42205 when registering a different schema with an existing ID': {
    given: [IMPORT, ['POST /subjects/s/versions', { ...INT, id: 1, version: 1 }]],
    when: ['POST /subjects/s/versions', { schema: '"long"', id: 1, version: 2 }],
    ...errorResponse(42205, 'Overwrite new schema with id 1 in context . is not permitted.'),
  },
  '42205 when setting mode IMPORT while there are live versions': {
    given: [S],
    when: ['PUT /mode', { mode: 'IMPORT' }],
    ...errorResponse(42205, 'Cannot import since found existing subjects'),
  },
  '42205 when setting a mode with mode.mutability=false': {
    settings: { 'mode.mutability': 'false' },
    when: ['PUT /mode', { mode: 'READONLY' }],
    ...MODES_IMMUTABLE,
  },
  '42205 when deleting a mode with mode.mutability=false': {
    settings: { 'mode.mutability': 'false' },
    when: ['DELETE /mode'],
    ...MODES_IMMUTABLE,
  },
  '42206 when deleting a referenced subject': {
    given: [A, B],
    when: ['DELETE /subjects/a'],
    ...errorResponse(42206, referenced('a', 1)),
  },
  '42206 when deleting a referenced version': {
    given: [A, B],
    when: ['DELETE /subjects/a/versions/1'],
    ...errorResponse(42206, referenced('a', 1)),
  },
  '42206 when setting mode IMPORT for a referenced subject': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['PUT /mode/a', { mode: 'IMPORT' }],
    ...errorResponse(42206, referenced('a', 1)),
  },
  ...Object.fromEntries(
    ['__GLOBAL', '__EMPTY', 'a%00b', ':.__GLOBAL:s'].map((subject) => [
      `42208 for the subject ${subject}`,
      {
        when: [`POST /subjects/${subject}/versions`, INT],
        ...errorResponse(42208, `The specified subject '${decodeURIComponent(subject)}' is not a valid.`),
      } as RegistryCase,
    ]),
  ),
  '42208 when setting the config of an invalid subject': {
    when: ['PUT /config/__EMPTY', { compatibility: 'NONE' }],
    ...errorResponse(42208, "The specified subject '__EMPTY' is not a valid."),
  },
  '42208 when setting the mode of an invalid subject': {
    when: ['PUT /mode/__GLOBAL', { mode: 'READONLY' }],
    ...errorResponse(42208, "The specified subject '__GLOBAL' is not a valid."),
  },
  '42208 for the subject * with schema.reject.empty.subject=true': {
    settings: { 'schema.reject.empty.subject': 'true' },
    when: ['POST /subjects/*/versions', INT],
    ...errorResponse(42208, "The specified subject '*' is not a valid."),
  },
  '42210 when registering an invalid rule': {
    when: [
      'POST /subjects/s/versions',
      { ...INT, ruleSet: { domainRules: [{ name: '', kind: 'TRANSFORM', mode: 'WRITE', type: 'T' }] } },
    ],
    ...errorResponse(42210, expect.any(String)),
  },
  '42210 when setting an invalid rule in a config': {
    when: [
      'PUT /config',
      { defaultRuleSet: { domainRules: [{ name: '', kind: 'TRANSFORM', mode: 'WRITE', type: 'T' }] } },
    ],
    ...errorResponse(42210, expect.any(String)),
  },
  '42211 when deleting a context that is not empty': {
    given: [['POST /contexts/c/subjects/s/versions', INT]],
    when: ['DELETE /contexts/c'],
    ...errorResponse(42211, "The specified context '.c' is not empty."),
  },
  '404 for an unknown path': { when: ['GET /nothing'], ...UNKNOWN_PATH },
  '404 for an ID that is not a number': { when: ['GET /schemas/ids/x'], ...UNKNOWN_PATH },
  '404 for /exporters, which is not supported': { when: ['GET /exporters'], ...UNKNOWN_PATH },
  '405 for a method that the path does not support': {
    when: ['PUT /subjects', {}],
    ...errorResponse(405, 'HTTP 405 Method Not Allowed', 405),
  },
  '400 for a body that is not JSON': { when: ['POST /subjects/s/versions', '{"schema":'], ...INVALID_BODY },
  '400 for a member of the wrong type': { when: ['POST /subjects/s/versions', { schema: [1] }], ...INVALID_BODY },
  '400 for an invalid context name': { when: ['GET /contexts/a:b/subjects'], ...INVALID_BODY },
  '422 when registering without a body': { when: ['POST /subjects/s/versions'], ...MISSING_BODY },
  '422 when looking up a schema without a body': { when: ['POST /subjects/s'], ...MISSING_BODY },
  '422 when checking compatibility without a body': {
    when: ['POST /compatibility/subjects/s/versions'],
    ...MISSING_BODY,
  },
  '422 when setting a config without a body': { when: ['PUT /config'], ...MISSING_BODY },
  '422 when setting a mode without a body': { when: ['PUT /mode'], ...MISSING_BODY },
}

describe('the registry returns', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})
