import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// The rules and messages are those of Confluent's AssociationsResource and AbstractSchemaRegistry, version 8.4.

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
const MIXED_LIFECYCLES = 'all associations for a resource must have the same lifecycle, but got '

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'creates a WEAK association': {
    given: [register('s')],
    when: create(WEAK),
    answer: response({ subject: 's', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'creates a STRONG association and registers its schema': {
    when: create(STRONG),
    answer: response({
      subject: OWNED,
      associationType: 'value',
      lifecycle: 'STRONG',
      schema: expect.objectContaining({ subject: OWNED, version: 1, id: 1, schema: RECORD }),
    }),
  },
  'creates the key and the value association of a resource': {
    when: create({ ...STRONG, associationType: 'key' }, { schema: { schema: INT } }),
    answer: response(
      expect.objectContaining({ subject: ':.ns:t-key', schema: expect.objectContaining({ id: 1 }) }),
      expect.objectContaining({ subject: OWNED, schema: expect.objectContaining({ id: 2 }) }),
    ),
  },
  'writes nothing when the same association is created again': {
    given: [create(STRONG)],
    when: create(STRONG),
    answer: { ...RESOURCE, resourceType: 'topic' },
  },
  'writes nothing when creating with dryRun=true': {
    when: ['POST /associations?dryRun=true', { ...body(STRONG), resourceId: undefined }],
    answer: { resourceName: 't', resourceNamespace: 'ns', resourceType: 'topic' },
  },
  'lists associations by subject': {
    given: [register('s'), create(WEAK)],
    when: ['GET /associations/subjects/s'],
    answer: [WEAK_LISTED],
  },
  'lists associations by resource ID': {
    given: [create(STRONG)],
    when: ['GET /associations/resources/id-1'],
    answer: [STRONG_LISTED],
  },
  'lists associations by resource name': {
    given: [create(STRONG)],
    when: ['GET /associations/resources/ns/t'],
    answer: [STRONG_LISTED],
  },
  'lists associations by wildcards for name and namespace': {
    given: [create(STRONG)],
    when: ['GET /associations/resources/-/-'],
    answer: [STRONG_LISTED],
  },
  'filters associations by type and lifecycle': {
    given: [create(STRONG)],
    when: ['GET /associations/resources/id-1?associationType=key&associationType=value&lifecycle=WEAK'],
    answer: [],
  },
  'returns 404 for an unknown lifecycle': {
    when: ['GET /associations/resources/id-1?lifecycle=weak'],
    ...errorResponse(404, 'HTTP 404 Not Found', 404),
  },
  'qualifies the subject with the context of the path': {
    given: [['POST /contexts/.c/subjects/s/versions', { schema: RECORD }]],
    when: ['PUT /contexts/.c/associations/resources/id-1', body(WEAK)],
    answer: response({ subject: ':.c:s', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'resolves the alias of a subject': {
    given: [register('s'), ['PUT /config/a', { alias: 's' }]],
    when: create({ ...WEAK, subject: 'a' }),
    answer: response({ subject: 's', associationType: 'value', lifecycle: 'WEAK' }),
  },
  'lists schemas by the lifecycle of their association': {
    given: [register('s'), register('x'), create(WEAK)],
    when: ['GET /schemas?lifecycle=WEAK'],
    answer: [expect.objectContaining({ subject: 's', associations: [WEAK_LISTED] })],
  },
  'lists schemas without association with lifecycle=NONE': {
    given: [register('s'), register('x'), create(WEAK)],
    when: ['GET /schemas?lifecycle=NONE'],
    answer: [expect.not.objectContaining({ associations: expect.anything() })],
  },
  'deletes a WEAK association': {
    given: [register('s'), create(WEAK), ['DELETE /associations/resources/id-1']],
    when: ['GET /associations/subjects/s'],
    answer: [],
  },
  'deletes a STRONG association and its subject with cascadeLifecycle=true': {
    given: [create(STRONG), ['DELETE /associations/resources/id-1?cascadeLifecycle=true']],
    when: ['GET /subjects?deleted=true'],
    answer: [],
  },
  'deletes nothing with dryRun=true': {
    given: [create(STRONG), ['DELETE /associations/resources/id-1?cascadeLifecycle=true&dryRun=true']],
    when: ['GET /associations/resources/id-1'],
    answer: [STRONG_LISTED],
  },
  'returns 40410 when deleting the associations of an unknown resource': {
    when: ['DELETE /associations/resources/x'],
    ...errorResponse(40410, "Association for 'x' not found."),
  },
  'returns 40903 if the resource has another association of the same type': {
    given: [register('s'), register('x'), create(WEAK)],
    when: create({ ...WEAK, subject: 'x' }),
    ...errorResponse(40903, "An association of type 'value' already exists for resource 't'"),
  },
  'returns 40904 if another resource owns the subject': {
    given: [create(STRONG)],
    when: ['POST /associations', { ...body(STRONG), resourceId: 'id-2' }],
    ...errorResponse(40904, `An association already exists for subject '${OWNED}'`),
  },
  'returns 40904 when deleting a subject that has an association': {
    given: [register('s'), create(WEAK)],
    when: ['DELETE /subjects/s'],
    ...errorResponse(40904, "An association already exists for subject 's'"),
  },
  'returns 40905 for a WEAK association of a subject with a STRONG one': {
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
  'returns 40907 if the subject has no live version': {
    when: create(WEAK),
    ...errorResponse(40907, "No active (non-deleted) version exists for subject 's'"),
  },
  'returns 40907 when deleting the last live version of a subject with an association': {
    given: [register('s'), create(WEAK)],
    when: ['DELETE /subjects/s/versions/1'],
    ...errorResponse(40907, "No active (non-deleted) version exists for subject 's'"),
  },
  'returns 40908 when deleting a frozen association without cascadeLifecycle': {
    given: [create(STRONG)],
    when: ['DELETE /associations/resources/id-1'],
    ...errorResponse(40908, `The association of type  'value' is frozen for subject '${OWNED}'`),
  },
  'returns 42206 for a STRONG association of a referenced subject': {
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
  'returns 42205 for a reference to a subject with a STRONG association': {
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
  'returns 42205 in mode READONLY': {
    given: [register('s'), ['PUT /mode', { mode: 'READONLY' }]],
    when: create(WEAK),
    ...errorResponse(42205, 'Subject s in context . is in read-only mode'),
  },
  'returns 42212 for an illegal character in the resource name': {
    when: ['POST /associations', { ...body(WEAK), resourceName: 'a.b' }],
    ...invalid('resourceName', "illegal character '.'"),
  },
  'returns 42212 for an empty resource ID': {
    when: ['POST /associations', { ...body(WEAK), resourceId: '' }],
    ...invalid('resourceId', 'cannot be null or empty'),
  },
  'returns 42212 if the resource IDs of path and body differ': {
    when: ['PUT /associations/resources/x', body(WEAK)],
    ...invalid('resourceId', 'Resource ID in the path parameter does not match the resource ID in the request body'),
  },
  'returns 42212 for an unknown resource type': {
    when: ['POST /associations', { ...body(WEAK), resourceType: 'x' }],
    ...invalid('resourceType', "must be 'topic'"),
  },
  'returns 42212 for a request without associations': {
    when: create(),
    ...invalid('associations', 'cannot be null or empty'),
  },
  'returns 42212 for an unknown association type': {
    when: create({ ...WEAK, associationType: 'x' }),
    ...invalid('associationType', "must be either 'key' or 'value'"),
  },
  'returns 42212 if an association type occurs twice': {
    given: [register('s')],
    when: create(WEAK, WEAK),
    ...invalid('associationType', "may only appear once per request, but 'value' appears more than once"),
  },
  'returns 42212 for a WEAK association with a schema': {
    when: create({ ...STRONG, lifecycle: 'WEAK' }),
    ...invalid('lifecycle', 'cannot be WEAK when schema is provided'),
  },
  'returns 42212 for a WEAK association without a subject': {
    when: create({}),
    ...invalid('subject', 'must be provided for WEAK associations'),
  },
  'returns 42212 for a WEAK association of the resource’s own subject': {
    when: create({ ...WEAK, subject: OWNED }),
    ...invalid('subject', `WEAK associations cannot use subject '${OWNED}'`),
  },
  'returns 42212 for a STRONG association of another subject': {
    when: create({ ...STRONG, subject: 's' }),
    ...invalid('subject', `frozen associations must use subject '${OWNED}'`),
  },
  'returns 42212 for a STRONG association that is not frozen': {
    when: create({ lifecycle: 'STRONG', frozen: false }),
    ...invalid('frozen', 'association with lifecycle of STRONG cannot be frozen=false'),
  },
  'returns 42212 for a new STRONG association without a schema': {
    when: create({ lifecycle: 'STRONG' }),
    ...invalid('schema', 'schema must be provided when creating a frozen association'),
  },
  'returns 42212 for a STRONG association of a subject that has another schema': {
    given: [['POST /contexts/.ns/subjects/t-value/versions', { schema: INT }]],
    when: create(STRONG),
    ...invalid('frozen', 'cannot create a frozen association when schemas already exist in the subject'),
  },
  'returns 42212 for an upsert with a schema': {
    when: upsert(STRONG),
    ...invalid(
      'schema',
      'cannot be provided when adding an association to an existing topic; an association with a schema must be created with the topic',
    ),
  },
  'returns 42212 for an upsert of a new STRONG association': {
    when: upsert({ lifecycle: 'STRONG' }),
    ...invalid(
      'lifecycle',
      'cannot be STRONG when creating an association; STRONG associations must be created with the topic',
    ),
  },
  'returns 42212 for an upsert that changes the subject': {
    given: [register('s'), register('x'), create(WEAK)],
    when: upsert({ ...WEAK, subject: 'x' }),
    ...invalid('subject', "subject of association cannot be changed from 's' to 'x'"),
  },
  'returns 42212 if the associations of a resource have different lifecycles': {
    given: [register('s'), create(WEAK)],
    when: create({ ...STRONG, associationType: 'key' }),
    ...invalid('lifecycle', `${MIXED_LIFECYCLES}value=WEAK, key=STRONG`),
  },
  'returns 42212 for a batch without requests': {
    when: ['POST /associations:batchMutate', {}],
    ...invalid('requests', 'cannot be null or empty'),
  },
  'returns 42201 for an invalid schema': {
    when: create({ schema: { schema: '"nope"' } }),
    status: 422,
    answer: expect.objectContaining({ error_code: 42201 }),
  },
  'changes several resources in a batch independently of each other': {
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
  'returns the associations of several resources in a batch': {
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
  'returns 404 with associations.enable=false': {
    settings: { 'associations.enable': 'false' },
    when: ['GET /associations/subjects/s'],
    ...errorResponse(404, expect.any(String), 404),
  },
}

describe('associations', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})
