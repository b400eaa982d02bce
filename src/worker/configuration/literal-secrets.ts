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
      this.#hold(`connector ${name}`, config)
      for (const [task, own] of tasks.entries()) this.#hold(`task ${name}-${task}`, own)
    }
  }

  apply(record: ConfigRecord): void {
    if (record.kind === 'connector') this.#hold(`connector ${record.connector}`, record.config)
    if (record.kind === 'task') this.#hold(`task ${record.connector}-${record.task}`, record.config)
  }

  /** `owner` is distinct also for a connector `orders-0` and task 0 of a connector `orders`. */
  #hold(owner: string, config: RawConfig | null): void {
    this.#secrets.hold(`configuration of ${owner}`, config === null ? [] : this.secretsIn(config))
  }
}
