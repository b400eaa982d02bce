import { COMPATIBILITY_LEVELS, REGISTRY_MODES } from '../../clients/registry-client.ts'
import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import {
  arrayOf,
  integerSchema,
  type JsonSchema,
  mapOf,
  nullable,
  schemaRef,
  stringSchema,
} from '../../http/openapi-document.ts'

const flag: JsonSchema = { type: 'boolean' }

/** A response object. It has no other members; members without a value are omitted. */
export function responseSchema(
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: 'object', properties: members, required, additionalProperties: false }
}

/** A request object. Unknown members are ignored; optional members may be null. */
function requestSchema(members: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, required.includes(name) ? schema : nullable(schema)]),
  )
  return { type: 'object', properties, required }
}

const id = { ...integerSchema, description: 'The schema ID. In a context, identical contents have the same ID.' }
const version = { ...integerSchema, minimum: 1 }
const schemaType = { enum: SCHEMA_TYPES, description: 'Default: AVRO.' }
const content = {
  schemaType,
  references: arrayOf(schemaRef('SchemaReference')),
  metadata: schemaRef('Metadata'),
  ruleSet: schemaRef('RuleSet'),
}
const place = { subject: stringSchema, version }
const stamps = {
  guid: { ...stringSchema, description: 'Identifies the content in all contexts and registries.' },
  ts: { ...integerSchema, description: 'The time of the record, in ms since 1970.' },
  deleted: { ...flag, description: 'Present and true if the version is soft-deleted.' },
  schemaTags: arrayOf(schemaRef('SchemaTags')),
}
const schema = { ...place, id, ...content, schema: stringSchema, ...stamps }
const config = {
  alias: stringSchema,
  aliasForDeks: stringSchema,
  normalize: flag,
  validateFields: flag,
  validateNewSchemas: flag,
  validateRules: flag,
  compatibilityPolicy: {
    enum: ['STRICT', 'LENIENT', 'LOGICAL'],
    description: 'LENIENT applies to JSON Schema only. LOGICAL is stored, but checked like STRICT.',
  },
  compatibilityGroup: stringSchema,
  defaultMetadata: schemaRef('Metadata'),
  overrideMetadata: schemaRef('Metadata'),
  defaultRuleSet: schemaRef('RuleSet'),
  overrideRuleSet: schemaRef('RuleSet'),
}
const rules = arrayOf(schemaRef('Rule'))
const tags = arrayOf(schemaRef('SchemaTags'))

const kek = {
  name: { ...stringSchema, description: 'A letter or _, followed by letters, digits, _ and -.' },
  kmsType: {
    ...stringSchema,
    description: 'The type of the KMS: aws-kms, azure-kms, gcp-kms, hcvault, local-kms or another one.',
  },
  kmsKeyId: { ...stringSchema, description: 'The ID of the key in the KMS.' },
  kmsProps: mapOf(stringSchema),
  doc: stringSchema,
  shared: { ...flag, description: 'Whether the registry itself may use the KMS to generate and decrypt DEKs.' },
}
const algorithm = { enum: DEK_ALGORITHMS, description: 'Default: AES256_GCM.' }
const encryptedKeyMaterial = { ...stringSchema, description: 'The key encrypted by its KEK, in base64.' }

const resource = {
  resourceName: stringSchema,
  resourceNamespace: stringSchema,
  resourceId: stringSchema,
  resourceType: { const: 'topic' },
}
const lifecycle = {
  enum: ['STRONG', 'WEAK'],
  description: 'STRONG: the resource owns the subject. WEAK: resources can share the subject.',
}
const change = {
  subject: stringSchema,
  associationType: { enum: ['key', 'value'] },
  lifecycle,
  frozen: flag,
  schema: schemaRef('NewSchema'),
  normalize: flag,
}

/** The schemas of request and response bodies. */
export const ENTITIES: Readonly<Record<string, JsonSchema>> = {
  SchemaReference: {
    type: 'object',
    properties: {
      name: stringSchema,
      subject: stringSchema,
      version: { ...integerSchema, minimum: -1, description: '-1 is the latest version.' },
    },
    required: ['name', 'subject'],
    additionalProperties: false,
  },
  Metadata: responseSchema({
    tags: mapOf(arrayOf(stringSchema)),
    properties: mapOf(stringSchema),
    sensitive: arrayOf(stringSchema),
  }),
  Rule: responseSchema({
    name: stringSchema,
    doc: stringSchema,
    kind: { enum: ['TRANSFORM', 'CONDITION'] },
    mode: { enum: ['UPGRADE', 'DOWNGRADE', 'UPDOWN', 'WRITE', 'READ', 'WRITEREAD'] },
    type: stringSchema,
    tags: arrayOf(stringSchema),
    params: mapOf(stringSchema),
    expr: stringSchema,
    onSuccess: stringSchema,
    onFailure: stringSchema,
    disabled: flag,
  }),
  RuleSet: responseSchema({ migrationRules: rules, domainRules: rules, encodingRules: rules, enableAt: stringSchema }),
  NewSchema: requestSchema({
    schema: { ...stringSchema, description: 'If it is empty, the schema of the latest version is used.' },
    ...content,
    id: { ...id, description: 'Required in mode IMPORT, and rejected in other modes.' },
    version: integerSchema,
    schemaTagsToAdd: tags,
    schemaTagsToRemove: tags,
    propagateSchemaTags: { ...flag, description: 'Copies the tags of the previous version.' },
  }),
  SchemaTags: {
    type: 'object',
    properties: {
      schemaEntity: {
        type: 'object',
        properties: {
          entityPath: {
            ...stringSchema,
            description: 'The full name of a record or of a field, such as ns.Record or ns.Record.field.',
          },
          entityType: { enum: ['sr_record', 'sr_field'] },
        },
        required: ['entityPath', 'entityType'],
      },
      tags: arrayOf(stringSchema),
    },
    required: ['schemaEntity', 'tags'],
  },
  TagsUpdate: requestSchema({
    newVersion: { ...integerSchema, minimum: 0, description: '0 is the next version.' },
    tagsToAdd: tags,
    tagsToRemove: tags,
    metadata: schemaRef('Metadata'),
    ruleSet: schemaRef('RuleSet'),
    rulesToMerge: schemaRef('RuleSet'),
    rulesToRemove: { ...arrayOf(stringSchema), description: 'The names of the rules to remove.' },
  }),
  Schema: responseSchema(schema, ['subject', 'version', 'id', 'schema']),
  ListedSchema: responseSchema(
    { ...schema, aliases: arrayOf(stringSchema), associations: arrayOf(schemaRef('Association')) },
    ['subject', 'version', 'id', 'schema'],
  ),
  SchemaById: responseSchema({ ...place, ...content, schema: stringSchema, maxId: integerSchema, ...stamps }, [
    'schema',
  ]),
  RegisteredSchema: responseSchema({ id, version, guid: stringSchema, ...content, schema: stringSchema }, ['id']),
  CompatibilityVerdict: responseSchema({ is_compatible: flag, messages: arrayOf(stringSchema) }, ['is_compatible']),
  Config: responseSchema({ ...config, compatibilityLevel: { enum: COMPATIBILITY_LEVELS } }),
  ConfigUpdate: requestSchema({
    ...config,
    compatibility: { ...stringSchema, description: COMPATIBILITY_LEVELS.join(', ') },
  }),
  UpdatedConfig: responseSchema({ ...config, compatibility: { enum: COMPATIBILITY_LEVELS } }),
  Mode: responseSchema({ mode: { enum: REGISTRY_MODES } }, ['mode']),
  ModeUpdate: {
    type: 'object',
    properties: { mode: nullable({ ...stringSchema, description: REGISTRY_MODES.join(', ') }) },
    required: ['mode'],
  },
  NewKek: requestSchema({ ...kek, deleted: flag }, ['name', 'kmsType', 'kmsKeyId']),
  KekUpdate: requestSchema({ kmsProps: kek.kmsProps, doc: stringSchema, shared: kek.shared }),
  Kek: responseSchema({ ...kek, ts: stamps.ts, deleted: flag }, [
    'name',
    'kmsType',
    'kmsKeyId',
    'kmsProps',
    'shared',
    'ts',
  ]),
  TestedKek: responseSchema({ ...kek, type: { enum: ['KEK'] }, deleted: flag, offset: integerSchema, ts: stamps.ts }, [
    'name',
    'type',
  ]),
  NewDek: requestSchema({ subject: stringSchema, version, algorithm, encryptedKeyMaterial, deleted: flag }),
  Dek: responseSchema(
    {
      kekName: stringSchema,
      subject: stringSchema,
      version,
      algorithm,
      encryptedKeyMaterial,
      keyMaterial: { ...stringSchema, description: 'The decrypted key in base64; present if its KEK is shared.' },
      ts: stamps.ts,
      deleted: flag,
    },
    ['kekName', 'subject', 'version', 'algorithm', 'ts'],
  ),
  Association: responseSchema(
    {
      subject: stringSchema,
      guid: stringSchema,
      ...resource,
      associationType: stringSchema,
      lifecycle,
      frozen: flag,
      createTs: integerSchema,
      updateTs: integerSchema,
    },
    ['subject', 'guid', 'resourceName', 'resourceNamespace', 'resourceId', 'resourceType', 'lifecycle'],
  ),
  AssociationRequest: requestSchema({ ...resource, associations: arrayOf(requestSchema(change)) }),
  AssociationSearch: requestSchema({
    requests: arrayOf(requestSchema({ ...resource, associationTypes: arrayOf(stringSchema), lifecycle })),
  }),
  AssociationBatch: requestSchema({
    requests: arrayOf(
      requestSchema({
        ...resource,
        associations: arrayOf(
          requestSchema({ opType: { enum: ['CREATE', 'UPSERT', 'DELETE'] }, ...change, cascadeLifecycle: flag }, [
            'opType',
          ]),
        ),
      }),
    ),
  }),
  ResourceAssociations: responseSchema({
    ...resource,
    associations: arrayOf(
      responseSchema({ subject: stringSchema, associationType: stringSchema, lifecycle, schema: schemaRef('Schema') }, [
        'subject',
        'lifecycle',
      ]),
    ),
  }),
  AssociationResults: responseSchema({
    results: arrayOf(responseSchema({ result: schemaRef('ResourceAssociations'), error: schemaRef('Error') })),
  }),
  Error: {
    type: 'object',
    properties: {
      error_code: { ...integerSchema, description: 'The HTTP status, followed by two digits for most errors.' },
      message: stringSchema,
    },
    required: ['error_code', 'message'],
    additionalProperties: false,
  },
}
