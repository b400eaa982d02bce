import { unknownKeys } from '../../sdk/index.ts'
import type { ConnectorPlugin } from '../connector-tasks.ts'
import type { RawConfig } from '../stores/config-codec.ts'
import { commonKeys, sinkKeys, sourceKeys } from './connector-keys.ts'

/** What stands below these has keys of its own: the plugin's that is named there, Kafka's clients', topics'. */
const OF_OTHERS =
  /^((key|value|header)\.converter|transforms|predicates|(producer|consumer|admin)\.override|topic\.creation)\./

/** Keys of a configuration that nobody reads: misspelled, or of another connector. Like the original, none is refused. */
export function keysOfNobody({ kind, config: own }: ConnectorPlugin, config: RawConfig): readonly string[] {
  const shared = kind === 'source' ? sourceKeys : sinkKeys
  const known = (key: string) =>
    Object.hasOwn(commonKeys.shape, key) || Object.hasOwn(shared.shape, key) || OF_OTHERS.test(key)
  return unknownKeys(own, config).filter((key) => !known(key))
}
