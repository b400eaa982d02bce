import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../../support/registry.ts'
import { createCaseRunner, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// The conversions of scalars in request bodies, as recorded with Jackson 2.20 and its defaults.

const RECORD = '{"type":"record","name":"R","fields":[]}'
const S: Request = ['POST /subjects/s/versions', { schema: RECORD }]
const registered = (more: object = {}) => ({
  status: 200,
  answer: expect.objectContaining({ id: 1, version: 1, ...more }),
})
const rejected = (member: string) => ({
  status: 400,
  answer: { error_code: 400, message: expect.stringContaining(`Unrecognized request body: ${member}`) },
})
const ENTER_IMPORT: Request = ['PUT /mode/s', { mode: 'IMPORT' }]
const register = (members: object): Request => ['POST /subjects/s/versions', { schema: RECORD, ...members }]
const referring = (reference: object): Request => [
  'POST /subjects/b/versions',
  {
    schema: '{"type":"record","name":"B","fields":[{"name":"r","type":"R"}]}',
    references: [{ name: 'R', subject: 's', ...reference }],
  },
]
const property = (value: unknown) => register({ metadata: { properties: { p: value } } })
const rule = (members: object) =>
  register({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', ...members }] } })

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'accepts an integer as a string': { when: register({ version: '1' }), ...registered() },
  'accepts an integer as a string with blanks and a sign': { when: register({ version: ' +1 ' }), ...registered() },
  'truncates a fraction for an integer': { when: register({ version: 1.9 }), ...registered() },
  'treats an empty or blank string for an integer as null': {
    when: register({ version: '', id: '  ' }),
    ...registered(),
  },
  'treats the string null for an integer as null': { when: register({ version: 'null' }), ...registered() },
  'accepts an ID as a string': {
    given: [ENTER_IMPORT],
    when: register({ id: '7', version: '1' }),
    ...registered({ id: 7 }),
  },
  'rejects a string with a fraction for an integer': { when: register({ version: '1.0' }), ...rejected('version') },
  'rejects a non-numeric string for an integer': { when: register({ version: 'x' }), ...rejected('version') },
  'rejects a boolean for an integer': { when: register({ version: true }), ...rejected('version') },
  'rejects an array for an integer': { when: register({ version: [1] }), ...rejected('version') },
  'rejects an integer of more than 32 bits': { when: register({ version: 2147483648 }), ...rejected('version') },
  'rejects an integer of more than 32 bits as a string': { when: register({ id: '2147483648' }), ...rejected('id') },
  'accepts the version of a reference as a string': {
    given: [S],
    when: referring({ version: '1' }),
    ...registered({ id: 2 }),
  },
  'accepts a number as the subject of a reference': {
    given: [['POST /subjects/1/versions', { schema: RECORD }]],
    when: referring({ subject: 1, version: 1 }),
    ...registered({ id: 2, references: [{ name: 'R', subject: '1', version: 1 }] }),
  },
  'converts a number to a string': { when: property(1.5), ...registered({ metadata: { properties: { p: '1.5' } } }) },
  'converts a boolean to a string': {
    when: property(true),
    ...registered({ metadata: { properties: { p: 'true' } } }),
  },
  'rejects an object for a string': { when: property({}), ...rejected('metadata.properties.p') },
  'rejects an array for a string': { when: property(['a']), ...rejected('metadata.properties.p') },
  'rejects an object for the schema': { when: register({ schema: {} }), ...rejected('schema') },
  'accepts a boolean as a string with blanks': {
    when: rule({ disabled: ' True ' }),
    ...registered({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', disabled: true }] } }),
  },
  'treats an integer other than 0 as true': { when: ['PUT /config/s', { normalize: 2 }], answer: { normalize: true } },
  'treats 0 as false': { when: ['PUT /config/s', { normalize: 0 }], answer: { normalize: false } },
  'accepts a boolean as a string in a config': {
    when: ['PUT /config/s', { normalize: 'TRUE' }],
    answer: { normalize: true },
  },
  'rejects a boolean string in mixed case': {
    when: rule({ disabled: 'tRUE' }),
    ...rejected('ruleSet.domainRules.0.disabled'),
  },
  'rejects a numeric string for a boolean': {
    when: rule({ disabled: '1' }),
    ...rejected('ruleSet.domainRules.0.disabled'),
  },
  'rejects a fraction for a boolean': { when: rule({ disabled: 1.5 }), ...rejected('ruleSet.domainRules.0.disabled') },
  'accepts the index of an enum value': {
    when: rule({ mode: 3, kind: '1' }),
    ...registered({ ruleSet: { domainRules: [{ name: 'r', type: 'CEL', mode: 'WRITE', kind: 'CONDITION' }] } }),
  },
  'rejects an enum value in lower case': { when: rule({ mode: 'write' }), ...rejected('ruleSet.domainRules.0.mode') },
  'rejects an enum index out of range': { when: rule({ mode: 6 }), ...rejected('ruleSet.domainRules.0.mode') },
  'accepts newVersion as a string': {
    given: [S],
    when: ['POST /subjects/s/versions/1/tags', { newVersion: '2' }],
    answer: expect.objectContaining({ version: 2 }),
  },
}

/** What Jackson 2.21 makes of numbers that `JSON.stringify` does not write. */
const NUMBERS: Readonly<Record<string, readonly [body: string, answer: object]>> = {
  'keeps the text of a number for a string': [
    '{"schema":SCHEMA,"metadata":{"properties":{"a":1.0,"b":1e3,"c":-0,"d":12345678901234567890123,"e":1E-7,"f":0.10},"tags":{"t":[2.50]}}}',
    {
      metadata: {
        properties: { a: '1.0', b: '1e3', c: '-0', d: '12345678901234567890123', e: '1E-7', f: '0.10' },
        tags: { t: ['2.50'] },
      },
    },
  ],
  'truncates a number with an exponent or a fraction for an integer': ['{"schema":SCHEMA,"version":1.0,"id":-1E0}', {}],
  'rejects 1.0 for a boolean': ['{"schema":SCHEMA,"propagateSchemaTags":1.0}', { error_code: 400 }],
  'accepts a large integer for a boolean': [
    '{"schema":SCHEMA,"propagateSchemaTags":12345678901234567890}',
    { version: 1 },
  ],
  'rejects 3.0 for an enum': [
    '{"schema":SCHEMA,"ruleSet":{"domainRules":[{"name":"r","type":"CEL","mode":3.0}]}}',
    { error_code: 400 },
  ],
}

describe('a request body', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))

  it.each(
    Object.entries(NUMBERS).flatMap(([what, row]) => [[what, 10, ...row] as const, [what, 70_000, ...row] as const]),
  )('%s, with a schema of %d characters', async (_, length, body, answer) => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const schema = JSON.stringify(`{"type":"enum","name":"E","symbols":["A"],"doc":"${'x'.repeat(length)}"}`)
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: body.replace('SCHEMA', () => schema) }
    const response = await fetch(`${registry.url}/subjects/s/versions`, sent)
    expect(await response.json()).toMatchObject(answer)
  })
})

it.each([10, 70_000])('a body with a byte order mark is read without it, with %d more characters', async (length) => {
  const registry = await startTestRegistry()
  const schema = `{"type":"enum","name":"E","symbols":["A"],"doc":"${'x'.repeat(length)}"}`
  const response = await fetch(`${registry.url}/subjects/s/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `\ufeff${JSON.stringify({ schema })}`,
  })
  expect(await response.json()).toMatchObject({ id: 1 })
  await registry.stop()
})
