import type { DocumentPath } from '../../common/document-path.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import { convertConfluentConnector, convertConfluentSchema } from './confluent-operator.ts'
import { convertConnectConfig, isConnectConfig } from './connect-config.ts'
import type { ConversionContext, ObjectContext, Source } from './conversion-context.ts'
import type { ConversionReport } from './conversion-report.ts'
import type { ResourceDraft } from './drafts.ts'
import { convertJikkouConnector, convertJikkouSubject } from './jikkou.ts'
import { convertRedpandaSchema } from './redpanda.ts'
import type { SourceDocument } from './source-document.ts'
import { isFields, SourceObject } from './source-object.ts'
import { convertKafkaConnector } from './strimzi.ts'

type Converter = (resource: SourceObject, context: ObjectContext) => readonly ResourceDraft[]
type Api = { readonly system: Source; readonly group: string; readonly kinds: Readonly<Record<string, Converter>> }

const CONFLUENT_KINDS = { Connector: convertConfluentConnector, Schema: convertConfluentSchema }
const APIS: readonly Api[] = [
  { system: 'strimzi', group: 'kafka.strimzi.io', kinds: { KafkaConnector: convertKafkaConnector } },
  { system: 'confluent', group: 'platform.confluent.io', kinds: CONFLUENT_KINDS },
  { system: 'confluent', group: 'apps.cpc.platform.confluent.io', kinds: CONFLUENT_KINDS },
  { system: 'redpanda', group: 'cluster.redpanda.com', kinds: { Schema: convertRedpandaSchema } },
  { system: 'jikkou', group: 'kafka.jikkou.io', kinds: { KafkaConnector: convertJikkouConnector } },
  { system: 'jikkou', group: 'schemaregistry.jikkou.io', kinds: { SchemaRegistrySubject: convertJikkouSubject } },
]

/** Kinds that describe a runtime, which Weir's operator reads from its configuration. */
const RUNTIME_KINDS: Readonly<Record<string, string>> = {
  KafkaConnect: 'declare this worker cluster in the configuration of the operator (operator.workers)',
  Connect: 'declare this worker cluster in the configuration of the operator (operator.workers)',
  SchemaRegistry: 'declare this registry in the configuration of the operator (operator.registries)',
}
/** Kinds that converted resources may refer to and that stay as they are. */
const KEPT_KINDS = ['ConfigMap', 'Secret']

type LocatedObject = { readonly document: SourceDocument; readonly path: DocumentPath; readonly fields: Fields }
type Fields = Readonly<Record<string, unknown>>

/** Converts the objects of YAML and JSON documents: Kubernetes resources, and configurations of Kafka Connect. */
export function convertObjects(
  documents: readonly SourceDocument[],
  options: ConversionContext,
): readonly ResourceDraft[] {
  const { report } = options
  const objects = documents.flatMap((document) => objectsOf(document, report))
  const configMaps = new ConfigMaps(objects)
  const context: ObjectContext = {
    ...options,
    configMapText: (namespace, name, key) => configMaps.text(namespace, name, key),
  }
  const drafts = objects.flatMap((object) => {
    const source = new SourceObject(object.document, object.path, object.fields, report)
    return convertObject(source, object.fields, context)
  })
  for (const { document, path, fields } of objects) {
    if (!isKept(fields) || configMaps.isUsed(fields)) continue
    const { kind, name } = describe(fields)
    report.add('note', document, path, `${kind} ${name} is not converted: keep it as it is`)
  }
  return drafts
}

function convertObject(source: SourceObject, fields: Fields, context: ObjectContext): readonly ResourceDraft[] {
  if (isKept(fields)) return []
  const { apiVersion, kind, name } = describe(fields)
  if (kind === '') return convertUntyped(source, fields, context)
  const group = apiVersion.split('/')[0] ?? ''
  const api = APIS.find((each) => each.group === group && Object.hasOwn(each.kinds, kind))
  if (api === undefined) {
    source.fail(
      ['kind'],
      `${kind} ${name} of ${apiVersion || 'an unknown API'} cannot be converted: ${remedyFor(kind)}`,
    )
    return []
  }
  if (isSkipped(source, api.system, context)) return []
  const drafts = api.kinds[kind]!(source, context)
  if (drafts.length > 0) source.reportUnread()
  return drafts
}

/** Whether `--from` names another system; reports it. */
function isSkipped(source: SourceObject, system: Source, { from }: ConversionContext): boolean {
  if (from === undefined || from === system) return false
  source.note([], `is skipped: it is for ${system}, and --from ${from} was given`)
  return true
}

function convertUntyped(source: SourceObject, fields: Fields, context: ConversionContext): readonly ResourceDraft[] {
  if (isConnectConfig(fields)) {
    if (isSkipped(source, 'connect', context)) return []
    const drafts = convertConnectConfig(source, fileStem(source.document.file))
    source.reportUnread()
    return drafts
  }
  if (Object.hasOwn(fields, 'bootstrap.servers')) {
    source.fail([], 'contains settings of a worker, not of a connector: start it with weir worker --config')
  } else
    source.fail([], 'is neither a Kubernetes resource nor the configuration of a connector: connector.class is missing')
  return []
}

function remedyFor(kind: string): string {
  const runtime = Object.hasOwn(RUNTIME_KINDS, kind) ? RUNTIME_KINDS[kind] : undefined
  if (runtime !== undefined) return runtime
  const meant = didYouMean(kind, [...new Set(APIS.flatMap((api) => Object.keys(api.kinds)))])
  if (meant !== undefined && meant !== kind) return `did you mean ${meant}?`
  return 'it has no counterpart in Weir; weir convert --help lists the kinds that are converted'
}

/** The objects of a document: itself, or the items of a list. */
function objectsOf(document: SourceDocument, report: ConversionReport): readonly LocatedObject[] {
  const { value } = document
  const wrong = (path: DocumentPath) => {
    report.add('failed', document, path, 'is not a resource: expected a map')
    return []
  }
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, at) =>
      isFields(item) ? [{ document, path: [at], fields: writtenFields(document, [at], item) }] : wrong([at]),
    )
  }
  if (!isFields(value)) return wrong([])
  const { apiVersion, kind, items } = value
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    // The items of a typed list of the API server have no kind of their own.
    const inherited = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) }
    return items.flatMap((item: unknown, at) =>
      isFields(item) ? [{ document, path: ['items', at], fields: { ...inherited, ...item } }] : wrong(['items', at]),
    )
  }
  return kind === undefined ? connectorsOf(document, value) : [{ document, path: [], fields: value }]
}

/** The response of `GET /connectors?expand=info&expand=status` has one member for each connector. */
function connectorsOf(document: SourceDocument, value: Fields): readonly LocatedObject[] {
  const members = Object.entries(value)
  const expanded = members.flatMap(([name, member]) => {
    if (!isFields(member) || !isFields(member['info']) || !isConnectConfig(member['info'])) return []
    const { connector } = isFields(member['status']) ? member['status'] : {}
    const state = isFields(connector) ? connector['state'] : undefined
    const initialState = state === 'PAUSED' || state === 'STOPPED' ? { initial_state: state } : {}
    return [{ document, path: [name, 'info'], fields: { ...member['info'], ...initialState } }]
  })
  if (members.length > 0 && expanded.length === members.length) return expanded
  return [{ document, path: [], fields: writtenFields(document, [], value) }]
}

/** Kafka Connect keeps the text of a number in the JSON of a configuration. */
function writtenFields({ writtenValue }: SourceDocument, path: readonly number[], fields: Fields): Fields {
  if (!isConnectConfig(fields) || writtenValue === undefined) return fields
  const [at] = path
  const whole = writtenValue()
  const written = at === undefined ? whole : (whole as readonly unknown[])[at]
  return isFields(written) ? written : fields
}

function isKept({ apiVersion, kind }: Fields): boolean {
  return apiVersion === 'v1' && KEPT_KINDS.includes(String(kind))
}

function describe(fields: Fields): { readonly apiVersion: string; readonly kind: string; readonly name: string } {
  const { apiVersion, kind, metadata } = fields
  const name = isFields(metadata) ? metadata['name'] : undefined
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return { apiVersion: text(apiVersion), kind: text(kind), name: text(name) }
}

function fileStem(file: string): string {
  const stem = /([^/\\]+)\.[^./\\]+$/.exec(file)?.[1]
  return stem ?? ''
}

/** The ConfigMaps of the input, and which of them converters used. */
class ConfigMaps {
  readonly #byName = new Map<string, Fields>()
  readonly #used = new Set<Fields>()

  constructor(objects: readonly LocatedObject[]) {
    for (const { fields } of objects) {
      if (fields['kind'] !== 'ConfigMap' || !isFields(fields['metadata'])) continue
      const { name, namespace } = fields['metadata']
      this.#byName.set(JSON.stringify([namespace ?? '', name]), fields)
    }
  }

  text(namespace: string | undefined, name: string, key: string): string | undefined {
    const found = this.#byName.get(JSON.stringify([namespace ?? '', name]))
    const data = found?.['data']
    const text = isFields(data) && Object.hasOwn(data, key) ? data[key] : undefined
    if (found === undefined || typeof text !== 'string') return undefined
    this.#used.add(found)
    return text
  }

  isUsed(configMap: Fields): boolean {
    return this.#used.has(configMap)
  }
}
