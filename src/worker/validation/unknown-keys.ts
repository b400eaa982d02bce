import { OWNER_KEY } from '../../clients/worker.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from '../configuration/connector-keys.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'

/** What stands settingsWithPrefix these has keys of its own: the plugin's that is named there, Kafka's clients', topics'. */
const OF_OTHERS =
  /^((key|value|header)\.converter|transforms|predicates|(producer|consumer|admin)\.override|topic\.creation)\./

/** To look for what was meant compares a key with all that there are. */
const TOLD_MAX = 20

/** A key that has no effect, and the one that was probably meant. */
export type UnknownKey = { readonly key: string; readonly meant?: string }

/** Keys of a configuration that nobody reads: misspelled, or of another connector. Like the original, none is refused. */
export function findUnknownKeys({ kind, definitions }: ConnectorPlugin, config: RawConfig): readonly UnknownKey[] {
  const shared = kind === 'source' ? sourceKeys : sinkKeys
  const own = definitions.map(({ name }) => name)
  const known = [...new Set([...own, ...Object.keys(shared.shape), ...Object.keys(commonKeys.shape), OWNER_KEY])]
  return Object.keys(config)
    .filter((key) => !known.includes(key) && !OF_OTHERS.test(key))
    .slice(0, TOLD_MAX)
    .map((key) => {
      const meant = didYouMean(key, known)
      return { key, ...(meant !== undefined && { meant }) }
    })
}
