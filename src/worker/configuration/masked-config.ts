import { isMaskedValue, isSecretKey, MASK, maskConfig, secretValuesIn } from '../../common/secrets/secret-keys.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { secretKeysOf } from './connector-secret-keys.ts'
import type { WrittenConfig } from './written-config.ts'

/** Whether a configuration is returned with its literal secrets or with masks in their place. */
export type ConfigView = 'plain' | 'masked'

/** Minimum length of a secret that is also masked in the values of other keys. */
const ELSEWHERE_LENGTH_MIN = 8

/**
 * Returns a configuration with its secrets masked, both under their keys and where they occur in the values of others.
 */
export function toMaskedConfig(config: RawConfig, plugins: PluginCatalog): RawConfig {
  const isSecret = secretKeysOf(config, plugins)
  const secrets = new SecretMasker()
  secrets.add(secretValuesIn(config, isSecret).filter((value) => value.length >= ELSEWHERE_LENGTH_MIN))
  const masked = Object.entries(maskConfig(config, isSecret))
  return Object.fromEntries(masked.map(([key, value]) => [key, OWN.has(key) ? value : secrets.mask(value)]))
}

const OWN: ReadonlySet<string> = new Set(['name', 'connector.class'])

/**
 * Restores the secrets in a configuration that was read masked and is written back: a value that equals the masked one
 * is replaced by the stored one. Keys whose masks have no stored secret are returned as `unknown`; they must not be
 * stored.
 */
export function restoreMaskedSecrets(
  written: WrittenConfig,
  stored: RawConfig | undefined,
  plugins: PluginCatalog,
): { readonly config: WrittenConfig; readonly unknown: readonly string[] } {
  if (!Object.values(written).some((value) => value?.includes(MASK))) return { config: written, unknown: [] }
  const shown = stored && toMaskedConfig(stored, plugins)
  const isSecret = stored ? secretKeysOf(stored, plugins) : isSecretKey
  const isNewSecret = secretKeysOf(withTexts(written), plugins)
  const unknown: string[] = []
  const entries = Object.entries(written).map(([key, value]) => {
    if (value === null || !value.includes(MASK)) return [key, value] as const
    if (stored?.[key] !== undefined && shown?.[key] === value) return [key, stored[key]] as const
    if (isMaskedValue(key, value, (name) => isSecret(name) || isNewSecret(name))) unknown.push(key)
    return [key, value] as const
  })
  return { config: Object.fromEntries(entries), unknown }
}

/** The error message for a key whose value contains a mask that must not be stored. */
export function maskMessage(key: string): string {
  return `Invalid value ${MASK} for configuration ${key}: it stands for a secret that was masked when the configuration was read, and there is none stored that it could mean. Write the secret, or a placeholder for it.`
}

/** Throws a `WorkerError` (`invalid_config`) if any key is unknown. */
export function rejectMasks(unknown: readonly string[]): void {
  if (unknown.length > 0) throw new WorkerError('invalid_config', unknown.map(maskMessage).join('\n'))
}

function withTexts(written: WrittenConfig): RawConfig {
  return Object.fromEntries(Object.entries(written).flatMap(([key, value]) => (value === null ? [] : [[key, value]])))
}
