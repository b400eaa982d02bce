import { OWNER_KEY } from '../../clients/worker-client.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from '../configuration/connector-keys.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'

/**
 * Prefixes of keys that belong to a converter, transform, predicate, Kafka client or topic, and are validated there.
 */
const OF_OTHERS =
  /^((key|value|header)\.converter|transforms|predicates|(producer|consumer|admin)\.override|topic\.creation)\./

/** Maximum number of reported keys, because the search for a similar key compares each with all known keys. */
const REPORTED_MAX = 20

/** A key without effect, and the most similar known key, if there is one. */
export type UnknownKey = { readonly key: string; readonly meant?: string }

/**
 * Finds keys that nothing reads, because they are misspelled or belong to another connector. They are only reported:
 * like Kafka Connect, the worker accepts them.
 */
export function findUnknownKeys(plugin: ConnectorPlugin, config: RawConfig): readonly UnknownKey[] {
  const { kind, definitions, readsOtherKeys } = plugin
  if (readsOtherKeys) return []
  const shared = kind === 'source' ? sourceKeys : sinkKeys
  const own = definitions.map(({ name }) => name)
  const known = [...new Set([...own, ...Object.keys(shared.shape), ...Object.keys(commonKeys.shape), OWNER_KEY])]
  return Object.keys(config)
    .filter((key) => !known.includes(key) && !OF_OTHERS.test(key))
    .slice(0, REPORTED_MAX)
    .map((key) => {
      const meant = didYouMean(key, known)
      return { key, ...(meant !== undefined && { meant }) }
    })
}
