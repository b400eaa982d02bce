import { z } from 'zod'
import { COMPATIBILITY_LEVELS, REGISTRY_MODES } from '../../clients/registry-client.ts'
import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import { LIFECYCLES } from '../model/association.ts'

// The bodies of responses, named like Confluent's entities. Members without a value are omitted.

const schemaType = z.enum(SCHEMA_TYPES).describe('Default: AVRO.')
export const schemaReference = z
  .object({
    name: z.string(),
    subject: z.string(),
    version: z.number().int().min(-1).describe('-1 is the latest version.').optional(),
  })
  .meta({ id: 'SchemaReference' })
const metadata = z
  .object({
    tags: z.record(z.string(), z.array(z.string())).optional(),
    properties: z.record(z.string(), z.string()).optional(),
    sensitive: z.array(z.string()).optional(),
  })
  .meta({ id: 'Metadata' })
const rule = z
  .object({
    name: z.string().optional(),
    doc: z.string().optional(),
    kind: z
      .string()
      .meta({ enum: ['TRANSFORM', 'CONDITION'] })
      .optional(),
    mode: z
      .string()
      .meta({ enum: ['UPGRADE', 'DOWNGRADE', 'UPDOWN', 'WRITE', 'READ', 'WRITEREAD'] })
      .optional(),
    type: z.string().optional(),
    tags: z.array(z.string()).optional(),
    params: z.record(z.string(), z.string()).optional(),
    expr: z.string().optional(),
    onSuccess: z.string().optional(),
    onFailure: z.string().optional(),
    disabled: z.boolean().optional(),
  })
  .meta({ id: 'Rule' })
const ruleSet = z
  .object({
    migrationRules: z.array(rule).optional(),
    domainRules: z.array(rule).optional(),
    encodingRules: z.array(rule).optional(),
    enableAt: z.string().optional(),
  })
  .meta({ id: 'RuleSet' })
const schemaTags = z
  .object({
    schemaEntity: z.object({
      entityPath: z.string().describe('The full name of a record or of a field, such as ns.Record or ns.Record.field.'),
      entityType: z.enum(['sr_record', 'sr_field']),
    }),
    tags: z.array(z.string()),
  })
  .meta({ id: 'SchemaTags' })

const id = z.number().int().describe('The schema ID. In a context, identical contents have the same ID.')
const version = z.number().int().min(1)
const guid = z.string().describe('Identifies the content in all contexts and registries.').optional()
const timestamp = z.number().int().describe('The time of the record, in ms since 1970.')
const content = {
  schemaType: schemaType.optional(),
  references: z.array(schemaReference).optional(),
  metadata: metadata.optional(),
  ruleSet: ruleSet.optional(),
}
const stamps = {
  guid,
  ts: timestamp.optional(),
  deleted: z.boolean().describe('Present and true if the version is soft-deleted.').optional(),
  schemaTags: z.array(schemaTags).optional(),
}
const schemaMembers = { subject: z.string(), version, id, ...content, schema: z.string(), ...stamps }

const resource = {
  resourceName: z.string(),
  resourceNamespace: z.string(),
  resourceId: z.string(),
  resourceType: z.string().meta({ enum: ['topic'] }),
}
const lifecycle = z
  .enum(LIFECYCLES)
  .describe('STRONG: the resource owns the subject. WEAK: resources can share the subject.')
export const association = z
  .object({
    subject: z.string(),
    guid: z.string(),
    ...resource,
    associationType: z.string(),
    lifecycle,
    frozen: z.boolean().optional(),
    createTs: z.number().int(),
    updateTs: z.number().int(),
  })
  .meta({ id: 'Association' })

export const schema = z.object(schemaMembers).meta({ id: 'Schema' })
export const listedSchema = z
  .object({
    ...schemaMembers,
    aliases: z.array(z.string()).optional(),
    associations: z.array(association).optional(),
  })
  .meta({ id: 'ListedSchema' })
export const schemaById = z
  .object({
    subject: z.string().optional(),
    version: version.optional(),
    ...content,
    schema: z.string(),
    maxId: z.number().int().optional(),
    ...stamps,
  })
  .meta({ id: 'SchemaById' })
/** The text of a schema is JSON or Protobuf, whatever the media type of the response says. */
export const schemaText = z.unknown().describe('The text of the schema.')
export const registeredSchema = z
  .object({ id, version: version.optional(), guid, ...content, schema: z.string().optional() })
  .meta({ id: 'RegisteredSchema' })
export const compatibilityVerdict = z
  .object({ is_compatible: z.boolean(), messages: z.array(z.string()).optional() })
  .meta({ id: 'CompatibilityVerdict' })

const configMembers = {
  alias: z.string().optional(),
  aliasForDeks: z.string().optional(),
  normalize: z.boolean().optional(),
  validateFields: z.boolean().optional(),
  validateNewSchemas: z.boolean().optional(),
  validateRules: z.boolean().optional(),
  compatibilityPolicy: z
    .enum(['STRICT', 'LENIENT', 'LOGICAL'])
    .describe('LENIENT applies to JSON Schema only. LOGICAL is stored, but checked like STRICT.')
    .optional(),
  compatibilityGroup: z.string().optional(),
  defaultMetadata: metadata.optional(),
  overrideMetadata: metadata.optional(),
  defaultRuleSet: ruleSet.optional(),
  overrideRuleSet: ruleSet.optional(),
}
export const config = z
  .object({ ...configMembers, compatibilityLevel: z.enum(COMPATIBILITY_LEVELS).optional() })
  .meta({ id: 'Config' })
export const updatedConfig = z
  .object({ ...configMembers, compatibility: z.enum(COMPATIBILITY_LEVELS).optional() })
  .meta({ id: 'UpdatedConfig' })
export const mode = z.object({ mode: z.enum(REGISTRY_MODES) }).meta({ id: 'Mode' })

const kekMembers = {
  name: z.string().describe('A letter or _, followed by letters, digits, _ and -.'),
  kmsType: z.string().describe('The type of the KMS: aws-kms, azure-kms, gcp-kms, hcvault, local-kms or another one.'),
  kmsKeyId: z.string().describe('The ID of the key in the KMS.'),
  kmsProps: z.record(z.string(), z.string()),
  doc: z.string().optional(),
  shared: z.boolean().describe('Whether the registry itself may use the KMS to generate and decrypt DEKs.'),
  ts: timestamp,
}
export const kek = z.object({ ...kekMembers, deleted: z.boolean().optional() }).meta({ id: 'Kek' })
export const testedKek = z
  .object({ ...kekMembers, type: z.literal('KEK'), deleted: z.boolean(), offset: z.number().int() })
  .meta({ id: 'TestedKek' })
export const dek = z
  .object({
    kekName: z.string(),
    subject: z.string(),
    version,
    algorithm: z.enum(DEK_ALGORITHMS),
    encryptedKeyMaterial: z.string().describe('The key encrypted by its KEK, in base64.').optional(),
    keyMaterial: z.string().describe('The decrypted key in base64; present if its KEK is shared.').optional(),
    ts: timestamp,
    deleted: z.boolean().optional(),
  })
  .meta({ id: 'Dek' })

export const resourceAssociations = z
  .object({
    resourceName: z.string().optional(),
    resourceNamespace: z.string().optional(),
    resourceId: z.string().optional(),
    resourceType: resource.resourceType,
    associations: z
      .array(
        z.object({
          subject: z.string(),
          associationType: z.string(),
          lifecycle,
          schema: z.union([schema, registeredSchema.extend({ subject: z.string() })]).optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'ResourceAssociations' })
export const registryError = z
  .object({
    error_code: z.number().int().describe('The HTTP status, followed by two digits for most errors.'),
    message: z.string(),
  })
  .meta({ id: 'Error' })
export const associationResults = z
  .object({
    results: z.array(z.object({ result: resourceAssociations.optional(), error: registryError.optional() })),
  })
  .meta({ id: 'AssociationResults' })
