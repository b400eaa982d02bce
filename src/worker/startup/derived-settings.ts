import { settingsWithPrefix } from '../../config/settings.ts'
import { parseListener, reachableHost } from '../../http/listener-address.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ProtocolName } from '../membership/connect-protocol.ts'
import { type OverridePolicy, parseOverridePolicy } from '../model/override-policy.ts'
import type { WorkerSettings } from '../settings.ts'
import type { TaskDefaults } from '../tasks/task-spec.ts'

const SESSION_KEY_BYTES = 32

/** How the leader generates session keys. `inter.worker.key.size` is in bits. */
export function sessionKeyOptions({ values }: WorkerSettings) {
  const bits = values['inter.worker.key.size']
  return {
    ttlMs: values['inter.worker.key.ttl.ms'],
    algorithm: values['inter.worker.key.generation.algorithm'],
    bytes: bits === undefined ? SESSION_KEY_BYTES : Math.ceil(bits / 8),
  }
}

/** The group protocols that a worker offers for each value of `connect.protocol`, the preferred one first. */
export const GROUP_PROTOCOLS: Readonly<Record<'compatible' | 'sessioned', readonly ProtocolName[]>> = {
  compatible: ['compatible'],
  sessioned: ['sessioned', 'compatible'],
}

export function taskDefaults(settings: WorkerSettings): TaskDefaults {
  const { values } = settings
  return {
    workerGroup: values['group.id'],
    converters: converterDefaults(settings),
    clients: clientSettingsOf(settings),
    offsetsTopic: values['offset.storage.topic'],
    commitIntervalMs: values['offset.flush.interval.ms'],
    commitTimeoutMs: values['offset.flush.timeout.ms'],
    createTopics: values['topic.creation.enable'],
    trackTopics: values['topic.tracking.enable'],
  }
}

/** The settings of the Kafka clients of all tasks: `producer.X`, `consumer.X` and `admin.X`. */
export function clientSettingsOf({ rest }: WorkerSettings): RawConfig {
  return Object.fromEntries(Object.entries(rest).filter(([key]) => /^(producer|consumer|admin)\./.test(key)))
}

export function overridePolicyOf({ values }: WorkerSettings): OverridePolicy {
  const name = values['connector.client.config.override.policy']
  const policy = parseOverridePolicy(name, values['connector.client.config.override.allowlist'])
  if (!policy) throw new Error(`a bug: the settings accepted the override policy '${name}', which does not exist`)
  return policy
}

/** The worker's default converters with their settings, under the keys that connectors use. */
export function converterDefaults({ values, rest }: WorkerSettings): RawConfig {
  const converterSettings = Object.entries(rest).filter(([key]) => /^(key|value|header)\.converter\./.test(key))
  return {
    'key.converter': values['key.converter'],
    'value.converter': values['value.converter'],
    'header.converter': values['header.converter'],
    ...Object.fromEntries(converterSettings),
  }
}

/** The registry whose schemas decode the records that the console shows, as settings of a converter. Undefined if there is none. */
export function registrySettingsOf({ rest }: WorkerSettings): RawConfig | undefined {
  const ofConverters = ['value.converter.', 'key.converter.'].map((prefix) => settingsWithPrefix(prefix, rest))
  return ofConverters.find((settings) => settings['schema.registry.url'] !== undefined)
}

/**
 * The URL at which other workers reach this one, with a slash at the end: the `rest.advertised.*` settings, or else an address
 * of the first listener that is reachable from other machines.
 */
export function advertisedUrl(listening: string, { values }: WorkerSettings): URL {
  const url = new URL(listening)
  url.hostname = values['rest.advertised.host.name'] ?? reachableHost(parseListener(values.listeners[0] ?? listening))
  if (values['rest.advertised.port'] !== undefined) url.port = String(values['rest.advertised.port'])
  if (values['rest.advertised.listener'] !== undefined) url.protocol = values['rest.advertised.listener']
  return url
}
