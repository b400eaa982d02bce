import { secretValuesIn } from '../../common/secrets/secret-keys.ts'
import type { SecretMasker } from '../../common/secrets/secret-masker.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import type { ConfigRecord } from '../stores/config-codec.ts'
import type { ConfigState } from '../stores/config-state.ts'
import { secretKeysOf } from './connector-secret-keys.ts'

/** Masks the secrets that configurations contain literally, for as long as a configuration contains them. */
export class LiteralSecrets {
  readonly #plugins: PluginCatalog
  readonly #secrets: SecretMasker

  constructor(plugins: PluginCatalog, secrets: SecretMasker) {
    this.#plugins = plugins
    this.#secrets = secrets
  }

  secretsIn(config: RawConfig): readonly string[] {
    return secretValuesIn(config, secretKeysOf(config, this.#plugins))
  }

  /** Adds the secrets of all stored configurations. */
  start(configs: ConfigState): void {
    for (const { name, config, tasks } of configs.connectors()) {
      this.#hold(name, config)
      for (const [task, own] of tasks.entries()) this.#hold(`${name}-${task}`, own)
    }
  }

  apply(record: ConfigRecord): void {
    if (record.kind === 'connector') this.#hold(record.connector, record.config)
    if (record.kind === 'task') this.#hold(`${record.connector}-${record.task}`, record.config)
  }

  #hold(name: string, config: RawConfig | null): void {
    this.#secrets.hold(`configuration of ${name}`, config === null ? [] : this.secretsIn(config))
  }
}
