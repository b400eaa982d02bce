import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import { arrayOf, integerSchema, type JsonSchema, schemaRef, stringSchema } from '../../http/openapi-document.ts'
import { responseSchema } from './entities.ts'

export type Operation = {
  readonly summary: string
  readonly query?: readonly Parameter[]
  readonly body?:
    | 'NewSchema'
    | 'TagsUpdate'
    | 'ConfigUpdate'
    | 'ModeUpdate'
    | 'NewKek'
    | 'KekUpdate'
    | 'NewDek'
    | 'AssociationRequest'
    | 'AssociationSearch'
    | 'AssociationBatch'
  /** Default: 200, or 204 without a response body. */
  readonly status?: '207'
  /** The response body. Default: none (204). */
  readonly response?: JsonSchema
  /** The media type of the response. Default: those of Confluent's registry. */
  readonly mediaType?: string
}

type Parameter = keyof typeof PARAMETERS

const flag: JsonSchema = { type: 'boolean', default: false }

/** The query parameters, by name. */
export const PARAMETERS = {
  algorithm: { description: 'The algorithm of the DEK. Default: AES256_GCM.', schema: { enum: DEK_ALGORITHMS } },
  aliases: { description: 'Includes the aliases of each subject.', schema: flag },
  associationType: {
    description: 'key or value. If it is repeated, any of the values matches.',
    schema: arrayOf(stringSchema),
  },
  cascadeLifecycle: { description: 'Also deletes the subjects that STRONG associations own.', schema: flag },
  context: { description: 'The context of subject names without a context.', schema: stringSchema },
  contextPrefix: { description: 'Lists only contexts with this prefix.', schema: stringSchema },
  defaultToGlobal: {
    description: 'Returns the effective value, including inherited ones, instead of the value set for the subject.',
    schema: flag,
  },
  deleted: { description: 'Includes soft-deleted versions and keys.', schema: flag },
  deletedAsNegative: { description: 'Includes soft-deleted versions as negative numbers.', schema: flag },
  deletedOnly: { description: 'Returns only soft-deleted versions.', schema: flag },
  dryRun: { description: 'Checks the request without writing anything.', schema: flag },
  fetchMaxId: { description: 'Includes the largest ID of the context.', schema: flag },
  findTags: {
    description: 'Includes the entities of the schema that have these tags; * matches every tag.',
    schema: arrayOf(stringSchema),
  },
  force: { description: 'Skips the check of compatibility, or of existing subjects.', schema: flag },
  format: {
    description: 'The format of the schema: resolved for AVRO; ignore_extensions or serialized for PROTOBUF.',
    schema: stringSchema,
  },
  includeSchemas: { description: 'Includes the latest schema of each subject.', schema: flag },
  key: {
    description: 'Names of metadata properties. The value at the same position is the required value.',
    schema: arrayOf(stringSchema),
  },
  latestOnly: { description: 'Returns only the latest version of each subject.', schema: flag },
  lifecycle: {
    description: 'The lifecycle of the association: STRONG or WEAK; for GET /schemas also NONE.',
    schema: stringSchema,
  },
  limit: {
    description: 'The maximum number of results. -1 is the configured default.',
    schema: { ...integerSchema, default: -1 },
  },
  normalize: { description: 'Normalizes the schema before it is compared or stored.', schema: flag },
  offset: { description: 'The number of results to skip.', schema: { ...integerSchema, default: 0 } },
  permanent: { description: 'Deletes permanently. Requires an earlier soft delete.', schema: flag },
  recursive: { description: 'Also deletes the modes of the subjects in the scope.', schema: flag },
  referenceFormat: {
    description: 'qualified: the subjects of references include their context.',
    schema: stringSchema,
  },
  rewrap: { description: 'Encrypts an existing DEK again with the current key of its KEK.', schema: flag },
  resourceType: { description: 'The type of the resource. Default: topic.', schema: stringSchema },
  ruleType: { description: 'Returns only schemas with a rule of this type.', schema: stringSchema },
  subject: { description: 'The subject, and thereby the context, in which the ID is looked up.', schema: stringSchema },
  subjectPrefix: { description: 'The prefix of the subjects. :*: is every context.', schema: stringSchema },
  testSharing: { description: 'Creates or updates a shared KEK only if its KMS can encrypt with it.', schema: flag },
  value: { description: 'Values of the metadata properties in `key`.', schema: arrayOf(stringSchema) },
  verbose: { description: 'Includes the reasons for an incompatibility.', schema: flag },
} as const

const pages = ['offset', 'limit'] as const
const which = ['deleted', 'deletedOnly'] as const
const rawText: Pick<Operation, 'response'> = { response: { description: 'The text of the schema.' } }
const numbers = arrayOf(integerSchema)
const none: JsonSchema = { type: 'object', additionalProperties: false }

/** Operations that exist only at the top level. */
export const SERVER_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /': {
    summary: 'Returns the global mode; a simple check that the registry responds',
    response: schemaRef('Mode'),
  },
  'POST /': { summary: 'Returns an empty object; a simple check that the registry responds', response: none },
  'GET /contexts': {
    summary: 'Lists the contexts',
    query: ['contextPrefix', ...pages],
    response: arrayOf(stringSchema),
  },
  'DELETE /contexts/{context}': { summary: 'Deletes an empty context' },
  'GET /v1/metadata/id': {
    summary: 'Returns the cluster IDs of the registry and of Kafka',
    response: responseSchema({
      scope: responseSchema({
        path: arrayOf(stringSchema),
        clusters: responseSchema({ 'kafka-cluster': stringSchema, 'schema-registry-cluster': stringSchema }, [
          'schema-registry-cluster',
        ]),
      }),
    }),
  },
  'GET /v1/metadata/version': {
    summary: 'Returns the version of the registry',
    response: responseSchema({ version: stringSchema, commitId: stringSchema }, ['version']),
  },
  'GET /v1/metadata/deployment': {
    summary: 'Returns the attributes of the deployment',
    response: responseSchema({ attributes: arrayOf(stringSchema) }),
  },
  'GET /openapi.json': { summary: 'Returns this document', response: { type: 'object' } },
  'GET /metrics': {
    summary: 'Returns the metrics in the Prometheus format',
    mediaType: 'text/plain',
    response: stringSchema,
  },
  'GET /healthz': {
    summary: 'Liveness: returns 200 while the process runs',
    mediaType: 'text/plain',
    response: stringSchema,
  },
  'GET /readyz': {
    summary: 'Readiness: returns 200 if a leader is known and the topic can be read, otherwise 503',
    mediaType: 'text/plain',
    response: stringSchema,
  },
}

/** Operations that exist at the top level, and for one context under `/contexts/{context}`. */
export const RESOURCE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /subjects': {
    summary: 'Lists the subjects',
    query: ['subjectPrefix', ...which, ...pages],
    response: arrayOf(stringSchema),
  },
  'POST /subjects/{subject}': {
    summary: 'Looks up a schema under a subject',
    query: ['normalize', 'deleted', 'format'],
    body: 'NewSchema',
    response: schemaRef('Schema'),
  },
  'DELETE /subjects/{subject}': {
    summary: 'Deletes a subject and returns the numbers of its deleted versions',
    query: ['permanent'],
    response: numbers,
  },
  'GET /subjects/{subject}/metadata': {
    summary: 'Returns the latest version with these metadata properties',
    query: ['key', 'value', 'deleted', 'format'],
    response: schemaRef('Schema'),
  },
  'GET /subjects/{subject}/versions': {
    summary: 'Lists the versions of a subject',
    query: [...which, 'deletedAsNegative', ...pages],
    response: numbers,
  },
  'POST /subjects/{subject}/versions': {
    summary: 'Registers a schema under a subject',
    query: ['normalize', 'force', 'format'],
    body: 'NewSchema',
    response: schemaRef('RegisteredSchema'),
  },
  'GET /subjects/{subject}/versions/{version}': {
    summary: 'Returns one version: a number, latest or -1',
    query: ['deleted', 'format', 'referenceFormat', 'findTags'],
    response: schemaRef('Schema'),
  },
  'GET /subjects/{subject}/versions/{version}/schema': {
    summary: 'Returns the text of one version',
    query: ['deleted', 'format'],
    ...rawText,
  },
  'GET /subjects/{subject}/versions/{version}/referencedby': {
    summary: 'Lists the IDs of the schemas that reference this version',
    query: [...which, ...pages],
    response: numbers,
  },
  'POST /subjects/{subject}/versions/{version}/tags': {
    summary: 'Registers the version again with changed tags, metadata or rules',
    body: 'TagsUpdate',
    response: schemaRef('RegisteredSchema'),
  },
  'DELETE /subjects/{subject}/versions/{version}': {
    summary: 'Deletes one version and returns its number',
    query: ['permanent'],
    response: integerSchema,
  },
  'GET /schemas': {
    summary: 'Lists all schemas, sorted by subject and version',
    query: [
      'subjectPrefix',
      ...which,
      'latestOnly',
      'ruleType',
      'aliases',
      'resourceType',
      'associationType',
      'lifecycle',
      ...pages,
    ],
    response: arrayOf(schemaRef('ListedSchema')),
  },
  'GET /schemas/types': { summary: 'Lists the supported schema types', response: arrayOf(stringSchema) },
  'GET /schemas/ids/{id}': {
    summary: 'Returns the schema with an ID',
    query: ['subject', 'format', 'referenceFormat', 'findTags', 'fetchMaxId'],
    response: schemaRef('SchemaById'),
  },
  'GET /schemas/ids/{id}/schema': {
    summary: 'Returns the text of the schema with an ID',
    query: ['subject', 'format'],
    ...rawText,
  },
  'GET /schemas/ids/{id}/subjects': {
    summary: 'Lists the subjects that have the schema with an ID',
    query: ['subject', ...which, ...pages],
    response: arrayOf(stringSchema),
  },
  'GET /schemas/ids/{id}/versions': {
    summary: 'Lists the versions that have the schema with an ID',
    query: ['subject', ...which, ...pages],
    response: arrayOf(responseSchema({ subject: stringSchema, version: integerSchema }, ['subject', 'version'])),
  },
  'GET /schemas/guids/{guid}': {
    summary: 'Returns the schema with a GUID',
    query: ['format'],
    response: schemaRef('SchemaById'),
  },
  'GET /schemas/guids/{guid}/ids': {
    summary: 'Lists the IDs of the schema with a GUID, one for each context',
    response: arrayOf(responseSchema({ context: stringSchema, id: integerSchema }, ['context', 'id'])),
  },
  'POST /compatibility/subjects/{subject}/versions': {
    summary:
      'Checks whether a schema is compatible with the versions that the compatibility level of the subject selects',
    query: ['normalize', 'verbose'],
    body: 'NewSchema',
    response: schemaRef('CompatibilityVerdict'),
  },
  'POST /compatibility/subjects/{subject}/versions/{version}': {
    summary: 'Checks whether a schema is compatible with one version',
    query: ['normalize', 'verbose'],
    body: 'NewSchema',
    response: schemaRef('CompatibilityVerdict'),
  },
  'GET /associations/subjects/{subject}': {
    summary: 'Lists the associations of a subject',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    response: arrayOf(schemaRef('Association')),
  },
  'GET /associations/resources/{resourceId}': {
    summary: 'Lists the associations of a resource by its ID',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    response: arrayOf(schemaRef('Association')),
  },
  'GET /associations/resources/{resourceNamespace}/{resourceName}': {
    summary: 'Lists the associations of a resource by its name; - matches any name or namespace',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    response: arrayOf(schemaRef('Association')),
  },
  'POST /associations': {
    summary: 'Creates associations of a resource and registers their schemas',
    query: ['context', 'dryRun'],
    body: 'AssociationRequest',
    response: schemaRef('ResourceAssociations'),
  },
  'PUT /associations/resources/{resourceId}': {
    summary: 'Creates or updates associations of a resource',
    query: ['context', 'dryRun'],
    body: 'AssociationRequest',
    response: schemaRef('ResourceAssociations'),
  },
  'DELETE /associations/resources/{resourceId}': {
    summary: 'Deletes associations of a resource',
    query: ['resourceType', 'associationType', 'cascadeLifecycle', 'dryRun'],
  },
  'POST /associations:batchGet': {
    summary: 'Returns the associations of several resources',
    query: ['includeSchemas'],
    body: 'AssociationSearch',
    status: '207',
    response: schemaRef('AssociationResults'),
  },
  'POST /associations:batchMutate': {
    summary: 'Changes the associations of several resources, each independently of the others',
    query: ['context', 'dryRun'],
    body: 'AssociationBatch',
    status: '207',
    response: schemaRef('AssociationResults'),
  },
  ...settable('config', { get: schemaRef('Config'), put: schemaRef('UpdatedConfig'), body: 'ConfigUpdate' }),
  ...settable('mode', {
    get: schemaRef('Mode'),
    put: responseSchema({ mode: { description: 'The mode as it was sent.' } }),
    body: 'ModeUpdate',
    force: ['force'],
    recursive: ['recursive'],
  }),
}

/** The operations on the config or mode of the global scope, of a context and of a subject. */
function settable(
  name: 'config' | 'mode',
  spec: {
    readonly get: JsonSchema
    readonly put: JsonSchema
    readonly body: NonNullable<Operation['body']>
    readonly force?: readonly Parameter[]
    readonly recursive?: readonly Parameter[]
  },
): Readonly<Record<string, Operation>> {
  const { get, put, body, force = [], recursive = [] } = spec
  return Object.fromEntries(
    [`/${name}`, `/${name}/{subject}`].flatMap((path): [string, Operation][] => [
      [`GET ${path}`, { summary: `Returns the ${name}`, query: ['defaultToGlobal'], response: get }],
      [`PUT ${path}`, { summary: `Sets the ${name}`, query: force, body, response: put }],
      [`DELETE ${path}`, { summary: `Deletes the ${name} and returns it`, query: recursive, response: get }],
    ]),
  )
}
