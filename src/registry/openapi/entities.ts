import { COMPATIBILITY_LEVELS, REGISTRY_MODES } from '../../clients/registry.ts'
import { DEK_ALGORITHMS } from '../../encryption/dek-cipher.ts'
import {
  arrayOf,
  integerSchema,
  type JsonSchema,
  mapOf,
  nullable,
  schemaRef,
  stringSchema,
} from '../../http/openapi.ts'
import { SCHEMA_TYPES } from '../model/schema-types.ts'

const flag: JsonSchema = { type: 'boolean' }

/** What is answered has these members and no others; what is empty is left out. */
export function answer(members: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  return { type: 'object', properties: members, required, additionalProperties: false }
}

/** What is sent may have other members; they are ignored. */
function sent(members: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, required.includes(name) ? schema : nullable(schema)]),
  )
  return { type: 'object', properties, required }
}

const id = { ...integerSchema, description: 'The same content has the same id everywhere in a context.' }
const version = { ...integerSchema, minimum: 1 }
const schemaType = { enum: SCHEMA_TYPES, description: 'Absent: AVRO.' }
const content = {
  schemaType,
  references: arrayOf(schemaRef('SchemaReference')),
  metadata: schemaRef('Metadata'),
  ruleSet: schemaRef('RuleSet'),
}
const place = { subject: stringSchema, version }
const stamps = {
  guid: { ...stringSchema, description: 'Names the content, everywhere.' },
  ts: { ...integerSchema, description: 'When it was written, in ms since 1970.' },
  deleted: { ...flag, description: 'True of a soft-deleted version only.' },
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
    description: 'LENIENT: of JSON Schema only. LOGICAL: kept, and checked as STRICT.',
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
  name: { ...stringSchema, description: 'Begins with a letter or _; then letters, digits, _ and -.' },
  kmsType: { ...stringSchema, description: 'aws-kms, azure-kms, gcp-kms, hcvault, local-kms …' },
  kmsKeyId: { ...stringSchema, description: 'Names the key in the KMS.' },
  kmsProps: mapOf(stringSchema),
  doc: stringSchema,
  shared: { ...flag, description: 'The registry itself may use the KMS.' },
}
const algorithm = { enum: DEK_ALGORITHMS, description: 'Absent: AES256_GCM.' }
const encryptedKeyMaterial = { ...stringSchema, description: 'The key in base64, encrypted by its KEK.' }

const resource = {
  resourceName: stringSchema,
  resourceNamespace: stringSchema,
  resourceId: stringSchema,
  resourceType: { const: 'topic' },
}
const lifecycle = { enum: ['STRONG', 'WEAK'], description: 'STRONG: the subject belongs to the resource.' }
const change = {
  subject: stringSchema,
  associationType: { enum: ['key', 'value'] },
  lifecycle,
  frozen: flag,
  schema: schemaRef('NewSchema'),
  normalize: flag,
}

/** Everything that bodies consist of. */
export const ENTITIES: Readonly<Record<string, JsonSchema>> = {
  SchemaReference: {
    type: 'object',
    properties: {
      name: stringSchema,
      subject: stringSchema,
      version: { ...integerSchema, minimum: -1, description: '-1: the latest.' },
    },
    required: ['name', 'subject'],
    additionalProperties: false,
  },
  Metadata: answer({
    tags: mapOf(arrayOf(stringSchema)),
    properties: mapOf(stringSchema),
    sensitive: arrayOf(stringSchema),
  }),
  Rule: answer({
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
  RuleSet: answer({ migrationRules: rules, domainRules: rules, encodingRules: rules, enableAt: stringSchema }),
  NewSchema: sent({
    schema: { ...stringSchema, description: 'Empty: that of the latest version.' },
    ...content,
    id: { ...id, description: 'In mode IMPORT only, and there it is needed.' },
    version: integerSchema,
    schemaTagsToAdd: tags,
    schemaTagsToRemove: tags,
    propagateSchemaTags: { ...flag, description: 'Takes over the tags of the version before.' },
  }),
  SchemaTags: {
    type: 'object',
    properties: {
      schemaEntity: {
        type: 'object',
        properties: {
          entityPath: { ...stringSchema, description: 'ns.Record, ns.Record.field' },
          entityType: { enum: ['sr_record', 'sr_field'] },
        },
        required: ['entityPath', 'entityType'],
      },
      tags: arrayOf(stringSchema),
    },
    required: ['schemaEntity', 'tags'],
  },
  TagsUpdate: sent({
    newVersion: { ...integerSchema, minimum: 0, description: '0: the next one.' },
    tagsToAdd: tags,
    tagsToRemove: tags,
    metadata: schemaRef('Metadata'),
    ruleSet: schemaRef('RuleSet'),
    rulesToMerge: schemaRef('RuleSet'),
    rulesToRemove: { ...arrayOf(stringSchema), description: 'Names of rules.' },
  }),
  Schema: answer(schema, ['subject', 'version', 'id', 'schema']),
  ListedSchema: answer({ ...schema, aliases: arrayOf(stringSchema), associations: arrayOf(schemaRef('Association')) }, [
    'subject',
    'version',
    'id',
    'schema',
  ]),
  SchemaById: answer({ ...place, ...content, schema: stringSchema, maxId: integerSchema, ...stamps }, ['schema']),
  RegisteredSchema: answer({ id, version, guid: stringSchema, ...content, schema: stringSchema }, ['id']),
  CompatibilityVerdict: answer({ is_compatible: flag, messages: arrayOf(stringSchema) }, ['is_compatible']),
  Config: answer({ ...config, compatibilityLevel: { enum: COMPATIBILITY_LEVELS } }),
  ConfigUpdate: sent({ ...config, compatibility: { ...stringSchema, description: COMPATIBILITY_LEVELS.join(', ') } }),
  UpdatedConfig: answer({ ...config, compatibility: { enum: COMPATIBILITY_LEVELS } }),
  Mode: answer({ mode: { enum: REGISTRY_MODES } }, ['mode']),
  ModeUpdate: {
    type: 'object',
    properties: { mode: nullable({ ...stringSchema, description: REGISTRY_MODES.join(', ') }) },
    required: ['mode'],
  },
  NewKek: sent({ ...kek, deleted: flag }, ['name', 'kmsType', 'kmsKeyId']),
  KekUpdate: sent({ kmsProps: kek.kmsProps, doc: stringSchema, shared: kek.shared }),
  Kek: answer({ ...kek, ts: stamps.ts, deleted: flag }, ['name', 'kmsType', 'kmsKeyId', 'kmsProps', 'shared', 'ts']),
  TestedKek: answer({ ...kek, type: { enum: ['KEK'] }, deleted: flag, offset: integerSchema, ts: stamps.ts }, [
    'name',
    'type',
  ]),
  NewDek: sent({ subject: stringSchema, version, algorithm, encryptedKeyMaterial, deleted: flag }),
  Dek: answer(
    {
      kekName: stringSchema,
      subject: stringSchema,
      version,
      algorithm,
      encryptedKeyMaterial,
      keyMaterial: { ...stringSchema, description: 'The key itself in base64, where its KEK is shared.' },
      ts: stamps.ts,
      deleted: flag,
    },
    ['kekName', 'subject', 'version', 'algorithm', 'ts'],
  ),
  Association: answer(
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
  AssociationRequest: sent({ ...resource, associations: arrayOf(sent(change)) }),
  AssociationSearch: sent({
    requests: arrayOf(sent({ ...resource, associationTypes: arrayOf(stringSchema), lifecycle })),
  }),
  AssociationBatch: sent({
    requests: arrayOf(
      sent({
        ...resource,
        associations: arrayOf(
          sent({ opType: { enum: ['CREATE', 'UPSERT', 'DELETE'] }, ...change, cascadeLifecycle: flag }, ['opType']),
        ),
      }),
    ),
  }),
  ResourceAssociations: answer({
    ...resource,
    associations: arrayOf(
      answer({ subject: stringSchema, associationType: stringSchema, lifecycle, schema: schemaRef('Schema') }, [
        'subject',
        'lifecycle',
      ]),
    ),
  }),
  AssociationResults: answer({
    results: arrayOf(answer({ result: schemaRef('ResourceAssociations'), error: schemaRef('Error') })),
  }),
  Error: {
    type: 'object',
    properties: {
      error_code: { ...integerSchema, description: 'The status, and mostly two more digits that say which.' },
      message: stringSchema,
    },
    required: ['error_code', 'message'],
    additionalProperties: false,
  },
}
