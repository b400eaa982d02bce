import { OWNER_KEY } from '../../clients/worker-client.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector } from './observed-connector.ts'

/** Names of the keys in which the worker's configuration differs from the desired one, without the ownership marker. */
export function changedKeys(desired: DesiredConnector, observed: ExistingConnector): readonly string[] {
  const keys = new Set([...Object.keys(desired.config), ...Object.keys(observed.config)])
  keys.delete(OWNER_KEY)
  return [...keys].filter((key) => desired.config[key] !== observed.config[key]).sort()
}
