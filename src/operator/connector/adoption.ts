import { OWNER_KEY } from '../../clients/worker-client.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import { type AnnotationName, annotationOf } from '../resources/annotations.ts'
import type { Resource } from '../resources/resource.ts'
import { changedKeys } from './changed-keys.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector } from './observed-connector.ts'

const TAKE_OVER: AnnotationName = 'weir.dev/take-over'

/** Throws `TerminalError` or `DependencyNotReady` unless the resource may change the existing connector. */
export function assertOwnership(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ExistingConnector,
): void {
  const owner = observed.config[OWNER_KEY]
  if (owner === desired.owner || wasApplied(resource)) return
  if (owner !== undefined) {
    if (annotationOf(resource, TAKE_OVER) === owner) return
    throw new TerminalError(
      'Conflict',
      `connector ${desired.name} is managed by ${owner}; to take it over, set the annotation ${TAKE_OVER}: "${owner}"`,
    )
  }
  assertAdoptable(resource, desired, observed)
}

function assertAdoptable(
  { spec }: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ExistingConnector,
): void {
  if (spec.adoptionPolicy === 'Never') {
    const message = `connector ${desired.name} already exists on the worker, and adoptionPolicy is Never`
    throw new TerminalError('AlreadyExists', message)
  }
  if (spec.adoptionPolicy !== 'AdoptIfIdentical') return
  if (desired.missing.length > 0) {
    const message = `waiting for ${desired.missing.join(', ')}, to compare connector ${desired.name} on the worker`
    throw new DependencyNotReady('WaitingForInput', message)
  }
  const changed = changedKeys(desired, observed)
  if (changed.length > 0) {
    const message = `connector ${desired.name} exists on the worker with another configuration (${changed.join(', ')})`
    throw new TerminalError('AdoptionRefused', message)
  }
}

function wasApplied({ status }: Resource<'Connector'>): boolean {
  return status.configHash !== undefined
}
