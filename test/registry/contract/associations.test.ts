import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// Rules and texts are those of Confluent's AssociationsResource and AbstractSchemaRegistry, 8.4.

const RECORD = '{"type":"record","name":"R","fields":[]}'
const INT = '"int"'
const register = (subject: string): Request => [`POST /subjects/${subject}/versions`, { schema: RECORD }]
const RESOURCE = { resourceName: 't', resourceNamespace: 'ns', resourceId: 'id-1' }
const body = (...associations: object[]) => ({ ...RESOURCE, associations })
const create = (...associations: object[]): Request => ['POST /associations', body(...associations)]
const upsert = (...associations: object[]): Request => ['PUT /associations/resources/id-1', body(...associations)]
const WEAK = { subject: 's', lifecycle: 'WEAK' }
const STRONG = { schema: { schema: RECORD } }
const OWNED = ':.ns:t-value'
const response = (...associations: object[]) => ({ ...RESOURCE, resourceType: 'topic', associations })
const listed = (members: object) => ({
  guid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  ...RESOURCE,
  resourceType: 'topic',
  associationType: 'value',
  createTs: expect.any(Number),
  updateTs: expect.any(Number),
  ...members,
})
const WEAK_LISTED = listed({ subject: 's', lifecycle: 'WEAK' })
const STRONG_LISTED = listed({ subject: OWNED, lifecycle: 'STRONG' })
const invalid = (property: string, detail: string) =>
  errorResponse(42212, `The association specified an invalid value for property: '${property}', detail: ${detail}`)
const MIXED = 'all associations for a resource must have the same lifecycle, but got '

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'creates a weak one': {
    given: [register('s')],
    when: create(WEAK),
    answer: response({ subject: 's', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'creates a strong one with its schema': {
    when: create(STRONG),
    answer: response({
      subject: OWNED,
      associationType: 'value',
      lifecycle: 'STRONG',
      schema: expect.objectContaining({ subject: OWNED, version: 1, id: 1, schema: RECORD }),
    }),
  },
  'creates both of one resource': {
    when: create({ ...STRONG, associationType: 'key' }, { schema: { schema: INT } }),
    answer: response(
      expect.objectContaining({ subject: ':.ns:t-key', schema: expect.objectContaining({ id: 1 }) }),
      expect.objectContaining({ subject: OWNED, schema: expect.objectContaining({ id: 2 }) }),
    ),
  },
  'takes a repetition, and writes nothing': {
    given: [create(STRONG)],
    when: create(STRONG),
    answer: { ...RESOURCE, resourceType: 'topic' },
  },
  'checks and writes nothing in a dry run': {
    when: ['POST /associations?dryRun=true', { ...body(STRONG), resourceId: undefined }],
    answer: { resourceName: 't', resourceNamespace: 'ns', resourceType: 'topic' },
  },
  'finds by subject': {
    given: [register('s'), create(WEAK)],
    when: ['GET /associations/subjects/s'],
    answer: [WEAK_LISTED],
  },
  'finds by id': { given: [create(STRONG)], when: ['GET /associations/resources/id-1'], answer: [STRONG_LISTED] },
  'finds by name': { given: [create(STRONG)], when: ['GET /associations/resources/ns/t'], answer: [STRONG_LISTED] },
  'finds by wildcards': { given: [create(STRONG)], when: ['GET /associations/resources/-/-'], answer: [STRONG_LISTED] },
  'finds by type and lifecycle': {
    given: [create(STRONG)],
    when: ['GET /associations/resources/id-1?associationType=key&associationType=value&lifecycle=WEAK'],
    answer: [],
  },
  'refuses a lifecycle that there is not': {
    when: ['GET /associations/resources/id-1?lifecycle=weak'],
    ...errorResponse(404, 'HTTP 404 Not Found', 404),
  },
  'upserts into a context': {
    given: [['POST /contexts/.c/subjects/s/versions', { schema: RECORD }]],
    when: ['PUT /contexts/.c/associations/resources/id-1', body(WEAK)],
    answer: response({ subject: ':.c:s', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'follows an alias': {
    given: [register('s'), ['PUT /config/a', { alias: 's' }]],
    when: create({ ...WEAK, subject: 'a' }),
    answer: response({ subject: 's', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'lists schemas by association': {
    given: [register('s'), register('x'), create(WEAK)],
    when: ['GET /schemas?lifecycle=WEAK'],
    answer: [expect.objectContaining({ subject: 's', associations: [WEAK_LISTED] })],
  },
  'lists schemas without association': {
    given: [register('s'), register('x'), create(WEAK)],
    when: ['GET /schemas?lifecycle=NONE'],
    answer: [expect.not.objectContaining({ associations: expect.anything() })],
  },
  'deletes a weak one': {
    given: [register('s'), create(WEAK), ['DELETE /associations/resources/id-1']],
    when: ['GET /associations/subjects/s'],
    answer: [],
  },
  'deletes a strong one with its subject': {
    given: [create(STRONG), ['DELETE /associations/resources/id-1?cascadeLifecycle=true']],
    when: ['GET /subjects?deleted=true'],
    answer: [],
  },
  'deletes nothing in a dry run': {
    given: [create(STRONG), ['DELETE /associations/resources/id-1?cascadeLifecycle=true&dryRun=true']],
    when: ['GET /associations/resources/id-1'],
    answer: [STRONG_LISTED],
  },
  '40410': { when: ['DELETE /associations/resources/x'], ...errorResponse(40410, "Association for 'x' not found.") },
  '40903': {
    given: [register('s'), register('x'), create(WEAK)],
    when: create({ ...WEAK, subject: 'x' }),
    ...errorResponse(40903, "An association of type 'value' already exists for resource 't'"),
  },
  '40904 of a second resource': {
    given: [create(STRONG)],
    when: ['POST /associations', { ...body(STRONG), resourceId: 'id-2' }],
    ...errorResponse(40904, `An association already exists for subject '${OWNED}'`),
  },
  '40904 of a deletion': {
    given: [register('s'), create(WEAK)],
    when: ['DELETE /subjects/s'],
    ...errorResponse(40904, "An association already exists for subject 's'"),
  },
  '40905': {
    given: [create(STRONG)],
    when: [
      'POST /associations',
      {
        resourceName: 'u',
        resourceNamespace: 'ns',
        resourceId: 'id-2',
        associations: [{ subject: OWNED, lifecycle: 'WEAK' }],
      },
    ],
    ...errorResponse(40905, `A strong association already exists for subject '${OWNED}'`),
  },
  '40907': { when: create(WEAK), ...errorResponse(40907, "No active (non-deleted) version exists for subject 's'") },
  '40907 of a deletion': {
    given: [register('s'), create(WEAK)],
    when: ['DELETE /subjects/s/versions/1'],
    ...errorResponse(40907, "No active (non-deleted) version exists for subject 's'"),
  },
  '40908': {
    given: [create(STRONG)],
    when: ['DELETE /associations/resources/id-1'],
    ...errorResponse(40908, `The association of type  'value' is frozen for subject '${OWNED}'`),
  },
  '42206': {
    given: [
      ['POST /contexts/.ns/subjects/t-value/versions', { schema: RECORD }],
      [
        'POST /contexts/.ns/subjects/b/versions',
        {
          schema: '{"type":"record","name":"B","fields":[{"name":"r","type":"R"}]}',
          references: [{ name: 'R', subject: 't-value', version: 1 }],
        },
      ],
    ],
    when: create(STRONG),
    ...errorResponse(42206, `One or more references exist to the schema ${OWNED}.`),
  },
  '42205 of a reference': {
    given: [create(STRONG)],
    when: [
      'POST /subjects/b/versions',
      {
        schema: '{"type":"record","name":"B","fields":[{"name":"r","type":"R"}]}',
        references: [{ name: 'R', subject: OWNED, version: 1 }],
      },
    ],
    ...errorResponse(42205, `Subject '${OWNED}' has a strong association and cannot be referenced`),
  },
  '42205': {
    given: [register('s'), ['PUT /mode', { mode: 'READONLY' }]],
    when: create(WEAK),
    ...errorResponse(42205, 'Subject s in context . is in read-only mode'),
  },
  '42212 name': {
    when: ['POST /associations', { ...body(WEAK), resourceName: 'a.b' }],
    ...invalid('resourceName', "illegal character '.'"),
  },
  '42212 id': {
    when: ['POST /associations', { ...body(WEAK), resourceId: '' }],
    ...invalid('resourceId', 'cannot be null or empty'),
  },
  '42212 other id': {
    when: ['PUT /associations/resources/x', body(WEAK)],
    ...invalid('resourceId', 'Resource ID in the path parameter does not match the resource ID in the request body'),
  },
  '42212 resource type': {
    when: ['POST /associations', { ...body(WEAK), resourceType: 'x' }],
    ...invalid('resourceType', "must be 'topic'"),
  },
  '42212 nothing': { when: create(), ...invalid('associations', 'cannot be null or empty') },
  '42212 type': {
    when: create({ ...WEAK, associationType: 'x' }),
    ...invalid('associationType', "must be either 'key' or 'value'"),
  },
  '42212 twice': {
    given: [register('s')],
    when: create(WEAK, WEAK),
    ...invalid('associationType', "may only appear once per request, but 'value' appears more than once"),
  },
  '42212 weak with schema': {
    when: create({ ...STRONG, lifecycle: 'WEAK' }),
    ...invalid('lifecycle', 'cannot be WEAK when schema is provided'),
  },
  '42212 weak without subject': { when: create({}), ...invalid('subject', 'must be provided for WEAK associations') },
  '42212 weak on the own subject': {
    when: create({ ...WEAK, subject: OWNED }),
    ...invalid('subject', `WEAK associations cannot use subject '${OWNED}'`),
  },
  '42212 strong on another subject': {
    when: create({ ...STRONG, subject: 's' }),
    ...invalid('subject', `frozen associations must use subject '${OWNED}'`),
  },
  '42212 strong and not frozen': {
    when: create({ lifecycle: 'STRONG', frozen: false }),
    ...invalid('frozen', 'association with lifecycle of STRONG cannot be frozen=false'),
  },
  '42212 strong without schema': {
    when: create({ lifecycle: 'STRONG' }),
    ...invalid('schema', 'schema must be provided when creating a frozen association'),
  },
  '42212 strong on a used subject': {
    given: [['POST /contexts/.ns/subjects/t-value/versions', { schema: INT }]],
    when: create(STRONG),
    ...invalid('frozen', 'cannot create a frozen association when schemas already exist in the subject'),
  },
  '42212 schema of an upsert': {
    when: upsert(STRONG),
    ...invalid(
      'schema',
      'cannot be provided when adding an association to an existing topic; an association with a schema must be created with the topic',
    ),
  },
  '42212 strong by an upsert': {
    when: upsert({ lifecycle: 'STRONG' }),
    ...invalid(
      'lifecycle',
      'cannot be STRONG when creating an association; STRONG associations must be created with the topic',
    ),
  },
  '42212 another subject': {
    given: [register('s'), register('x'), create(WEAK)],
    when: upsert({ ...WEAK, subject: 'x' }),
    ...invalid('subject', "subject of association cannot be changed from 's' to 'x'"),
  },
  '42212 mixed': {
    given: [register('s'), create(WEAK)],
    when: create({ ...STRONG, associationType: 'key' }),
    ...invalid('lifecycle', `${MIXED}value=WEAK, key=STRONG`),
  },
  '42212 batch': { when: ['POST /associations:batchMutate', {}], ...invalid('requests', 'cannot be null or empty') },
  '42201': {
    when: create({ schema: { schema: '"nope"' } }),
    status: 422,
    answer: expect.objectContaining({ error_code: 42201 }),
  },
  'changes several resources, each by itself': {
    given: [register('s')],
    when: [
      'POST /associations:batchMutate',
      {
        requests: [
          { ...body({ opType: 'CREATE', ...WEAK }) },
          { ...body({ opType: 'DELETE' }), resourceId: 'x' },
          { ...body({ opType: 'UPSERT', ...WEAK }), resourceId: '' },
        ],
      },
    ],
    status: 207,
    answer: {
      results: [
        { result: response({ subject: 's', associationType: 'value', lifecycle: 'WEAK' }) },
        { result: { ...RESOURCE, resourceId: 'x', resourceType: 'topic' } },
        { error: { error_code: 42212, message: expect.stringContaining("'resourceId'") } },
      ],
    },
  },
  'finds several resources': {
    given: [create(STRONG)],
    when: [
      'POST /associations:batchGet?includeSchemas=true',
      { requests: [{ resourceId: 'id-1' }, { resourceName: 't', resourceNamespace: 'ns', lifecycle: 'WEAK' }, {}] },
    ],
    status: 207,
    answer: {
      results: [
        { result: response(expect.objectContaining({ subject: OWNED, schema: expect.objectContaining({ id: 1 }) })) },
        { result: { resourceName: 't', resourceNamespace: 'ns', resourceType: 'topic' } },
        {
          error: {
            error_code: 500,
            message:
              'Error while getting associations: property: resourceId; detail: either resourceId or resourceName must be specified',
          },
        },
      ],
    },
  },
  'is off when it is switched off': {
    settings: { 'associations.enable': 'false' },
    when: ['GET /associations/subjects/s'],
    ...errorResponse(404, expect.any(String), 404),
  },
}

describe('associations', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => expectRow(row))
})
