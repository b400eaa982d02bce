import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each code of the contract's table of errors that a request can cause, with its text to the letter.

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
/** Two rings whose lengths have nothing in common meet in every pair of their types. */
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
const READONLY: Request = ['PUT /mode', { mode: 'READONLY' }]
const IMPORT: Request = ['PUT /mode/s', { mode: 'IMPORT' }]
const isReadOnly = (subject: string, context = '.') =>
  errorResponse(42205, `Subject ${subject} in context ${context} is in read-only mode`)

const UNRESOLVED = { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; message M { Gone g = 1; }' }

const ROWS: Readonly<Record<string, RegistryCase>> = {
  '40401 version': { when: ['GET /subjects/x/versions/1'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 raw version': {
    when: ['GET /subjects/x/versions/1/schema'],
    ...errorResponse(40401, "Subject 'x' not found."),
  },
  '40401 versions': { when: ['GET /subjects/x/versions'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 metadata': { when: ['GET /subjects/x/metadata'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 references': {
    when: ['GET /subjects/x/versions/1/referencedby'],
    ...errorResponse(40401, "Subject 'x' not found."),
  },
  '40401 lookup': { when: ['POST /subjects/x', INT], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 delete': { when: ['DELETE /subjects/x'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 delete version': {
    when: ['DELETE /subjects/x/versions/1'],
    ...errorResponse(40401, "Subject 'x' not found."),
  },
  '40401 delete config': { when: ['DELETE /config/x'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 delete mode': { when: ['DELETE /mode/x'], ...errorResponse(40401, "Subject 'x' not found.") },
  '40401 soft-deleted': {
    given: [S, ['DELETE /subjects/s']],
    when: ['GET /subjects/s/versions'],
    ...errorResponse(40401, "Subject 's' not found."),
  },
  '40402 version': {
    given: [S],
    when: ['GET /subjects/s/versions/2'],
    ...errorResponse(40402, 'Version 2 not found.'),
  },
  '40402 soft-deleted': {
    given: [S, ['POST /subjects/s/versions', { schema: '"long"' }], ['DELETE /subjects/s/versions/1']],
    when: ['GET /subjects/s/versions/1'],
    ...errorResponse(40402, 'Version 1 not found.'),
  },
  '40402 latest': {
    given: [S, ['DELETE /subjects/s']],
    when: ['GET /subjects/s/versions/latest?deleted=true'],
    ...errorResponse(40402, 'Version -1 not found.'),
  },
  '40402 references': {
    given: [S],
    when: ['GET /subjects/s/versions/2/referencedby'],
    ...errorResponse(40402, 'Version 2 not found.'),
  },
  '40402 delete': {
    given: [S],
    when: ['DELETE /subjects/s/versions/2'],
    ...errorResponse(40402, 'Version 2 not found.'),
  },
  '40403 content': {
    given: [S],
    when: ['POST /subjects/s', { schema: '"long"' }],
    ...errorResponse(40403, 'Schema not found'),
  },
  '40403 metadata': {
    given: [S],
    when: ['GET /subjects/s/metadata?key=x&value=y'],
    ...errorResponse(40403, 'Schema not found'),
  },
  '40403 id': { when: ['GET /schemas/ids/7'], ...errorResponse(40403, 'Schema 7 not found') },
  '40403 raw id': { when: ['GET /schemas/ids/7/schema'], ...errorResponse(40403, 'Schema 7 not found') },
  '40403 subjects of an id': { when: ['GET /schemas/ids/7/subjects'], ...errorResponse(40403, 'Schema 7 not found') },
  '40403 versions of an id': { when: ['GET /schemas/ids/7/versions'], ...errorResponse(40403, 'Schema 7 not found') },
  '40403 guid': { when: ['GET /schemas/guids/abc'], ...errorResponse(40403, 'Schema abc not found') },
  '40403 ids of a guid': { when: ['GET /schemas/guids/abc/ids'], ...errorResponse(40403, 'Schema abc not found') },
  '40404': {
    given: [S, ['DELETE /subjects/s']],
    when: ['DELETE /subjects/s'],
    ...errorResponse(40404, "Subject 's' was soft deleted.Set permanent=true to delete permanently"),
  },
  '40405': {
    given: [S],
    when: ['DELETE /subjects/s?permanent=true'],
    ...errorResponse(40405, "Subject 's' was not deleted first before being permanently deleted"),
  },
  '40406': {
    given: [S, ['DELETE /subjects/s/versions/1']],
    when: ['DELETE /subjects/s/versions/1'],
    ...errorResponse(40406, "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently"),
  },
  '40407': {
    given: [S],
    when: ['DELETE /subjects/s/versions/1?permanent=true'],
    ...errorResponse(40407, "Subject 's' Version 1 was not deleted first before being permanently deleted"),
  },
  '40408': {
    when: ['GET /config/s'],
    ...errorResponse(40408, "Subject 's' does not have subject-level compatibility configured"),
  },
  '40409': {
    when: ['GET /mode/s'],
    ...errorResponse(40409, "Subject 's' does not have subject-level mode configured"),
  },
  '40901': {
    given: [S],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    ...errorResponse(
      40901,
      `Schema being registered is incompatible with an earlier schema for subject "s", details: [{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match with the old schema', additionalInfo:'reader type: STRING not compatible with writer type: INT'}, {oldSchemaVersion: 1}, {oldSchema: '"int"'}, {validateFields: 'false', compatibility: 'BACKWARD'}]`,
    ),
  },
  '40901 on the older line': {
    settings: { 'weir.response.profile': '7' },
    given: [S],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    ...errorResponse(409, text('incompatible with an earlier schema'), 409),
  },
  '42201 malformed': {
    when: ['POST /subjects/s/versions', { schema: '{' }],
    ...errorResponse(42201, text('Invalid schema {')),
  },
  '42201 lookup': {
    given: [S],
    when: ['POST /subjects/s', { schema: '{' }],
    ...errorResponse(42201, text(' of type AVRO, details: ')),
  },
  '42201 empty': { when: ['POST /subjects/s/versions', { schema: '' }], ...errorResponse(42201, 'Empty schema') },
  '42201 none': { when: ['POST /subjects/s/versions', {}], ...errorResponse(42201, 'Empty schema') },
  '42201 type': {
    when: ['POST /subjects/s/versions', { ...INT, schemaType: 'avro' }],
    ...errorResponse(42201, 'Invalid schema type avro'),
  },
  '42201 version': {
    when: ['POST /subjects/s/versions', { ...INT, version: 2 }],
    ...errorResponse(42201, 'Version is not one more than previous version'),
  },
  '42201 normalised': {
    when: ['POST /subjects/s/versions?normalize=true', UNRESOLVED],
    ...errorResponse(42201, text("the type 'Gone' in M is neither declared")),
  },
  '42201 in a form it has not': {
    given: [IMPORT, ['POST /subjects/s/versions', { schemaType: 'PROTOBUF', schema: 'import "gone.proto";', id: 7 }]],
    when: ['GET /schemas/ids/7?format=serialized'],
    ...errorResponse(42201, text("the import 'gone.proto' is neither among the references")),
  },
  '42201 of a form that is not known': {
    given: [S],
    when: ['GET /subjects/s/versions/1?format=logical'],
    ...errorResponse(42201, text('format=logical is not known here')),
  },
  '42201 in a form that is not known': {
    when: ['POST /subjects/s/versions?format=logical', INT],
    ...errorResponse(42201, text('format=logical is not known here')),
  },
  '42201 reference': {
    when: ['POST /subjects/s/versions', { ...INT, references: [{ name: 'n', subject: 'no', version: 3 }] }],
    ...errorResponse(42201, text('No schema reference found for subject "no" and version 3')),
  },
  '42201 too entangled to compare': {
    given: [['POST /subjects/s/versions', ring(31)]],
    when: ['POST /subjects/s/versions', ring(33)],
    ...errorResponse(42201, text('Invalid schema, details: ')),
  },
  '42201 a JSON reference without a target': {
    when: ['POST /subjects/s/versions', { schemaType: 'JSON', schema: '{"contains":{"$ref":"#/gone"}}' }],
    ...errorResponse(42201, text("details: $ref '#/gone' names nothing in the schema")),
  },
  '42201 a JSON pattern': {
    when: ['POST /subjects/s/versions', { schemaType: 'JSON', schema: '{"patternProperties":{"(":{}}}' }],
    ...errorResponse(42201, text("details: the pattern '(' is invalid: Unclosed group near index 1")),
  },
  '42201 references in a circle': {
    given: [S, ['POST /subjects/s/versions', { ...INT, references: [{ name: 'n', subject: 's', version: 1 }] }]],
    when: ['POST /subjects/t/versions', { ...INT, references: [{ name: 'n', subject: 's', version: 2 }] }],
    ...errorResponse(42201, text('references go round in a circle: n → n')),
  },
  ...Object.fromEntries(
    ['0', '-2', 'two', '2147483648'].map((version) => [
      `42202 ${version}`,
      {
        given: [S],
        when: [`GET /subjects/s/versions/${version}`],
        ...errorResponse(42202, `The specified version '${version}'${VERSION}`),
      } as RegistryCase,
    ]),
  ),
  '42202 delete': {
    when: ['DELETE /subjects/s/versions/x'],
    ...errorResponse(42202, `The specified version 'x'${VERSION}`),
  },
  '42202 check': {
    when: ['POST /compatibility/subjects/s/versions/x', INT],
    ...errorResponse(42202, `The specified version 'x'${VERSION}`),
  },
  '42203 everything': { when: ['PUT /config', { compatibility: 'SOME' }], ...errorResponse(42203, LEVELS) },
  '42203 subject': { when: ['PUT /config/s', { compatibility: '' }], ...errorResponse(42203, LEVELS) },
  '42204 everything': { when: ['PUT /mode', { mode: 'SOME' }], ...errorResponse(42204, MODES) },
  '42204 subject': { when: ['PUT /mode/s', { mode: '' }], ...errorResponse(42204, MODES) },
  '42204 FORWARD': {
    when: ['PUT /mode/s', { mode: 'FORWARD' }],
    ...errorResponse(42204, 'Forward mode only supported on global level'),
  },
  '42205 register': { given: [READONLY], when: S, ...isReadOnly('s') },
  '42205 register in a context': {
    given: [['PUT /contexts/c/mode', { mode: 'READONLY' }]],
    when: ['POST /contexts/c/subjects/s/versions', INT],
    ...isReadOnly(':.c:s', '.c'),
  },
  '42205 register READONLY_OVERRIDE': {
    given: [['PUT /mode', { mode: 'READONLY_OVERRIDE' }]],
    when: S,
    ...isReadOnly('s'),
  },
  '42205 delete': { given: [S, READONLY], when: ['DELETE /subjects/s'], ...isReadOnly('s') },
  '42205 delete version': { given: [S, READONLY], when: ['DELETE /subjects/s/versions/1'], ...isReadOnly('s') },
  '42205 config': { given: [READONLY], when: ['PUT /config/s', { compatibility: 'NONE' }], ...isReadOnly('s') },
  '42205 delete config': {
    given: [['PUT /config/s', { compatibility: 'NONE' }], READONLY],
    when: ['DELETE /config/s'],
    ...isReadOnly('s'),
  },
  '42205 id outside IMPORT': {
    when: ['POST /subjects/s/versions', { ...INT, id: 1 }],
    ...errorResponse(42205, 'Subject s in context . is not in import mode'),
  },
  '42205 no id in IMPORT': {
    given: [IMPORT],
    when: S,
    ...errorResponse(42205, 'Subject s in context . is not in read-write mode'),
  },
  '42205 another meaning of an id': {
    given: [IMPORT, ['POST /subjects/s/versions', { ...INT, id: 1, version: 1 }]],
    when: ['POST /subjects/s/versions', { schema: '"long"', id: 1, version: 2 }],
    ...errorResponse(42205, 'Overwrite new schema with id 1 in context . is not permitted.'),
  },
  '42205 IMPORT over live versions': {
    given: [S],
    when: ['PUT /mode', { mode: 'IMPORT' }],
    ...errorResponse(42205, 'Cannot import since found existing subjects'),
  },
  '42205 fixed modes': {
    settings: { 'mode.mutability': 'false' },
    when: ['PUT /mode', { mode: 'READONLY' }],
    ...errorResponse(42205, 'Mode changes are not allowed'),
  },
  '42205 fixed modes, delete': {
    settings: { 'mode.mutability': 'false' },
    when: ['DELETE /mode'],
    ...errorResponse(42205, 'Mode changes are not allowed'),
  },
  '42206 subject': { given: [A, B], when: ['DELETE /subjects/a'], ...errorResponse(42206, referenced('a', 1)) },
  '42206 version': {
    given: [A, B],
    when: ['DELETE /subjects/a/versions/1'],
    ...errorResponse(42206, referenced('a', 1)),
  },
  '42206 into IMPORT': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['PUT /mode/a', { mode: 'IMPORT' }],
    ...errorResponse(42206, referenced('a', 1)),
  },
  ...Object.fromEntries(
    ['__GLOBAL', '__EMPTY', 'a%00b', ':.__GLOBAL:s'].map((subject) => [
      `42208 ${subject}`,
      {
        when: [`POST /subjects/${subject}/versions`, INT],
        ...errorResponse(42208, `The specified subject '${decodeURIComponent(subject)}' is not a valid.`),
      } as RegistryCase,
    ]),
  ),
  '42208 config': {
    when: ['PUT /config/__EMPTY', { compatibility: 'NONE' }],
    ...errorResponse(42208, "The specified subject '__EMPTY' is not a valid."),
  },
  '42208 mode': {
    when: ['PUT /mode/__GLOBAL', { mode: 'READONLY' }],
    ...errorResponse(42208, "The specified subject '__GLOBAL' is not a valid."),
  },
  '42208 *': {
    settings: { 'schema.reject.empty.subject': 'true' },
    when: ['POST /subjects/*/versions', INT],
    ...errorResponse(42208, "The specified subject '*' is not a valid."),
  },
  '42210': {
    when: [
      'POST /subjects/s/versions',
      { ...INT, ruleSet: { domainRules: [{ name: '', kind: 'TRANSFORM', mode: 'WRITE', type: 'T' }] } },
    ],
    ...errorResponse(42210, expect.any(String)),
  },
  '42210 config': {
    when: [
      'PUT /config',
      { defaultRuleSet: { domainRules: [{ name: '', kind: 'TRANSFORM', mode: 'WRITE', type: 'T' }] } },
    ],
    ...errorResponse(42210, expect.any(String)),
  },
  '42211': {
    given: [['POST /contexts/c/subjects/s/versions', INT]],
    when: ['DELETE /contexts/c'],
    ...errorResponse(42211, "The specified context '.c' is not empty."),
  },
  '404 no such path': { when: ['GET /nothing'], ...errorResponse(404, 'HTTP 404 Not Found', 404) },
  '404 an id that is no number': { when: ['GET /schemas/ids/x'], ...errorResponse(404, 'HTTP 404 Not Found', 404) },
  '404 exporters': { when: ['GET /exporters'], ...errorResponse(404, 'HTTP 404 Not Found', 404) },
  '405': { when: ['PUT /subjects', {}], ...errorResponse(405, 'HTTP 405 Method Not Allowed', 405) },
  '400 no JSON': { when: ['POST /subjects/s/versions', '{"schema":'], ...errorResponse(400, expect.any(String), 400) },
  '400 a wrong member': {
    when: ['POST /subjects/s/versions', { schema: [1] }],
    ...errorResponse(400, expect.any(String), 400),
  },
  '400 a context': { when: ['GET /contexts/a:b/subjects'], ...errorResponse(400, expect.any(String), 400) },
  '422 no body': { when: ['POST /subjects/s/versions'], ...errorResponse(422, expect.any(String), 422) },
  '422 no body of a lookup': { when: ['POST /subjects/s'], ...errorResponse(422, expect.any(String), 422) },
  '422 no body of a check': {
    when: ['POST /compatibility/subjects/s/versions'],
    ...errorResponse(422, expect.any(String), 422),
  },
  '422 no config': { when: ['PUT /config'], ...errorResponse(422, expect.any(String), 422) },
  '422 no mode': { when: ['PUT /mode'], ...errorResponse(422, expect.any(String), 422) },
}

describe('the contract’s errors', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => expectRow(row))
})
