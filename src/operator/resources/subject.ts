import { z } from 'zod'
import { commonStatus, countField } from './common-status.ts'
import {
  atomicList,
  boundedText,
  choice,
  clusterRef,
  driftPolicy,
  freeObject,
  int32,
  keyRef,
  mapList,
  nameRef,
  ownRecord,
  subjectNameField,
  suspend,
  time,
  withRules,
} from './field-schemas.ts'

const schemaType = () =>
  choice('Format of the schema.', {
    AVRO: 'Apache Avro',
    JSON: 'JSON Schema',
    PROTOBUF: 'Protocol Buffers',
  }).default('AVRO')
const schemaText = (min = 0) => boundedText(min, 524_288).describe('Text of the schema.')
const schemaFrom = () =>
  z
    .strictObject({ configMapKeyRef: keyRef('ConfigMap in this namespace').describe('Key of a ConfigMap.') })
    .describe('Reads the text of the schema from a ConfigMap.')
const version = () => int32().min(1)
const referenceName = () =>
  boundedText(1, 512).describe(
    'Name of the reference in the schema: a full name in Avro, a $ref in JSON Schema, an import path in Protobuf.',
  )
export const compatibilityLevel = (of: string) =>
  choice(`Compatibility level of the ${of}; absent: the level is not managed.`, {
    NONE: 'compatibility is not checked',
    BACKWARD: 'the new schema can read data of the latest version',
    BACKWARD_TRANSITIVE: 'the new schema can read data of all versions',
    FORWARD: 'the latest version can read data of the new schema',
    FORWARD_TRANSITIVE: 'all versions can read data of the new schema',
    FULL: 'BACKWARD and FORWARD',
    FULL_TRANSITIVE: 'BACKWARD_TRANSITIVE and FORWARD_TRANSITIVE',
  })

const reference = withRules(
  z.strictObject({
    name: referenceName(),
    subjectRef: nameRef('Subject in this namespace')
      .optional()
      .describe('Subject in this namespace that is registered before this one.'),
    subject: subjectNameField()
      .optional()
      .describe('Name of a subject in the registry that is not declared as a Subject.'),
    version: version()
      .optional()
      .describe(
        'Version of the referenced subject. Required with subject; with subjectRef absent: the version of the declared schema.',
      ),
  }),
  [
    {
      cel: 'has(self.subjectRef) != has(self.subject)',
      message: 'exactly one of subjectRef and subject must be set',
      isValid: ({ subjectRef, subject }) => (subjectRef === undefined) !== (subject === undefined),
    },
    {
      cel: '!has(self.subject) || has(self.version)',
      message: 'version is required with subject',
      isValid: (value) => value.subject === undefined || value.version !== undefined,
    },
  ],
)

const importedReference = z.strictObject({
  name: referenceName(),
  subject: subjectNameField().describe('Name of the referenced subject.'),
  version: version().describe('Version of the referenced subject.'),
})

const importedVersion = withRules(
  z.strictObject({
    version: version().describe('Version to register the schema as.'),
    id: int32().min(1).describe('Id to register the schema with.'),
    schemaType: schemaType(),
    schema: schemaText().optional(),
    schemaFrom: schemaFrom().optional(),
    references: atomicList(importedReference).max(50).optional().describe('References of the schema to other schemas.'),
  }),
  [
    {
      cel: 'has(self.schema) != has(self.schemaFrom)',
      message: 'exactly one of schema and schemaFrom must be set',
      isValid: ({ schema, schemaFrom: from }) => (schema === undefined) !== (from === undefined),
    },
  ],
)

/** Desired state of one subject. */
export const subjectSpec = withRules(
  z.strictObject({
    registryRef: clusterRef('registry').describe('Registry of the subject. Immutable.'),
    subject: subjectNameField()
      .optional()
      .describe(
        'Name of the subject in the registry, with its context if it has one; absent: metadata.name. Immutable. Example: :.ctx:orders-value.',
      ),
    schemaType: schemaType(),
    schema: schemaText(1).optional(),
    schemaFrom: schemaFrom().optional(),
    references: mapList(reference, 'name').max(100).optional().describe('References of the schema to other schemas.'),
    normalize: z
      .boolean()
      .default(false)
      .describe('true: the schema is normalized before it is compared and registered.'),
    metadata: freeObject().optional().describe('Metadata of the data contract, sent to the registry unchanged.'),
    ruleSet: freeObject().optional().describe('Rule set of the data contract, sent to the registry unchanged.'),
    compatibility: compatibilityLevel('subject').optional(),
    imports: mapList(importedVersion, 'version')
      .max(100)
      .optional()
      .describe('Versions to register with a given id while the mode is IMPORT.'),
    adoptionPolicy: choice('What to do when the subject exists already and was not registered by this resource.', {
      Adopt: 'the schema is registered as another version',
      AdoptIfIdentical:
        'it is adopted if it has a version with this schema; otherwise the resource reports AdoptionRefused',
      Never: 'it is not changed, and the resource reports AlreadyExists',
    }).default('Adopt'),
    driftPolicy: driftPolicy(
      'What to do when another client changed the compatibility level or deleted the version. Versions are never deleted.',
    ),
    deletionPolicy: choice('What the deletion of this resource does in the registry.', {
      Retain: 'the subject stays, with all versions',
      SoftDelete: 'all versions are marked as deleted; consumers can still read them by id',
      HardDelete:
        'all versions are deleted permanently, and data that was written with them can no longer be read; requires the verb harddelete',
    }).default('Retain'),
    suspend: suspend('registry'),
  }),
  [
    {
      cel: '!(has(self.schema) && has(self.schemaFrom))',
      message: 'schema and schemaFrom must not both be set',
      isValid: ({ schema, schemaFrom: from }) => schema === undefined || from === undefined,
    },
    {
      cel: 'has(self.schema) || has(self.schemaFrom) || has(self.compatibility) || has(self.imports)',
      message: 'one of schema, schemaFrom, compatibility and imports must be set',
      isValid: (spec) => [spec.schema, spec.schemaFrom, spec.compatibility, spec.imports].some((v) => v !== undefined),
    },
    {
      cel: '!has(self.references) || has(self.schema) || has(self.schemaFrom)',
      message: 'references need schema or schemaFrom',
      isValid: ({ references, schema, schemaFrom: from }) =>
        references === undefined || schema !== undefined || from !== undefined,
    },
  ],
)

export type SubjectSpec = z.output<typeof subjectSpec>

/** A validation that needs more than `spec`. */
export const subjectRule = {
  cel: '!has(self.spec.references) || self.spec.references.all(r, !has(r.subjectRef) || r.subjectRef.name != self.metadata.name)',
  field: 'references',
  message: 'a Subject must not reference itself',
  isValid: (name: string, { references = [] }: SubjectSpec) =>
    references.every(({ subjectRef }) => subjectRef?.name !== name),
} as const

const resolvedReference = z.object({
  name: referenceName(),
  subject: z.string().describe('Name of the referenced subject.'),
  version: countField('Version of the referenced subject.'),
})

/** Observed state of one subject. */
export const subjectStatus = z.object({
  ...commonStatus,
  subject: z.string().optional().describe('Name of the subject in the registry.'),
  registry: z.string().optional().describe('Registry of the subject.'),
  id: int32().optional().describe('Id of the declared schema.'),
  version: int32().optional().describe('Version under which the declared schema is registered.'),
  latestVersion: int32().optional().describe('Latest version of the subject.'),
  versions: atomicList(int32())
    .max(1_000)
    .readonly()
    .optional()
    .describe('Versions of the subject, ascending; the last 1000.'),
  resolvedReferences: mapList(resolvedReference, 'name')
    .max(100)
    .readonly()
    .optional()
    .describe('References of the registered schema.'),
  compatibility: z.string().optional().describe('Effective compatibility level.'),
  appliedCompatibility: ownRecord(
    z
      .string()
      .optional()
      .describe('Compatibility level that this resource set. It is removed when spec.compatibility is removed.'),
  ),
  imported: int32().optional().describe('Number of spec.imports that are registered.'),
  lastRegisteredTime: time().optional().describe('When a version was last registered.'),
  adopted: z.boolean().optional().describe('true: the subject existed before this resource.'),
})
export type SubjectStatus = z.output<typeof subjectStatus>
