import { COMPATIBILITY_LEVELS, MODES } from '../../clients/registry.ts'
import { DEK_ALGORITHMS } from '../../encryption/dek-cipher.ts'
import { entity, integer, type JsonSchema, list, mapOf, orNull, text } from '../../http/openapi.ts'
import { SCHEMA_TYPES } from '../model/schema-types.ts'

const flag: JsonSchema = { type: 'boolean' }

/** What is answered has these members and no others; what is empty is left out. */
export function answer(members: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  return { type: 'object', properties: members, required, additionalProperties: false }
}

/** What is sent may have other members; they are ignored. */
function sent(members: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, required.includes(name) ? schema : orNull(schema)]),
  )
  return { type: 'object', properties, required }
}

const id = { ...integer, description: 'The same content has the same id everywhere in a context.' }
const version = { ...integer, minimum: 1 }
const schemaType = { enum: SCHEMA_TYPES, description: 'Absent: AVRO.' }
const content = {
  schemaType,
  references: list(entity('SchemaReference')),
  metadata: entity('Metadata'),
  ruleSet: entity('RuleSet'),
}
const place = { subject: text, version }
const stamps = {
  guid: { ...text, description: 'Names the content, everywhere.' },
  ts: { ...integer, description: 'When it was written, in ms since 1970.' },
  deleted: { ...flag, description: 'True of a soft-deleted version only.' },
  schemaTags: list(entity('SchemaTags')),
}
const schema = { ...place, id, ...content, schema: text, ...stamps }
const config = {
  alias: text,
  aliasForDeks: text,
  normalize: flag,
  validateFields: flag,
  validateNewSchemas: flag,
  validateRules: flag,
  compatibilityPolicy: {
    enum: ['STRICT', 'LENIENT', 'LOGICAL'],
    description: 'LENIENT: of JSON Schema only. LOGICAL: kept, and checked as STRICT.',
  },
  compatibilityGroup: text,
  defaultMetadata: entity('Metadata'),
  overrideMetadata: entity('Metadata'),
  defaultRuleSet: entity('RuleSet'),
  overrideRuleSet: entity('RuleSet'),
}
const rules = list(entity('Rule'))
const tags = list(entity('SchemaTags'))

const kek = {
  name: { ...text, description: 'Begins with a letter or _; then letters, digits, _ and -.' },
  kmsType: { ...text, description: 'aws-kms, azure-kms, gcp-kms, hcvault, local-kms …' },
  kmsKeyId: { ...text, description: 'Names the key in the KMS.' },
  kmsProps: mapOf(text),
  doc: text,
  shared: { ...flag, description: 'The registry itself may use the KMS.' },
}
const algorithm = { enum: DEK_ALGORITHMS, description: 'Absent: AES256_GCM.' }
const encryptedKeyMaterial = { ...text, description: 'The key in base64, encrypted by its KEK.' }

/** Everything that bodies consist of. */
export const ENTITIES: Readonly<Record<string, JsonSchema>> = {
  SchemaReference: {
    type: 'object',
    properties: { name: text, subject: text, version: { ...integer, minimum: -1, description: '-1: the latest.' } },
    required: ['name', 'subject'],
    additionalProperties: false,
  },
  Metadata: answer({ tags: mapOf(list(text)), properties: mapOf(text), sensitive: list(text) }),
  Rule: answer({
    name: text,
    doc: text,
    kind: { enum: ['TRANSFORM', 'CONDITION'] },
    mode: { enum: ['UPGRADE', 'DOWNGRADE', 'UPDOWN', 'WRITE', 'READ', 'WRITEREAD'] },
    type: text,
    tags: list(text),
    params: mapOf(text),
    expr: text,
    onSuccess: text,
    onFailure: text,
    disabled: flag,
  }),
  RuleSet: answer({ migrationRules: rules, domainRules: rules, encodingRules: rules, enableAt: text }),
  NewSchema: sent({
    schema: { ...text, description: 'Empty: that of the latest version.' },
    ...content,
    id: { ...id, description: 'In mode IMPORT only, and there it is needed.' },
    version: integer,
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
          entityPath: { ...text, description: 'ns.Record, ns.Record.field' },
          entityType: { enum: ['sr_record', 'sr_field'] },
        },
        required: ['entityPath', 'entityType'],
      },
      tags: list(text),
    },
    required: ['schemaEntity', 'tags'],
  },
  TagsUpdate: sent({
    newVersion: { ...integer, minimum: 0, description: '0: the next one.' },
    tagsToAdd: tags,
    tagsToRemove: tags,
    metadata: entity('Metadata'),
    ruleSet: entity('RuleSet'),
    rulesToMerge: entity('RuleSet'),
    rulesToRemove: { ...list(text), description: 'Names of rules.' },
  }),
  Schema: answer(schema, ['subject', 'version', 'id', 'schema']),
  ListedSchema: answer({ ...schema, aliases: list(text) }, ['subject', 'version', 'id', 'schema']),
  SchemaById: answer({ ...place, ...content, schema: text, maxId: integer, ...stamps }, ['schema']),
  RegisteredSchema: answer({ id, version, guid: text, ...content, schema: text }, ['id']),
  CompatibilityVerdict: answer({ is_compatible: flag, messages: list(text) }, ['is_compatible']),
  Config: answer({ ...config, compatibilityLevel: { enum: COMPATIBILITY_LEVELS } }),
  ConfigUpdate: sent({ ...config, compatibility: { ...text, description: COMPATIBILITY_LEVELS.join(', ') } }),
  UpdatedConfig: answer({ ...config, compatibility: { enum: COMPATIBILITY_LEVELS } }),
  Mode: answer({ mode: { enum: MODES } }, ['mode']),
  ModeUpdate: {
    type: 'object',
    properties: { mode: orNull({ ...text, description: MODES.join(', ') }) },
    required: ['mode'],
  },
  NewKek: sent({ ...kek, deleted: flag }, ['name', 'kmsType', 'kmsKeyId']),
  KekUpdate: sent({ kmsProps: kek.kmsProps, doc: text, shared: kek.shared }),
  Kek: answer({ ...kek, ts: stamps.ts, deleted: flag }, ['name', 'kmsType', 'kmsKeyId', 'kmsProps', 'shared', 'ts']),
  TestedKek: answer({ ...kek, type: { enum: ['KEK'] }, deleted: flag, offset: integer, ts: stamps.ts }, [
    'name',
    'type',
  ]),
  NewDek: sent({ subject: text, version, algorithm, encryptedKeyMaterial, deleted: flag }),
  Dek: answer(
    {
      kekName: text,
      subject: text,
      version,
      algorithm,
      encryptedKeyMaterial,
      keyMaterial: { ...text, description: 'The key itself in base64, where its KEK is shared.' },
      ts: stamps.ts,
      deleted: flag,
    },
    ['kekName', 'subject', 'version', 'algorithm', 'ts'],
  ),
  Error: {
    type: 'object',
    properties: {
      error_code: { ...integer, description: 'The status, and mostly two more digits that say which.' },
      message: text,
    },
    required: ['error_code', 'message'],
    additionalProperties: false,
  },
}
