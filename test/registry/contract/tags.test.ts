import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each operation on the tags of a schema.

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
  'registration adds the tags of schemaTagsToAdd and sets the version property': {
    given: [S],
    when: TAG,
    answer: registered(2, 2, withTags('A', 'B')),
  },
  'registration removes the tags of schemaTagsToRemove': {
    given: [S, TAG],
    when: ['POST /subjects/s/versions', { schema: withTags('A', 'B'), version: 3, schemaTagsToRemove: [R('B')] }],
    answer: registered(3, 3, withTags('A')),
  },
  'registration copies the tags of the previous version with propagateSchemaTags': {
    given: [S, TAG],
    when: ['POST /subjects/s/versions', { schema: EVOLVED, propagateSchemaTags: true }],
    answer: registered(3, 3, withTags('A', 'B').replace('"string"}', `"string"},${ADDED}`)),
  },
  'propagateSchemaTags ignores tags of entities that no longer exist': {
    given: [['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [R('A'), at('R.f', 'sr_field', 'F')] }]],
    when: [
      'POST /subjects/s/versions',
      { schema: '{"type":"record","name":"R","fields":[]}', propagateSchemaTags: true },
    ],
    answer: registered(2, 2, '{"type":"record","name":"R","fields":[],"confluent:tags":["A"]}'),
  },
  'propagateSchemaTags copies no tags from a version with another schema type': {
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
  'propagateSchemaTags has no effect on the first version': {
    when: ['POST /subjects/s/versions', { schema: RECORD, propagateSchemaTags: true }],
    answer: registered(1, 1, RECORD, {}),
  },
  'registration returns 42201 for an entity path that does not exist': {
    when: ['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [at('no.where', 'sr_field', 'A')] }],
    ...errorResponse(42201, expect.stringContaining("No matching path 'no.where' found in the schema")),
  },
  'registration returns 400 for an unknown entity type': {
    when: ['POST /subjects/s/versions', { schema: RECORD, schemaTagsToAdd: [at('R', 'sr_table', 'A')] }],
    ...errorResponse(400, expect.stringContaining('schemaTagsToAdd.0.schemaEntity.entityType'), 400),
  },
  'updating tags registers a new version with these tags': {
    given: [S],
    when: [LATEST, { newVersion: 2, tagsToAdd: [R('A'), R('B')] }],
    answer: registered(2, 2, withTags('A', 'B')),
  },
  'updating tags without newVersion registers the next version': {
    given: [S, TAG],
    when: [LATEST, { tagsToRemove: [R('B')] }],
    answer: registered(3, 3, withTags('A')),
  },
  'updating tags returns 42201 if newVersion is not the next version': {
    given: [S],
    when: [LATEST, { newVersion: 1, tagsToAdd: [R('A')] }],
    ...errorResponse(42201, 'Version is not one more than previous version'),
  },
  'updating tags can replace the metadata': {
    given: [S],
    when: [LATEST, { metadata: { properties: { owner: 'me' } } }],
    answer: registered(2, 2, RECORD, { metadata: { properties: { 'confluent:version': '2', owner: 'me' } } }),
  },
  'updating tags can merge and remove rules': {
    given: [RULED],
    when: [LATEST, { rulesToMerge: { domainRules: [rule('three')] }, rulesToRemove: ['one'] }],
    answer: registered(2, 2, RECORD, {
      ...versioned('2'),
      ruleSet: { domainRules: [rule('two'), rule('three')] },
    }),
  },
  'updating tags of an older version merges rules with those of the version before newVersion': {
    given: [RULED, [LATEST, { ruleSet: { domainRules: [rule('three')] } }]],
    when: ['POST /subjects/s/versions/1/tags', { newVersion: 3, rulesToMerge: { domainRules: [rule('four')] } }],
    answer: registered(3, 3, RECORD, {
      ...versioned('3'),
      ruleSet: { domainRules: [rule('three'), rule('four')] },
    }),
  },
  'updating tags can replace the rule set': {
    given: [RULED],
    when: [LATEST, { ruleSet: { domainRules: [rule('three')] } }],
    answer: registered(2, 2, RECORD, { ...versioned('2'), ruleSet: { domainRules: [rule('three')] } }),
  },
  'updating tags returns 42210 for a rule set together with rulesToRemove': {
    given: [RULED],
    when: [LATEST, { ruleSet: { domainRules: [rule('three')] }, rulesToRemove: ['one'] }],
    ...errorResponse(42210, 'ruleSet should be omitted if specifying rulesToMerge or rulesToRemove'),
  },
  'updating tags returns 40401 for an unknown subject': {
    when: [LATEST, { tagsToAdd: [R('A')] }],
    ...errorResponse(40401, "Subject 's' not found."),
  },
  'updating tags returns 40402 for an unknown version': {
    given: [S],
    when: ['POST /subjects/s/versions/2/tags', { tagsToAdd: [R('A')] }],
    ...errorResponse(40402, 'Version 2 not found.'),
  },
  'updating tags returns 42202 for an invalid version': {
    when: ['POST /subjects/s/versions/0/tags', {}],
    ...errorResponse(42202, expect.stringContaining("'0' is not a valid version id")),
  },
  'findTags=* returns all tags of a version': {
    given: [S, TAG],
    when: ['GET /subjects/s/versions/latest?findTags=*'],
    answer: listed(2, withTags('A', 'B'), { schemaTags: [R('A', 'B')] }),
  },
  'findTags returns the entities of a schema by ID that have one of the tags': {
    given: [S, TAG],
    when: ['GET /schemas/ids/2?findTags=X&findTags=B'],
    answer: expect.objectContaining({ schema: withTags('A', 'B'), schemaTags: [R('A', 'B')] }),
  },
  'findTags returns nothing if no entity has the tag': {
    given: [S, TAG],
    when: ['GET /schemas/ids/2?findTags=X'],
    answer: expect.not.objectContaining({ schemaTags: expect.anything() }),
  },
}

describe('schema tags', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))

  it('can be read and changed in a schema that is too large for the main thread', {
    tags: ['slow'],
    timeout: 60_000,
  }, async () => {
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
