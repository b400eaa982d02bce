import { type Condition, truncate } from './common-status.ts'

/** The reasons of `Ready`: a closed list, part of the API. */
export type ConditionReason =
  | 'Pending'
  | 'Progressing'
  | 'Creating'
  | 'Updating'
  | 'Resuming'
  | 'Pausing'
  | 'Stopping'
  | 'Restarting'
  | 'AlteringOffsets'
  | 'Registering'
  | 'Succeeded'
  | 'Deleting'
  | 'DeletionBlocked'
  | 'WaitingForInput'
  | 'WaitingForSubject'
  | 'ReferencePending'
  | 'ReferenceNotFound'
  | 'ReferenceInvalid'
  | 'ReferenceCycle'
  | 'WaitingForImportMode'
  | 'UnknownCluster'
  | 'ClusterConfigInvalid'
  | 'NotAllowed'
  | 'ProtectedName'
  | 'Conflict'
  | 'AlreadyExists'
  | 'AlreadySet'
  | 'AdoptionRefused'
  | 'ConfigInvalid'
  | 'PluginNotFound'
  | 'ConnectorFailed'
  | 'TaskFailed'
  | 'AutoRestartExhausted'
  | 'Rebalancing'
  | 'WorkerUnreachable'
  | 'RegistryUnreachable'
  | 'RegistryReadOnly'
  | 'Unauthorized'
  | 'Forbidden'
  | 'Drifted'
  | 'DriftFight'
  | 'Missing'
  | 'InputMissing'
  | 'OffsetsRejected'
  | 'SchemaInvalid'
  | 'SchemaTooLarge'
  | 'Incompatible'
  | 'ImportConflict'
  | 'ScopeNotEmpty'
  | 'InternalError'

/**
 * The condition `Ready` and what follows from it. `reconciling`: the resource gets Ready without a user
 * (`Reconciling`); `stalled`: a user has to change something (`Stalled`); neither: healthy, or the runtime does not
 * answer.
 */
export type ReadyCondition = {
  readonly status: Condition['status']
  readonly reason: ConditionReason
  readonly message: string
  readonly progress?: 'reconciling' | 'stalled'
  /** Conditions specific to the kind, such as `Synced` or `Latest`. */
  readonly otherConditions?: readonly ObservedCondition[]
}

export type ObservedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

const MESSAGE_MAX = 32_768

/**
 * Builds the list of conditions. `Ready` is always present, `Reconciling` and `Stalled` only when True and never
 * together. A condition whose status did not change keeps its transition time.
 */
export function buildConditions(
  readyCondition: ReadyCondition,
  previous: readonly Condition[],
  generation: number,
  nowMs: number,
): readonly Condition[] {
  const { status: ready, reason, message, progress, otherConditions = [] } = readyCondition
  const findings: ObservedCondition[] = [{ type: 'Ready', status: ready, reason, message }, ...otherConditions]
  if (progress === 'reconciling') findings.push({ type: 'Reconciling', status: 'True', reason, message })
  if (progress === 'stalled') findings.push({ type: 'Stalled', status: 'True', reason, message })
  return findings.map((finding) => {
    const before = previous.find(({ type }) => type === finding.type)
    const unchanged = before !== undefined && before.status === finding.status
    return {
      ...finding,
      message: truncate(finding.message, MESSAGE_MAX),
      observedGeneration: generation,
      lastTransitionTime: unchanged ? before.lastTransitionTime : new Date(nowMs).toISOString(),
    }
  })
}

/** Whether the resource is Ready in this generation. */
export function isReady(
  status: { readonly observedGeneration: number; readonly conditions: readonly Condition[] },
  generation: number,
): boolean {
  return status.observedGeneration === generation && findCondition(status.conditions, 'Ready')?.status === 'True'
}

export function findCondition(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type)
}
