import { z } from 'zod'
import type { Condition } from './condition.ts'
import { clusterRef, freeObject, int32, keyRef, nameRef, subjectName, withRules } from './fields.ts'

const schemaType = () => z.enum(['AVRO', 'JSON', 'PROTOBUF']).default('AVRO')
const schemaText = () => z.string().max(524_288)
const schemaFrom = () => z.strictObject({ configMapKeyRef: keyRef() })
const version = () => int32().min(1)
const referenceName = () =>
  z.string().min(1).max(512).describe('Name used inside the schema: full Avro name, JSON $ref, Protobuf import path.')
export const compatibilityLevel = () =>
  z.enum(['NONE', 'BACKWARD', 'BACKWARD_TRANSITIVE', 'FORWARD', 'FORWARD_TRANSITIVE', 'FULL', 'FULL_TRANSITIVE'])

const reference = withRules(
  z.strictObject({
    name: referenceName(),
    subjectRef: nameRef().optional().describe('Another Subject object in this namespace.'),
    subject: subjectName().optional().describe('Subject in the registry.'),
    version: version().optional().describe('Version in the registry; with subjectRef it pins one.'),
  }),
  [
    {
      cel: 'has(self.subjectRef) != has(self.subject)',
      message: 'exactly one of subjectRef and subject must be set',
      holds: ({ subjectRef, subject }) => (subjectRef === undefined) !== (subject === undefined),
    },
    {
      cel: '!has(self.subject) || has(self.version)',
      message: 'version is required with subject',
      holds: (value) => value.subject === undefined || value.version !== undefined,
    },
  ],
)

const importedVersion = withRules(
  z.strictObject({
    version: version(),
    id: int32().min(1),
    schemaType: schemaType(),
    schema: schemaText().optional(),
    schemaFrom: schemaFrom().optional(),
    references: z
      .array(z.strictObject({ name: referenceName(), subject: subjectName(), version: version() }))
      .max(50)
      .optional(),
  }),
  [
    {
      cel: 'has(self.schema) != has(self.schemaFrom)',
      message: 'exactly one of schema and schemaFrom must be set',
      holds: ({ schema, schemaFrom: from }) => (schema === undefined) !== (from === undefined),
    },
  ],
)

/** Desired state of one subject. */
export const subjectSpec = withRules(
  z.strictObject({
    registryRef: clusterRef().describe('Registry, by its name in the operator configuration.'),
    subject: subjectName()
      .optional()
      .describe('Subject name, may be context-qualified (:.ctx:name); metadata.name when absent.'),
    schemaType: schemaType(),
    schema: schemaText().min(1).optional().describe('Schema text.'),
    schemaFrom: schemaFrom().optional().describe('Schema text held in a ConfigMap.'),
    references: z.array(reference).max(100).optional(),
    normalize: z.boolean().default(false).describe('Register and compare with normalize=true.'),
    metadata: freeObject().optional().describe('Data-contract metadata, passed through.'),
    ruleSet: freeObject().optional().describe('Data-contract rules, passed through.'),
    compatibility: compatibilityLevel().optional().describe('Subject-level compatibility; absent means not managed.'),
    imports: z
      .array(importedVersion)
      .max(100)
      .optional()
      .describe('Versions to register with a fixed id while the mode is IMPORT.'),
    adoptionPolicy: z.enum(['Adopt', 'AdoptIfIdentical', 'Never']).default('Adopt'),
    driftPolicy: z.enum(['Correct', 'Report']).default('Correct'),
    deletionPolicy: z.enum(['Retain', 'SoftDelete', 'HardDelete']).default('Retain'),
    suspend: z.boolean().default(false),
  }),
  [
    {
      cel: '!(has(self.schema) && has(self.schemaFrom))',
      message: 'schema and schemaFrom must not both be set',
      holds: ({ schema, schemaFrom: from }) => schema === undefined || from === undefined,
    },
    {
      cel: 'has(self.schema) || has(self.schemaFrom) || has(self.compatibility) || has(self.imports)',
      message: 'one of schema, schemaFrom, compatibility and imports must be set',
      holds: (spec) => [spec.schema, spec.schemaFrom, spec.compatibility, spec.imports].some((v) => v !== undefined),
    },
    {
      cel: '!has(self.references) || has(self.schema) || has(self.schemaFrom)',
      message: 'references need schema or schemaFrom',
      holds: ({ references, schema, schemaFrom: from }) =>
        references === undefined || schema !== undefined || from !== undefined,
    },
  ],
)

export type SubjectSpec = z.output<typeof subjectSpec>

export type SubjectStatus = {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
  readonly subject?: string
  readonly registry?: string
  /** Global id of the desired schema. */
  readonly id?: number
  /** Version under which the desired schema is registered. */
  readonly version?: number
  readonly latestVersion?: number
  readonly versions?: readonly number[]
  readonly resolvedReferences?: readonly { readonly name: string; readonly subject: string; readonly version: number }[]
  /** Effective level. */
  readonly compatibility?: string
  /** Level this operator wrote; lets removal of the field revert it. */
  readonly appliedCompatibility?: string
  /** How many of `spec.imports` are there. */
  readonly imported?: number
  readonly lastRegisteredTime?: string
  readonly adopted?: boolean
  readonly lastHandledReconcile?: string
}
