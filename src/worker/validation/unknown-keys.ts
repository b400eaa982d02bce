import { OWNER_KEY } from '../../clients/worker-client.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
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

/** A key without effect, and the key that is meant: its present name if it `isFormer`, else the most similar known one. */
export type UnknownKey = { readonly key: string; readonly meant?: string; readonly isFormer?: true }

/**
 * Finds keys that nothing reads, because they are misspelled, belong to another connector or had another name in a former version. They
 * are only reported: like Kafka Connect, the worker accepts them.
 */
export function findUnknownKeys(plugin: ConnectorPlugin, config: RawConfig): readonly UnknownKey[] {
  const { kind, definitions, readsOtherKeys, otherKeys } = plugin
  if (readsOtherKeys && otherKeys === undefined) return []
  const { known: patterns, former } = otherKeys ?? { known: [], former: {} }
  const shared = kind === 'source' ? sourceKeys : sinkKeys
  const own = definitions.map(({ name }) => name)
  const known = [...new Set([...own, ...Object.keys(shared.shape), ...Object.keys(commonKeys.shape), OWNER_KEY])]
  const read = patterns.map((pattern) => javaRegex(pattern, { whole: true }))
  return Object.keys(config)
    .filter((key) => !known.includes(key) && !OF_OTHERS.test(key))
    .flatMap((key): UnknownKey | readonly [] => {
      const present = Object.hasOwn(former, key) ? former[key] : undefined
      if (present !== undefined) return { key, meant: present, isFormer: true }
      if (read.some((pattern) => pattern.test(key))) return []
      const meant = didYouMean(key, known)
      return { key, ...(meant !== undefined && { meant }) }
    })
    .slice(0, REPORTED_MAX)
}

/** A sentence for people. */
export function describeUnknownKey({ key, meant, isFormer }: UnknownKey): string {
  if (isFormer) return `'${key}' has no effect: it is now '${meant}'`
  return `'${key}' is unknown and has no effect${meant === undefined ? '' : `: did you mean '${meant}'?`}`
}
