import { type ConnectorProperties, OWNER_KEY } from '../../clients/worker-client.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector } from './observed-connector.ts'

const TASKS_MAX = 'tasks.max'

/** Names of the keys in which the worker's configuration differs from the desired one, without the ownership marker. */
export function changedKeys(desired: DesiredConnector, observed: Pick<ExistingConnector, 'config'>): readonly string[] {
  const keys = new Set([...Object.keys(desired.config), ...Object.keys(observed.config)])
  keys.delete(OWNER_KEY)
  return [...keys].filter((key) => effectiveValue(desired.config, key) !== effectiveValue(observed.config, key)).sort()
}

/** The value that Kafka Connect uses: 1 if `tasks.max` is absent, and numbers also with spaces or a sign. */
function effectiveValue(config: ConnectorProperties, key: string): string | undefined {
  const value = config[key]
  if (key !== TASKS_MAX) return value
  if (value === undefined) return '1'
  return /^\s*\+?\d+\s*$/.test(value) ? String(Number(value)) : value
}
