import { ineffectiveConnectionSettings } from '../broker/client-settings.ts'
import { UserError } from '../common/errors.ts'
import { readSettings, type Setting, type Settings, type SettingsSpec, settingsWithPrefix } from '../config/settings.ts'
import { settingsFromEnvironment } from '../config/settings-sources.ts'
import { accessControlSettingsError } from '../http/access-control-settings.ts'
import type { Defaults } from './queries/effective-config.ts'
import { aliases, shape, withoutEffect } from './setting-keys.ts'

export const settingsSpec: SettingsSpec<typeof shape> = {
  program: 'the schema registry',
  shape,
  aliases,
  // Settings of the Kafka client, and configs for creating the topic.
  passThrough: ['brokerstore.'],
  withoutEffect,
}

export type RegistrySettings = Settings<typeof shape>
export type RegistryValues = RegistrySettings['values']

/** Validates settings. Throws a `UserError` that names every invalid value. */
export function registrySettings(written: readonly Setting[]): RegistrySettings {
  const settings = readSettings(settingsSpec, written.map(inMilliseconds))
  const { values } = settings
  const error = contradiction(values)
  if (error !== undefined) throw new UserError('invalid_settings', error)
  const listeners = values.listeners.length > 0 ? values.listeners : [`http://0.0.0.0:${values.port ?? 8081}`]
  const ineffective = Object.entries(ineffectiveConnectionSettings(Object.keys(brokerSettings(settings))))
  const warnings = ineffective.map(([key, reason]) => `brokerstore.${key} has no effect: ${reason}`)
  return { ...settings, values: { ...values, listeners }, warnings: [...settings.warnings, ...warnings] }
}

/**
 * Reads settings from environment variables: `SCHEMA_REGISTRY_` and the key in upper case, as in Confluent's container
 * images. Variables that Kubernetes sets for a Service named `schema-registry` have the same prefix and are skipped.
 * Karapace's variables are included and come first.
 */
export function environmentSettings(environment: Readonly<Record<string, string | undefined>>): readonly Setting[] {
  const karapace = settingsFromEnvironment('KARAPACE', environment)
  const own = settingsFromEnvironment('SCHEMA_REGISTRY', environment)
  return [
    ...karapace.map((setting) => ({ ...setting, key: setting.key.replaceAll('.', '_') })),
    ...own.filter(({ key, value }) => !/^(?:service\.|port\.\d)/.test(key) && !value.startsWith('tcp://')),
  ]
}

/** Converts Confluent's `schema.cache.expiry.secs` to `schema.cache.expiry.ms`. */
function inMilliseconds(setting: Setting): Setting {
  if (setting.key !== 'schema.cache.expiry.secs') return setting
  const value = setting.value.trim()
  return { ...setting, key: 'schema.cache.expiry.ms', value: /^\d+$/.test(value) ? `${value}000` : value }
}

/** Returns an error message if settings contradict each other. */
function contradiction(values: RegistryValues): string | undefined {
  const heartbeatMs = values['brokergroup.heartbeat.interval.ms']
  const sessionMs = values['brokergroup.session.timeout.ms']
  if (heartbeatMs >= sessionMs) {
    return `brokergroup.heartbeat.interval.ms=${heartbeatMs} must be below brokergroup.session.timeout.ms=${sessionMs}; a third of it is usual`
  }
  if (values['weir.dek.registry.enable'] && values['dek.registry.topic'] === values['brokerstore.topic']) {
    return `dek.registry.topic=${values['dek.registry.topic']} must differ from brokerstore.topic, because the records of the two topics have different formats`
  }
  const access = accessControlSettingsError(values)
  if (access !== undefined) return access
  if (
    values['ssl.client.authentication'] !== 'NONE' &&
    !values['ssl.truststore.location'] &&
    !values['ssl.truststore.certificates']
  ) {
    return `ssl.client.authentication=${values['ssl.client.authentication']} needs ssl.truststore.location with the trusted client certificates`
  }
  return undefined
}

/** Unknown settings with the prefix `brokerstore.`, without the prefix. They are passed to the Kafka client. */
export function brokerSettings({ rest }: RegistrySettings): Readonly<Record<string, string>> {
  return settingsWithPrefix('brokerstore.', rest)
}

/** The configs with which the topic is created, without the prefix `brokerstore.topic.config.`. */
export function topicSettings({ rest }: RegistrySettings): Readonly<Record<string, string>> {
  return settingsWithPrefix('brokerstore.topic.config.', rest)
}

/** The mode and config that apply if none is set, and whether modes can be changed. */
export function registryDefaults(values: RegistryValues): {
  readonly defaults: Defaults
  readonly modesMutable: boolean
} {
  return {
    defaults: {
      mode: 'READWRITE',
      config: {
        compatibilityLevel: values['schema.compatibility.level'],
        ...(values['schema.validate.fields'] ? { validateFields: true } : {}),
        ...(values['schema.validate.new.schemas'] ? {} : { validateNewSchemas: false }),
      },
    },
    modesMutable: values['mode.mutability'],
  }
}
