import type { ConversionContext, ReadText } from './conversion-context.ts'
import {
  COMPATIBILITY,
  type ConnectorDraft,
  NO_LABELS,
  type Origin,
  type RegistryModeDraft,
  type ResourceDraft,
  SUBJECT_MODES,
  SUBJECT_SCHEMA_TYPES,
  type SubjectDraft,
  subjectModeDraft,
} from './drafts.ts'
import { readReference } from './read-reference.ts'
import { type SourceObject, UnevaluatedExpression } from './source-object.ts'
import { metadataOf, ruleSetOf } from './terraform-data-contract.ts'

/** A resource of Terraform: `resource "TYPE" "NAME" { BODY }`. */
export type TerraformResource = { readonly type: string; readonly name: string; readonly body: SourceObject }

type ResourceConverter = (resource: TerraformResource, context: ConversionContext) => readonly ResourceDraft[]

/** The resources of the provider `confluentinc/confluent` that have a counterpart. */
export const TERRAFORM_CONVERTERS: Readonly<Record<string, ResourceConverter>> = {
  confluent_connector: convertConnector,
  confluent_schema: convertSchema,
  confluent_subject_config: convertSubjectConfig,
  confluent_subject_mode: convertSubjectMode,
  confluent_schema_registry_cluster_mode: convertClusterMode,
  confluent_schema_registry_cluster_config: convertClusterConfig,
}

/** Arguments of Terraform itself, and identifiers that it computes. */
const TERRAFORM_ARGUMENTS = ['depends_on', 'lifecycle', 'provider', 'timeouts', 'id']
const WORKER_ACCESS = ['environment', 'kafka_cluster']
const REGISTRY_ACCESS = ['schema_registry_cluster', 'rest_endpoint', 'credentials']
/** Settings by which a connector of Confluent Cloud authenticates to its Kafka cluster. */
const CLOUD_KEYS = ['kafka.auth.mode', 'kafka.service.account.id', 'kafka.api.key', 'kafka.api.secret']
/** The placeholder for values that Terraform marks as sensitive. Their keys become secrets, so the placeholder is never written. */
const SENSITIVE = 'sensitive'

function convertConnector(
  { name, body }: TerraformResource,
  { isWorkerNamed }: ConversionContext,
): readonly ResourceDraft[] {
  ignoreTerraform(body)
  loseAccess(body, WORKER_ACCESS, 'worker', isWorkerNamed)
  const config = new Map(body.texts('config_nonsensitive'))
  const sensitive = body.object('config_sensitive')
  const secretKeys = new Set(sensitive?.names() ?? [])
  sensitive?.ignore(...secretKeys)
  for (const key of secretKeys) config.set(key, SENSITIVE)
  for (const key of CLOUD_KEYS) {
    if (!config.delete(key)) continue
    const path = secretKeys.has(key) ? 'config_sensitive' : 'config_nonsensitive'
    body.lose([path, key], 'is the login of Confluent Cloud: the worker has its own login to Kafka')
  }
  const className = config.get('connector.class')
  if (className !== undefined && /^[A-Za-z0-9_]+$/.test(className)) {
    const remedy = 'set the class and the keys of the plugin that your worker has'
    body.note(['config_nonsensitive', 'connector.class'], `${className} is a plugin of Confluent Cloud: ${remedy}`)
  }
  if (body.has('offsets')) {
    body.lose(['offsets'], 'is executed by Terraform once: set spec.offsets.operation to alter offsets')
  }
  body.ignore('offsets')
  const connectorName = config.get('name') ?? name
  const draft: ConnectorDraft = {
    kind: 'Connector',
    origin: originOf(body),
    metadata: { name: connectorName, namespace: undefined, labels: NO_LABELS, annotations: NO_LABELS },
    connectorName,
    config,
    secretKeys,
    spec: { state: body.text('status') === 'PAUSED' ? 'Paused' : undefined },
  }
  return [draft]
}

function convertSchema({ body }: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  const subject = readSubject(body, context)
  const schema = schemaOf(body, context)
  body.ignore('recreate_on_update', 'skip_validation_during_plan', 'schema_identifier', 'version')
  if (subject === undefined || schema === undefined) return []
  return [
    {
      ...subject,
      references: body.objects('schema_reference').flatMap((each) => readReference(each, 'subject_name')),
      spec: {
        schemaType: body.choice('format', SUBJECT_SCHEMA_TYPES),
        schema,
        metadata: metadataOf(body),
        ruleSet: ruleSetOf(body),
        ...(body.flag('hard_delete') === true && { deletionPolicy: 'HardDelete' }),
      },
    },
  ]
}

/** `schema` is a text, or the file of a function call: `file("./orders.avsc")`. */
function schemaOf(body: SourceObject, context: ConversionContext): string | undefined {
  const value = body.value('schema')
  const path = value instanceof UnevaluatedExpression ? fileOf(value) : undefined
  if (path === undefined) return body.requiredText('schema')
  const read: ReadText = context.readFile(body.document.file, path)
  if ('text' in read) return read.text
  body.fail(['schema'], `${path} ${read.problem}: convert the output of terraform show -json, which has the text`)
  return undefined
}

const FILE_CALL = /^file\(\s*"(?:\$\{path\.(?:module|root)\}\/)?([^"$%\\]+)"\s*\)$/

function fileOf({ text }: UnevaluatedExpression): string | undefined {
  return FILE_CALL.exec(text)?.[1]
}

function convertSubjectConfig({ body }: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  const subject = readSubject(body, context)
  const compatibility = body.choice('compatibility_level', COMPATIBILITY)
  const normalize = body.flag('normalize')
  body.loseIfPresent('compatibility_group', 'is not managed by Subjects: set it with PUT /config/SUBJECT')
  body.loseIfPresent('alias', 'is not managed by Subjects: set it with PUT /config/SUBJECT')
  if (subject === undefined || (compatibility === undefined && normalize === undefined)) return []
  return [{ ...subject, spec: { compatibility, normalize } }]
}

function convertSubjectMode({ body }: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  const subject = readSubject(body, context)
  const mode = body.choice('mode', SUBJECT_MODES)
  const force = body.flag('force') === true
  return subject === undefined || mode === undefined ? [] : [subjectModeDraft(subject, mode, force)]
}

function convertClusterMode({ name, body }: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  ignoreTerraform(body)
  loseAccess(body, REGISTRY_ACCESS, 'registry', context.isRegistryNamed)
  const mode = body.choice('mode', SUBJECT_MODES)
  const force = body.flag('force') === true
  return mode === undefined ? [] : [registryMode(name, body, { mode, ...(force && { force }) })]
}

/** Weir declares the level of a registry in the same resource as its mode. */
function convertClusterConfig({ name, body }: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  ignoreTerraform(body)
  loseAccess(body, REGISTRY_ACCESS, 'registry', context.isRegistryNamed)
  body.loseIfPresent('compatibility_group', 'is not managed by RegistryModes: set it with PUT /config')
  body.loseIfPresent('normalize', 'is not managed by RegistryModes: set spec.normalize in the Subjects')
  const compatibility = body.choice('compatibility_level', COMPATIBILITY)
  if (compatibility === undefined) return []
  body.note([], 'becomes a RegistryMode without a mode: merge it if the input declares the mode of the registry too')
  return [registryMode(name, body, { compatibility })]
}

function registryMode(name: string, body: SourceObject, spec: RegistryModeDraft['spec']): RegistryModeDraft {
  const metadata = { name, namespace: undefined, labels: NO_LABELS, annotations: NO_LABELS }
  return { kind: 'RegistryMode', origin: originOf(body), metadata, spec }
}

/** The subject of a resource, without a spec. */
function readSubject(body: SourceObject, { isRegistryNamed }: ConversionContext): SubjectDraft | undefined {
  ignoreTerraform(body)
  loseAccess(body, REGISTRY_ACCESS, 'registry', isRegistryNamed)
  const subject = body.requiredText('subject_name')
  if (subject === undefined) return undefined
  const metadata = { name: subject, namespace: undefined, labels: NO_LABELS, annotations: NO_LABELS }
  return { kind: 'Subject', origin: originOf(body), metadata, subject, references: [], spec: {} }
}

function ignoreTerraform(body: SourceObject): void {
  body.ignore(...TERRAFORM_ARGUMENTS)
  for (const repetition of ['count', 'for_each']) {
    body.loseIfPresent(repetition, 'is evaluated by Terraform: convert the output of terraform show -json')
  }
}

function loseAccess(body: SourceObject, fields: readonly string[], runtime: string, isNamed: boolean): void {
  if (isNamed) body.ignore(...fields)
  for (const field of isNamed ? [] : fields) {
    body.loseIfPresent(field, `identifies a cluster of Confluent Cloud: name the ${runtime} with --${runtime} NAME`)
  }
}

function originOf({ document, path }: SourceObject): Origin {
  return { document, path }
}
