export const SNAPSHOT_MODES = [
  'initial',
  'always',
  'initial_only',
  'no_data',
  'never',
  'when_needed',
  'configuration_based',
] as const
export type SnapshotMode = (typeof SNAPSHOT_MODES)[number]

export type SnapshotState = {
  /** What is stored: nothing, a snapshot that did not end, or a position of the stream. */
  readonly stored: 'none' | 'snapshot' | 'stream'
  /** Whether the slot still has the changes since the stored position. */
  readonly isPositionAvailable: boolean
}

export type ConfigurationBased = {
  readonly snapshotsData: boolean
  readonly startsStream: boolean
  readonly snapshotsOnDataError: boolean
}

export type SnapshotDecision = {
  /** `continue`: what is missing of a snapshot that did not end. */
  readonly data: 'none' | 'new' | 'continue'
  /** Whether changes follow. */
  readonly streams: boolean
}

/** What to do at a start. If the position is not available and no data is read, the stream decides whether it can continue. */
export function decideSnapshot(
  mode: SnapshotMode,
  state: SnapshotState,
  configuration: ConfigurationBased,
): SnapshotDecision {
  const hasLostPosition = state.stored === 'stream' && !state.isPositionAvailable
  switch (mode) {
    case 'initial':
      return { data: readOnce(state), streams: true }
    case 'always':
      return { data: readAlways(state), streams: true }
    case 'initial_only':
      return { data: withoutStream(readOnce(state)), streams: false }
    case 'no_data':
    case 'never':
      return { data: 'none', streams: true }
    case 'when_needed':
      return { data: hasLostPosition ? 'new' : readOnce(state), streams: true }
    case 'configuration_based': {
      const { snapshotsData, startsStream, snapshotsOnDataError } = configuration
      const data = snapshotsData ? readAlways(state) : 'none'
      if (hasLostPosition && snapshotsOnDataError) return { data: 'new', streams: startsStream }
      return { data: startsStream ? data : withoutStream(data), streams: startsStream }
    }
  }
}

/** The changes since its beginning correct a snapshot that continues. If they are lost, it begins again. */
function readOnce({ stored, isPositionAvailable }: SnapshotState): SnapshotDecision['data'] {
  if (stored === 'none') return 'new'
  if (stored === 'stream') return 'none'
  return isPositionAvailable ? 'continue' : 'new'
}

/** At each start, as Debezium does with these modes. A snapshot that did not end continues nevertheless. */
function readAlways(state: SnapshotState): SnapshotDecision['data'] {
  return state.stored === 'stream' ? 'new' : readOnce(state)
}

/** Without changes nothing corrects a snapshot, so it cannot continue in a newer one. */
function withoutStream(data: SnapshotDecision['data']): SnapshotDecision['data'] {
  return data === 'continue' ? 'new' : data
}
