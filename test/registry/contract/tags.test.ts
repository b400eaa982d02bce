import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each thing that can be done with the tags of a schema.

const RECORD = '{"type":"record","name":"R","fields":[{"name":"f","type":"string"}]}'
const withTags = (...tags: string[]) => `${RECORD.slice(0, -1)},"confluent:tags":${JSON.stringify(tags)}}`
const ADDED = '{"name":"g","type":"int","default":0}'
const EVOLVED = RECORD.replace('"string"}', `"string"},${ADDED}`)
const at = (entityPath: string, entityType: string, ...tags: string[]) => ({
  schemaEntity: { entityPath, entityType },
  tags,
})
const R = (...tags: string[]) => at('R', 'sr_record', ...tags)
const versioned = (version: string) => ({ metadata: { properties: { 'confluent:version': version } } })
const guid = expect.any(String)
const registered = (id: number, version: number, schema: string, more: object = versioned(String(version))) => ({
  id,
  version,
  guid,
  schemaType: 'AVRO',
  schema,
  ...more,
})
const listed = (version: number, schema: string, more: object) =>
  expect.objectContaining({ subject: 's', version, schema, ...more })

const S: Request = ['POST /subjects/s/versions', { schema: RECORD }]
const TAG: Request = ['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [R('A', 'B')] }]
const LATEST = 'POST /subjects/s/versions/latest/tags'
const rule = (name: string) => ({ name, type: 'T', mode: 'WRITE', kind: 'CONDITION' })
const RULED: Request = [
  'POST /subjects/s/versions',
  { schema: RECORD, ruleSet: { domainRules: [rule('one'), rule('two')] } },
]

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'registering adds them, and the version says its number': {
    given: [S],
    when: TAG,
    answer: registered(2, 2, withTags('A', 'B')),
  },
  'registering takes them away': {
    given: [S, TAG],
    when: ['POST /subjects/s/versions', { schema: withTags('A', 'B'), version: 3, schemaTagsToRemove: [R('B')] }],
    answer: registered(3, 3, withTags('A')),
  },
  'registering takes over those of the version before when asked for': {
    given: [S, TAG],
    when: ['POST /subjects/s/versions', { schema: EVOLVED, propagateSchemaTags: true }],
    answer: registered(3, 3, withTags('A', 'B').replace('"string"}', `"string"},${ADDED}`)),
  },
  'and leaves out what is not there any more': {
    given: [['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [R('A'), at('R.f', 'sr_field', 'F')] }]],
    when: [
      'POST /subjects/s/versions',
      { schema: '{"type":"record","name":"R","fields":[]}', propagateSchemaTags: true },
    ],
    answer: registered(2, 2, '{"type":"record","name":"R","fields":[],"confluent:tags":["A"]}'),
  },
  'nothing is taken over from another language, though paths are alike': {
    given: [
      ['PUT /config', { compatibility: 'NONE' }],
      ['POST /subjects/s/versions', { schemaType: 'JSON', schema: '{"type":"object","confluent:tags":["A"]}' }],
    ],
    when: [
      'POST /subjects/s/versions',
      { schema: '{"type":"record","name":"object","fields":[]}', propagateSchemaTags: true },
    ],
    answer: registered(2, 2, '{"type":"record","name":"object","fields":[]}', {}),
  },
  'nothing is taken over where nothing was': {
    when: ['POST /subjects/s/versions', { schema: RECORD, propagateSchemaTags: true }],
    answer: registered(1, 1, RECORD, {}),
  },
  'a path that leads nowhere is an invalid schema': {
    when: ['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [at('no.where', 'sr_field', 'A')] }],
    ...errorResponse(42201, expect.stringContaining("No matching path 'no.where' found in the schema")),
  },
  'an entity of another kind is no body': {
    when: ['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [at('R', 'sr_table', 'A')] }],
    ...errorResponse(400, expect.stringContaining('schemaTagsToAdd.0.schemaEntity.entityType'), 400),
  },
  'a version registers itself with other tags': {
    given: [S],
    when: [LATEST, { newVersion: 2, tagsToAdd: [R('A'), R('B')] }],
    answer: registered(2, 2, withTags('A', 'B')),
  },
  'and finds its number itself': {
    given: [S, TAG],
    when: [LATEST, { tagsToRemove: [R('B')] }],
    answer: registered(3, 3, withTags('A')),
  },
  'with a number that is not the next one it is refused': {
    given: [S],
    when: [LATEST, { newVersion: 1, tagsToAdd: [R('A')] }],
    ...errorResponse(42201, 'Version is not one more than previous version'),
  },
  'with other metadata': {
    given: [S],
    when: [LATEST, { metadata: { properties: { owner: 'me' } } }],
    answer: registered(2, 2, RECORD, { metadata: { properties: { 'confluent:version': '2', owner: 'me' } } }),
  },
  'with rules merged and taken away': {
    given: [RULED],
    when: [LATEST, { rulesToMerge: { domainRules: [rule('three')] }, rulesToRemove: ['one'] }],
    answer: registered(2, 2, RECORD, {
      ...versioned('2'),
      ruleSet: { domainRules: [rule('two'), rule('three')] },
    }),
  },
  'with the rules of the version before the new one, whichever it is made of': {
    given: [RULED, [LATEST, { ruleSet: { domainRules: [rule('three')] } }]],
    when: ['POST /subjects/s/versions/1/tags', { newVersion: 3, rulesToMerge: { domainRules: [rule('four')] } }],
    answer: registered(3, 3, RECORD, {
      ...versioned('3'),
      ruleSet: { domainRules: [rule('three'), rule('four')] },
    }),
  },
  'with other rules': {
    given: [RULED],
    when: [LATEST, { ruleSet: { domainRules: [rule('three')] } }],
    answer: registered(2, 2, RECORD, { ...versioned('2'), ruleSet: { domainRules: [rule('three')] } }),
  },
  'but not with both': {
    given: [RULED],
    when: [LATEST, { ruleSet: { domainRules: [rule('three')] }, rulesToRemove: ['one'] }],
    ...errorResponse(42210, 'ruleSet should be omitted if specifying rulesToMerge or rulesToRemove'),
  },
  'an unknown subject has none': {
    when: [LATEST, { tagsToAdd: [R('A')] }],
    ...errorResponse(40401, "Subject 's' not found."),
  },
  'nor has an unknown version': {
    given: [S],
    when: ['POST /subjects/s/versions/2/tags', { tagsToAdd: [R('A')] }],
    ...errorResponse(40402, 'Version 2 not found.'),
  },
  'nor one that is none': {
    when: ['POST /subjects/s/versions/0/tags', {}],
    ...errorResponse(42202, expect.stringContaining("'0' is not a valid version id")),
  },
  'all are found in a version': {
    given: [S, TAG],
    when: ['GET /subjects/s/versions/latest?findTags=*'],
    answer: listed(2, withTags('A', 'B'), { schemaTags: [R('A', 'B')] }),
  },
  'some are found behind an id': {
    given: [S, TAG],
    when: ['GET /schemas/ids/2?findTags=X&findTags=B'],
    answer: expect.objectContaining({ schema: withTags('A', 'B'), schemaTags: [R('A', 'B')] }),
  },
  'others are not': {
    given: [S, TAG],
    when: ['GET /schemas/ids/2?findTags=X'],
    answer: expect.not.objectContaining({ schemaTags: expect.anything() }),
  },
}

describe('the contract’s tags', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => expectRow(row))

  it('are found and changed in large schemas too', { timeout: 60_000 }, async () => {
    const fields = Array.from({ length: 2_000 }, (_, number) => ({
      name: `a_long_name_of_field_${number}`,
      type: 'int',
    }))
    const schema = JSON.stringify({ type: 'record', name: 'R', fields })
    expect(schema.length).toBeGreaterThan(65_536)
    await expectRow({
      given: [
        ['POST /subjects/s/versions', { schema }],
        [LATEST, { tagsToAdd: [R('A')] }],
      ],
      when: ['GET /subjects/s/versions/2?findTags=*'],
      answer: expect.objectContaining({ schemaTags: [R('A')] }),
    })
  })
})
