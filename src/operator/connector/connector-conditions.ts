import type { ConditionReason } from '../../common/state-glossary.ts'
import type { ObservedCondition } from '../resources/condition.ts'
import type { Resource } from '../resources/resource.ts'
import { changedKeys } from './changed-keys.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector, ObservedConnector } from './observed-connector.ts'

/** The conditions of a connector beside `Ready`: `Synced`, `Healthy` and `InputsResolved`. */
export function connectorConditions(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ObservedConnector,
): readonly ObservedCondition[] {
  const inputs = inputsResolved(desired, observed)
  if (observed === 'absent') {
    return [
      { type: 'Synced', status: 'False', reason: 'Missing', message: 'the connector does not exist on the worker' },
      inputs,
    ]
  }
  return [synced(resource, desired, observed), healthOf(observed), inputs]
}

function healthOf({ state, tasks }: ExistingConnector): ObservedCondition {
  const type = 'Healthy'
  if (state === 'FAILED') return { type, status: 'False', reason: 'ConnectorFailed', message: 'the connector failed' }
  const failed = tasks.filter((task) => task.state === 'FAILED').length
  return failed === 0
    ? { type, status: 'True', reason: 'Succeeded', message: 'neither the connector nor a task has failed' }
    : { type, status: 'False', reason: 'TaskFailed', message: `${failed} of ${tasks.length} tasks failed` }
}

/** A running connector keeps its last configuration; one that does not exist yet, or is stopped for offsets, waits. */
function inputsResolved({ missing, offsetsToSet }: DesiredConnector, observed: ObservedConnector): ObservedCondition {
  const all = 'missing' in offsetsToSet ? [...missing, offsetsToSet.missing] : missing
  const type = 'InputsResolved'
  if (all.length === 0) return { type, status: 'True', reason: 'Succeeded', message: 'all inputs exist' }
  const reason = observed === 'absent' || missing.length === 0 ? 'WaitingForInput' : 'InputMissing'
  return { type, status: 'False', reason, message: `missing: ${all.join(', ')}` }
}

function synced(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ExistingConnector,
): ObservedCondition {
  const notSynced = (reason: ConditionReason, message: string): ObservedCondition => ({
    type: 'Synced',
    status: 'False',
    reason,
    message,
  })
  if (desired.missing.length > 0) return notSynced('InputMissing', `missing: ${desired.missing.join(', ')}`)
  const changed = changedKeys(desired, observed)
  if (changed.length === 0) return { type: 'Synced', status: 'True', reason: 'Succeeded', message: 'as declared' }
  const reported = resource.spec.driftPolicy === 'Report'
  return notSynced(reported ? 'Drifted' : 'Updating', `the worker's configuration differs in ${changed.join(', ')}`)
}
