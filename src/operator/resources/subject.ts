import { z } from 'zod'
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
  subjectNameField,
  suspend,
  time,
  withRules,
} from './fields.ts'
import { commonStatus, countField } from './status.ts'

const schemaType = () =>
  choice('Format of the schema.', {
    AVRO: 'Apache Avro',
    JSON: 'JSON Schema',
    PROTOBUF: 'Protocol Buffers',
  }).default('AVRO')
const schemaText = (min = 0) => boundedText(min, 524_288).describe('Text of the schema, as it is registered.')
const schemaFrom = () =>
  z
    .strictObject({ configMapKeyRef: keyRef('ConfigMap in this namespace').describe('Where the text is.') })
    .describe('Text of the schema in a ConfigMap.')
const version = () => int32().min(1)
const referenceName = () =>
  boundedText(1, 512).describe(
    'Name that the schema uses: full name in Avro, $ref in JSON Schema, import path in Protobuf.',
  )
export const compatibilityLevel = (of: string) =>
  choice(`Compatibility level of the ${of}; absent: it is left as it is.`, {
    NONE: 'not checked',
    BACKWARD: 'the new schema reads data of the latest version',
    BACKWARD_TRANSITIVE: 'it reads data of all versions',
    FORWARD: 'the latest version reads data of the new schema',
    FORWARD_TRANSITIVE: 'all versions read it',
    FULL: 'both directions with the latest version',
    FULL_TRANSITIVE: 'both directions with all versions',
  })

const reference = withRules(
  z.strictObject({
    name: referenceName(),
    subjectRef: nameRef('Subject in this namespace')
      .optional()
      .describe('Another Subject of this namespace; it is registered first.'),
    subject: subjectNameField().optional().describe('A subject of the registry that nobody declares here.'),
    version: version().optional().describe('Version of it; with subjectRef it pins one, absent: the newest declared.'),
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
  subject: subjectNameField().describe('Subject it is registered under.'),
  version: version().describe('Version of that subject.'),
})

const importedVersion = withRules(
  z.strictObject({
    version: version().describe('Version to register it as.'),
    id: int32().min(1).describe('Id to register it with.'),
    schemaType: schemaType(),
    schema: schemaText().optional(),
    schemaFrom: schemaFrom().optional(),
    references: atomicList(importedReference).max(50).optional().describe('Schemas that this one uses.'),
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
    registryRef: clusterRef('registry').describe('Which registry holds it. Can not be changed.'),
    subject: subjectNameField()
      .optional()
      .describe(
        'Name in the registry, with its context if it has one; absent: metadata.name. Example: :.ctx:orders-value.',
      ),
    schemaType: schemaType(),
    schema: schemaText(1).optional(),
    schemaFrom: schemaFrom().optional(),
    references: mapList(reference, 'name').max(100).optional().describe('Schemas that this one uses.'),
    normalize: z.boolean().default(false).describe('true: registered and compared in normal form.'),
    metadata: freeObject().optional().describe('Metadata of the data contract, passed through.'),
    ruleSet: freeObject().optional().describe('Rules of the data contract, passed through.'),
    compatibility: compatibilityLevel('subject').optional(),
    imports: mapList(importedVersion, 'version')
      .max(100)
      .optional()
      .describe('Versions to register with a fixed id while the mode is IMPORT.'),
    adoptionPolicy: choice('What to do when the subject exists already and was not registered by this object.', {
      Adopt: 'the schema is registered as a further version',
      AdoptIfIdentical: 'it is taken over when it has a version with this schema, else AdoptionRefused',
      Never: 'it is left alone, and the resource reports AlreadyExists',
    }).default('Adopt'),
    driftPolicy: driftPolicy('What to do when the level or the registration is lost; versions are never deleted.'),
    deletionPolicy: choice('What the deletion of this object does in the registry.', {
      Retain: 'the subject stays with all of its versions',
      SoftDelete: 'all versions are marked as deleted; consumers still find them by id',
      HardDelete:
        'all versions are deleted for good: data written with them can no longer be read; needs the verb harddelete',
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
  subject: z.string().describe('Subject it was found under.'),
  version: countField('Version of that subject.'),
})

/** Observed state of one subject. */
export const subjectStatus = z.object({
  ...commonStatus,
  subject: z.string().optional().describe('Name in the registry.'),
  registry: z.string().optional().describe('Registry it is in.'),
  id: int32().optional().describe('Id of the declared schema.'),
  version: int32().optional().describe('Version under which the declared schema is registered.'),
  latestVersion: int32().optional().describe('Newest version of the subject.'),
  versions: atomicList(int32()).max(1_000).readonly().optional().describe('All versions of the subject.'),
  resolvedReferences: mapList(resolvedReference, 'name')
    .max(100)
    .readonly()
    .optional()
    .describe('Which versions the references mean.'),
  compatibility: z.string().optional().describe('Level in force.'),
  appliedCompatibility: z.string().optional().describe('Level that was written here; it is taken back with the field.'),
  imported: int32().optional().describe('How many of spec.imports are there.'),
  lastRegisteredTime: time().optional().describe('When a version was last registered.'),
  adopted: z.boolean().optional().describe('true: the subject was there before this object.'),
})
export type SubjectStatus = z.output<typeof subjectStatus>
