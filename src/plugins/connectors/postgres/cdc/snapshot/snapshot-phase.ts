import type { SourceContext, Position as StoredOffset } from '../../../../../sdk/index.ts'
import { decideSnapshot, type SnapshotDecision } from '../../../cdc/snapshot/snapshot-mode.ts'
import { pause } from '../../../jdbc/pause.ts'
import type { CdcConfig } from '../config/cdc-config.ts'
import { storedStateOf } from './snapshot-offset.ts'

/** Whether the loss of the stored position is no failure, because existing rows are read again then. */
export function toleratesLostPosition(config: CdcConfig, stored: StoredOffset | undefined): boolean {
  const mode = config['snapshot.mode']
  if (mode === 'when_needed') return true
  if (mode === 'configuration_based') return config['snapshot.mode.configuration.based.snapshot.on.data.error']
  // Nothing is lost if a snapshot that has not ended begins again.
  return storedStateOf(stored) === 'snapshot'
}

export function snapshotDecisionOf(
  config: CdcConfig,
  stored: StoredOffset | undefined,
  isPositionAvailable: boolean,
): SnapshotDecision {
  return decideSnapshot(
    config['snapshot.mode'],
    { stored: storedStateOf(stored), isPositionAvailable },
    {
      snapshotsData: config['snapshot.mode.configuration.based.snapshot.data'],
      startsStream: config['snapshot.mode.configuration.based.start.stream'],
      snapshotsOnDataError: config['snapshot.mode.configuration.based.snapshot.on.data.error'],
    },
  )
}

/**
 * Whether a start with this stored offset reads the rows of a table with SELECT. A statement of
 * `snapshot.select.statement.overrides` may read from elsewhere.
 */
export function readsRowsOf(
  config: CdcConfig,
  stored: StoredOffset | undefined,
): (table: { readonly schema: string; readonly name: string }) => boolean {
  if (snapshotDecisionOf(config, stored, true).data === 'none') return () => false
  const included = config['snapshot.include.collection.list']
  const overridden = config['snapshot.select.statement.overrides']
  return ({ schema, name }) => {
    const table = `${schema}.${name}`
    if (overridden.includes(table)) return false
    return included.length === 0 || included.some((pattern) => pattern.test(table))
  }
}

/** Waits for `snapshot.delay.ms` or `streaming.delay.ms`. */
export async function delay(
  key: 'snapshot.delay.ms' | 'streaming.delay.ms',
  { config, log, signal }: Pick<SourceContext<CdcConfig>, 'config' | 'log' | 'signal'>,
): Promise<void> {
  const delayMs = config[key]
  if (delayMs === 0) return
  log.info({ delayMs }, `waiting because of ${key}`)
  await pause(delayMs, signal)
}
