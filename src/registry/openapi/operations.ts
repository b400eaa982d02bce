import { DEK_ALGORITHMS } from '../../encryption/dek-cipher.ts'
import { arrayOf, integerSchema, type JsonSchema, schemaRef, stringSchema } from '../../http/openapi.ts'
import { answer } from './entities.ts'

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
  /** Default: 200, or 204 without an answer. */
  readonly status?: '207'
  /** Absent: nothing (204). */
  readonly answer?: JsonSchema
  /** Default: the registry's own types. */
  readonly mediaType?: string
}

type Parameter = keyof typeof PARAMETERS

const flag: JsonSchema = { type: 'boolean', default: false }

/** What stands in queries, by its name. */
export const PARAMETERS = {
  algorithm: { description: 'Of the DEK. Absent: AES256_GCM.', schema: { enum: DEK_ALGORITHMS } },
  aliases: { description: 'Tells the aliases of each subject.', schema: flag },
  associationType: { description: 'key or value; repeated: any of them.', schema: arrayOf(stringSchema) },
  cascadeLifecycle: { description: 'Also deletes the subjects that strong associations own.', schema: flag },
  context: { description: 'The context of subjects that name none.', schema: stringSchema },
  contextPrefix: { description: 'Contexts that begin so.', schema: stringSchema },
  defaultToGlobal: { description: 'What is in force, not only what is set here.', schema: flag },
  deleted: { description: 'Soft-deleted ones too.', schema: flag },
  deletedAsNegative: { description: 'Soft-deleted ones too, as negative numbers.', schema: flag },
  deletedOnly: { description: 'Soft-deleted ones only.', schema: flag },
  dryRun: { description: 'Checks the request and writes nothing.', schema: flag },
  fetchMaxId: { description: 'Tells the largest id.', schema: flag },
  findTags: { description: 'Tells where these tags stand in the schema; *: any tag.', schema: arrayOf(stringSchema) },
  force: { description: 'Without the check that would refuse it.', schema: flag },
  format: { description: 'AVRO: resolved; PROTOBUF: ignore_extensions, serialized.', schema: stringSchema },
  includeSchemas: { description: 'With the latest schema of each subject.', schema: flag },
  key: {
    description: 'Properties of the metadata, each with a value of the same place.',
    schema: arrayOf(stringSchema),
  },
  latestOnly: { description: 'The latest of each subject only.', schema: flag },
  lifecycle: { description: 'STRONG or WEAK.', schema: stringSchema },
  limit: { description: 'How many at most; -1: as many as configured.', schema: { ...integerSchema, default: -1 } },
  normalize: { description: 'Compares and stores one spelling of the same meaning.', schema: flag },
  offset: { description: 'How many are left out at the beginning.', schema: { ...integerSchema, default: 0 } },
  permanent: { description: 'For good, what was soft-deleted before.', schema: flag },
  recursive: { description: 'Those of the subjects in it too.', schema: flag },
  referenceFormat: { description: 'qualified: references with their context.', schema: stringSchema },
  rewrap: { description: 'Encrypts a DEK that exists again, with what its KEK is now.', schema: flag },
  resourceType: { description: 'Default: topic.', schema: stringSchema },
  ruleType: { description: 'With a rule of this type.', schema: stringSchema },
  subject: { description: 'The subject, and so the context, that is meant.', schema: stringSchema },
  subjectPrefix: { description: 'Subjects that begin so; :*: means those of all contexts.', schema: stringSchema },
  testSharing: { description: 'Creates or changes a shared KEK only if its KMS encrypts with it.', schema: flag },
  value: { description: 'Values of the properties.', schema: arrayOf(stringSchema) },
  verbose: { description: 'Says why not.', schema: flag },
} as const

const pages = ['offset', 'limit'] as const
const which = ['deleted', 'deletedOnly'] as const
const rawText: Pick<Operation, 'answer'> = { answer: { description: 'The stringSchema of the schema itself.' } }
const numbers = arrayOf(integerSchema)
const none: JsonSchema = { type: 'object', additionalProperties: false }

/** What stands alone. */
export const SERVER_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /': { summary: 'The mode of everything; tells that the registry is there', answer: schemaRef('Mode') },
  'POST /': { summary: 'Nothing; tells that the registry is there', answer: none },
  'GET /contexts': { summary: 'The contexts', query: ['contextPrefix', ...pages], answer: arrayOf(stringSchema) },
  'DELETE /contexts/{context}': { summary: 'Forgets an empty context' },
  'GET /v1/metadata/id': {
    summary: 'Which registry this is',
    answer: answer({
      scope: answer({
        path: arrayOf(stringSchema),
        clusters: answer({ 'kafka-cluster': stringSchema, 'schema-registry-cluster': stringSchema }, [
          'schema-registry-cluster',
        ]),
      }),
    }),
  },
  'GET /v1/metadata/version': {
    summary: 'Its version',
    answer: answer({ version: stringSchema, commitId: stringSchema }, ['version']),
  },
  'GET /v1/metadata/deployment': { summary: 'How it is run', answer: answer({ attributes: arrayOf(stringSchema) }) },
  'GET /openapi.json': { summary: 'This document', answer: { type: 'object' } },
  'GET /metrics': { summary: 'Metrics for Prometheus', mediaType: 'text/plain', answer: stringSchema },
  'GET /healthz': { summary: 'Whether the process lives', mediaType: 'text/plain', answer: stringSchema },
  'GET /readyz': { summary: 'Whether a leader is known', mediaType: 'text/plain', answer: stringSchema },
}

/** What stands alone and under `/contexts/{context}`, where it is about that context. */
export const RESOURCE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /subjects': {
    summary: 'The subjects',
    query: ['subjectPrefix', ...which, ...pages],
    answer: arrayOf(stringSchema),
  },
  'POST /subjects/{subject}': {
    summary: 'Where a schema is registered under a subject',
    query: ['normalize', 'deleted', 'format'],
    body: 'NewSchema',
    answer: schemaRef('Schema'),
  },
  'DELETE /subjects/{subject}': {
    summary: 'Deletes all versions; answers their numbers',
    query: ['permanent'],
    answer: numbers,
  },
  'GET /subjects/{subject}/metadata': {
    summary: 'The latest version with these properties',
    query: ['key', 'value', 'deleted', 'format'],
    answer: schemaRef('Schema'),
  },
  'GET /subjects/{subject}/versions': {
    summary: 'The versions',
    query: [...which, 'deletedAsNegative', ...pages],
    answer: numbers,
  },
  'POST /subjects/{subject}/versions': {
    summary: 'Registers a schema',
    query: ['normalize', 'force', 'format'],
    body: 'NewSchema',
    answer: schemaRef('RegisteredSchema'),
  },
  'GET /subjects/{subject}/versions/{version}': {
    summary: 'One version: a number, latest or -1',
    query: ['deleted', 'format', 'referenceFormat', 'findTags'],
    answer: schemaRef('Schema'),
  },
  'GET /subjects/{subject}/versions/{version}/schema': {
    summary: 'Its text',
    query: ['deleted', 'format'],
    ...rawText,
  },
  'GET /subjects/{subject}/versions/{version}/referencedby': {
    summary: 'Ids of the schemas that refer to it',
    query: [...which, ...pages],
    answer: numbers,
  },
  'POST /subjects/{subject}/versions/{version}/tags': {
    summary: 'Registers it with other tags, metadata or rules',
    body: 'TagsUpdate',
    answer: schemaRef('RegisteredSchema'),
  },
  'DELETE /subjects/{subject}/versions/{version}': {
    summary: 'Deletes one version; answers its number',
    query: ['permanent'],
    answer: integerSchema,
  },
  'GET /schemas': {
    summary: 'All schemas, by subject and version',
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
    answer: arrayOf(schemaRef('ListedSchema')),
  },
  'GET /schemas/types': { summary: 'The schema languages', answer: arrayOf(stringSchema) },
  'GET /schemas/ids/{id}': {
    summary: 'What an id stands for',
    query: ['subject', 'format', 'referenceFormat', 'findTags', 'fetchMaxId'],
    answer: schemaRef('SchemaById'),
  },
  'GET /schemas/ids/{id}/schema': { summary: 'Its text', query: ['subject', 'format'], ...rawText },
  'GET /schemas/ids/{id}/subjects': {
    summary: 'Subjects that hold it',
    query: ['subject', ...which, ...pages],
    answer: arrayOf(stringSchema),
  },
  'GET /schemas/ids/{id}/versions': {
    summary: 'Versions that hold it',
    query: ['subject', ...which, ...pages],
    answer: arrayOf(answer({ subject: stringSchema, version: integerSchema }, ['subject', 'version'])),
  },
  'GET /schemas/guids/{guid}': {
    summary: 'What a guid stands for',
    query: ['format'],
    answer: schemaRef('SchemaById'),
  },
  'GET /schemas/guids/{guid}/ids': {
    summary: 'Its id in each context',
    answer: arrayOf(answer({ context: stringSchema, id: integerSchema }, ['context', 'id'])),
  },
  'POST /compatibility/subjects/{subject}/versions': {
    summary: 'Whether a schema may follow, by the level of its subject',
    query: ['normalize', 'verbose'],
    body: 'NewSchema',
    answer: schemaRef('CompatibilityVerdict'),
  },
  'POST /compatibility/subjects/{subject}/versions/{version}': {
    summary: 'Whether a schema may follow one version',
    query: ['normalize', 'verbose'],
    body: 'NewSchema',
    answer: schemaRef('CompatibilityVerdict'),
  },
  'GET /associations/subjects/{subject}': {
    summary: 'The resources that use a subject',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    answer: arrayOf(schemaRef('Association')),
  },
  'GET /associations/resources/{resourceId}': {
    summary: 'The subjects that a resource uses',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    answer: arrayOf(schemaRef('Association')),
  },
  'GET /associations/resources/{resourceNamespace}/{resourceName}': {
    summary: 'The subjects that a resource uses, by its name; -: any name or namespace',
    query: ['resourceType', 'associationType', 'lifecycle', ...pages],
    answer: arrayOf(schemaRef('Association')),
  },
  'POST /associations': {
    summary: 'Creates associations of a resource, with their schemas',
    query: ['context', 'dryRun'],
    body: 'AssociationRequest',
    answer: schemaRef('ResourceAssociations'),
  },
  'PUT /associations/resources/{resourceId}': {
    summary: 'Creates or updates associations of a resource',
    query: ['context', 'dryRun'],
    body: 'AssociationRequest',
    answer: schemaRef('ResourceAssociations'),
  },
  'DELETE /associations/resources/{resourceId}': {
    summary: 'Deletes associations of a resource',
    query: ['resourceType', 'associationType', 'cascadeLifecycle', 'dryRun'],
  },
  'POST /associations:batchGet': {
    summary: 'The associations of several resources',
    query: ['includeSchemas'],
    body: 'AssociationSearch',
    status: '207',
    answer: schemaRef('AssociationResults'),
  },
  'POST /associations:batchMutate': {
    summary: 'Changes associations of several resources, each by itself',
    query: ['context', 'dryRun'],
    body: 'AssociationBatch',
    status: '207',
    answer: schemaRef('AssociationResults'),
  },
  ...settable('config', { get: schemaRef('Config'), put: schemaRef('UpdatedConfig'), body: 'ConfigUpdate' }),
  ...settable('mode', {
    get: schemaRef('Mode'),
    put: answer({ mode: { description: 'As it was sent.' } }),
    body: 'ModeUpdate',
    force: ['force'],
    recursive: ['recursive'],
  }),
}

/** What may be set of everything, of a context and of a subject. */
function settable(
  name: 'config' | 'mode',
  is: {
    readonly get: JsonSchema
    readonly put: JsonSchema
    readonly body: NonNullable<Operation['body']>
    readonly force?: readonly Parameter[]
    readonly recursive?: readonly Parameter[]
  },
): Readonly<Record<string, Operation>> {
  const { get, put, body, force = [], recursive = [] } = is
  return Object.fromEntries(
    [`/${name}`, `/${name}/{subject}`].flatMap((path): [string, Operation][] => [
      [`GET ${path}`, { summary: `The ${name} that is set`, query: ['defaultToGlobal'], answer: get }],
      [`PUT ${path}`, { summary: `Sets the ${name}`, query: force, body, answer: put }],
      [`DELETE ${path}`, { summary: `Takes the ${name} back; answers it`, query: recursive, answer: get }],
    ]),
  )
}
