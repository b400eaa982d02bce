import { describe, expect, it } from 'vitest'
import { createCaseRunner, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// What Jackson converts in a request body, and what it refuses: recorded with Jackson 2.20 and its defaults.

const RECORD = '{"type":"record","name":"R","fields":[]}'
const S: Request = ['POST /subjects/s/versions', { schema: RECORD }]
const registered = (more: object = {}) => ({
  status: 200,
  answer: expect.objectContaining({ id: 1, version: 1, ...more }),
})
const refused = (member: string) => ({
  status: 400,
  answer: { error_code: 400, message: expect.stringContaining(`Unrecognized request body: ${member}`) },
})
const importing: Request = ['PUT /mode/s', { mode: 'IMPORT' }]
const sent = (members: object): Request => ['POST /subjects/s/versions', { schema: RECORD, ...members }]
const referring = (reference: object): Request => [
  'POST /subjects/b/versions',
  {
    schema: '{"type":"record","name":"B","fields":[{"name":"r","type":"R"}]}',
    references: [{ name: 'R', subject: 's', ...reference }],
  },
]
const property = (value: unknown) => sent({ metadata: { properties: { p: value } } })
const rule = (members: object) =>
  sent({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', ...members }] } })

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'a number as text': { when: sent({ version: '1' }), ...registered() },
  'a number as text with blanks and a sign': { when: sent({ version: ' +1 ' }), ...registered() },
  'a number with a fraction, which is cut off': { when: sent({ version: 1.9 }), ...registered() },
  'an empty text for a number, which is none': { when: sent({ version: '', id: '  ' }), ...registered() },
  'the text null for a number, which is none': { when: sent({ version: 'null' }), ...registered() },
  'an id as text': { given: [importing], when: sent({ id: '7', version: '1' }), ...registered({ id: 7 }) },
  'a text with a fraction for a number': { when: sent({ version: '1.0' }), ...refused('version') },
  'a word for a number': { when: sent({ version: 'x' }), ...refused('version') },
  'true for a number': { when: sent({ version: true }), ...refused('version') },
  'a list for a number': { when: sent({ version: [1] }), ...refused('version') },
  'a number that has more than 32 bits': { when: sent({ version: 2147483648 }), ...refused('version') },
  'a number that has more than 32 bits, as text': { when: sent({ id: '2147483648' }), ...refused('id') },
  'the version of a reference as text': { given: [S], when: referring({ version: '1' }), ...registered({ id: 2 }) },
  'a subject that is a number': {
    given: [['POST /subjects/1/versions', { schema: RECORD }]],
    when: referring({ subject: 1, version: 1 }),
    ...registered({ id: 2, references: [{ name: 'R', subject: '1', version: 1 }] }),
  },
  'a number for a text': { when: property(1.5), ...registered({ metadata: { properties: { p: '1.5' } } }) },
  'a boolean for a text': { when: property(true), ...registered({ metadata: { properties: { p: 'true' } } }) },
  'an object for a text': { when: property({}), ...refused('metadata.properties.p') },
  'a list for a text': { when: property(['a']), ...refused('metadata.properties.p') },
  'an object for a schema': { when: sent({ schema: {} }), ...refused('schema') },
  'a boolean as text': {
    when: rule({ disabled: ' True ' }),
    ...registered({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', disabled: true }] } }),
  },
  'a number for a boolean': { when: ['PUT /config/s', { normalize: 2 }], answer: { normalize: true } },
  'zero for a boolean': { when: ['PUT /config/s', { normalize: 0 }], answer: { normalize: false } },
  'a boolean as text in config': { when: ['PUT /config/s', { normalize: 'TRUE' }], answer: { normalize: true } },
  'a boolean in mixed case': { when: rule({ disabled: 'tRUE' }), ...refused('ruleSet.domainRules.0.disabled') },
  'a text of digits for a boolean': { when: rule({ disabled: '1' }), ...refused('ruleSet.domainRules.0.disabled') },
  'a fraction for a boolean': { when: rule({ disabled: 1.5 }), ...refused('ruleSet.domainRules.0.disabled') },
  'the position of a word': {
    when: rule({ mode: 3, kind: '1' }),
    ...registered({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', kind: 'CONDITION' }] } }),
  },
  'a word in lower case': { when: rule({ mode: 'write' }), ...refused('ruleSet.domainRules.0.mode') },
  'a position beyond the words': { when: rule({ mode: 6 }), ...refused('ruleSet.domainRules.0.mode') },
  'a new version as text': {
    given: [S],
    when: ['POST /subjects/s/versions/1/tags', { newVersion: '2' }],
    answer: expect.objectContaining({ version: 2 }),
  },
}

describe('a request body with', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => expectRow(row))
})
