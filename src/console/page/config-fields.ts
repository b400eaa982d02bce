import { compareText } from './sort-rows.ts'
import type { ConfigReport, ConnectorConfig, KeyDefinition, ReportedKey } from './wire.ts'

/** The key by which the operator marks the connectors of its resources. */
const OWNER = 'weir.owner'
/** What the REST API writes in place of a secret. */
const MASK = '[hidden]'

/** A configuration key with what its plugin says about it. */
export type ConfigField = {
  readonly name: string
  /** Undefined if the configuration does not contain the key. */
  readonly value: string | undefined
  /** Null if there is none. */
  readonly defaultValue: string | null
  readonly type: string
  readonly importance: string
  readonly isRequired: boolean
  readonly isSecret: boolean
  /** False if other values make it meaningless. Such a key is left out unless it is set. */
  readonly isApplied: boolean
  /** Empty if no plugin defines the key. */
  readonly documentation: string
  readonly group: string
  readonly recommended: readonly string[]
  readonly errors: readonly string[]
}

/** The resource that declares a connector, from its configuration key `weir.owner`: `instance/namespace/name`. */
export type DeclaringResource = { readonly namespace: string; readonly name: string; readonly instance: string }

const IMPORTANCE = ['HIGH', 'MEDIUM', 'LOW']
const OTHER_GROUP = 'Other keys'
const CONNECTOR_GROUP = 'Connector'

/**
 * All keys of a configuration and its plugins, the required and important ones first. Without a report, such as for a user
 * who may not validate, only the keys that are set.
 */
export function configFields(config: ConnectorConfig, report: ConfigReport | undefined): readonly ConfigField[] {
  const entries = new Map(report?.configs.map((entry) => [entry.value.name, entry]))
  const defined = [...entries.values()].filter(({ value }) => value.visible || config[value.name] !== undefined)
  const others = Object.keys(config).filter((key) => !entries.has(key) && key !== OWNER)
  return [
    ...defined.map((entry) => toField(entry.value.name, config, entry)),
    ...others.sort().map((key) => toField(key, config, undefined)),
  ].sort(byUrgency)
}

function toField(name: string, config: ConnectorConfig, entry: ReportedKey | undefined): ConfigField {
  const definition: KeyDefinition | null = entry?.definition ?? null
  const value = config[name] ?? undefined
  return {
    name,
    value,
    defaultValue: definition?.default_value ?? null,
    type: definition?.type ?? 'STRING',
    importance: definition?.importance ?? 'LOW',
    isRequired: definition?.required ?? false,
    isSecret: definition?.type === 'PASSWORD' || value === MASK,
    isApplied: entry?.value.visible ?? true,
    documentation: plainText(definition?.documentation ?? ''),
    group: definition === null ? OTHER_GROUP : (definition.group ?? CONNECTOR_GROUP),
    recommended: entry?.value.recommended_values ?? [],
    errors: entry?.value.errors ?? [],
  }
}

/** With errors first. The order is stable, so that keys of the same importance stay in the order of their plugin. */
function byUrgency(a: ConfigField, b: ConfigField): number {
  return rankOf(a) - rankOf(b)
}

function rankOf({ name, isRequired, importance }: ConfigField): number {
  if (name === 'name' || name === 'connector.class') return 0
  const at = IMPORTANCE.indexOf(importance)
  return isRequired ? 1 : 2 + (at === -1 ? IMPORTANCE.length : at)
}

/** Documentation of Java plugins contains HTML. It is shown as text, so its tags are left out. */
function plainText(documentation: string): string {
  return documentation
    .replace(/<\/?(?:code|pre|p|br|ul|ol|li|a|b|i|em|strong|div|span|table|tr|td)\b[^<>]*>/gi, ' ')
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=[.,;:)])/g, '')
    .trim()
}

/** Every word must occur in the key, its value, its group or its documentation. Secrets are not searched. */
export function searchFields(fields: readonly ConfigField[], search: string): readonly ConfigField[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return fields.filter(({ name, value = '', isSecret, group, documentation }) => {
    const text = `${name}\n${isSecret ? '' : value}\n${group}\n${documentation}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Fields by their group, in the order in which groups first occur. */
export function groupFields(fields: readonly ConfigField[]): ReadonlyMap<string, readonly ConfigField[]> {
  return Map.groupBy(fields, ({ group }) => group)
}

export function declaringResource(config: ConnectorConfig | undefined): DeclaringResource | undefined {
  const owner = config?.[OWNER]
  if (owner === undefined || owner === null) return undefined
  const [instance = '', namespace = '', ...name] = owner.split('/')
  return { instance, namespace, name: name.join('/') }
}

/** The configuration as its author wrote it: without the mark of the operator. */
export function withoutOwner(config: ConnectorConfig): ConnectorConfig {
  const { [OWNER]: _, ...own } = config
  return own
}

/** What a connector is comes first, and the other keys by name. A worker returns them in the order of a hash. */
export function inReadingOrder(config: ConnectorConfig): ConnectorConfig {
  const first = ['name', 'connector.class']
  const rank = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length)
  return Object.fromEntries(Object.entries(config).sort(([a], [b]) => rank(a) - rank(b) || compareText(a, b)))
}
