import { isSecretKey } from '../../common/secrets/secret-keys.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import { field, type RawConfig } from '../../sdk/index.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { findAnyConnector } from './connector-plugin.ts'

/**
 * Returns a predicate for the keys of a configuration that hold secrets: keys that plugins define as passwords, and
 * keys with a name typical of secrets.
 */
export function secretKeysOf(config: RawConfig, plugins: PluginCatalog): (key: string) => boolean {
  const defined = new Set(passwordKeys(config, plugins))
  return (key) => defined.has(key) || isSecretKey(key)
}

function passwordKeys(config: RawConfig, plugins: PluginCatalog): readonly string[] {
  const steps = (['transforms', 'predicates'] as const).flatMap((kind) =>
    field.listItems(config[kind] ?? '').flatMap((alias) => {
      const prefix = `${kind}.${alias}.`
      const type = settingsWithPrefix(prefix, config)['type'] ?? ''
      return passwordsOf(plugins.find(kind === 'transforms' ? 'transformation' : 'predicate', type), prefix)
    }),
  )
  const converters = ['key', 'value', 'header'].flatMap((role) => {
    const kind = role === 'header' ? 'header_converter' : 'converter'
    return passwordsOf(plugins.find(kind, config[`${role}.converter`] ?? ''), `${role}.converter.`)
  })
  return [...passwordsOf(findAnyConnector(plugins, config)), ...steps, ...converters]
}

function passwordsOf(plugin: PluginDescriptor | undefined, prefix = ''): readonly string[] {
  const passwords = (plugin?.definitions ?? []).filter(({ type }) => type === 'PASSWORD')
  return passwords.map(({ name }) => prefix + name)
}
