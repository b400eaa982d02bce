import { Stalled } from '../controller/trouble.ts'
import type { Resource } from '../resources/resource.ts'
import { type Desired, OWNER_KEY } from './desired.ts'
import type { Present } from './observed.ts'

const TAKE_OVER = 'weir.dev/take-over'

/** Passes when the resource may change the connector that is there; throws `Stalled` with the reason when not. */
export function assertOurs(resource: Resource<'Connector'>, desired: Desired, observed: Present): void {
  const owner = observed.config[OWNER_KEY]
  if (owner === desired.owner || wasApplied(resource)) return
  if (owner !== undefined) {
    if (resource.metadata.annotations[TAKE_OVER] === owner) return
    throw new Stalled(
      'Conflict',
      `connector ${desired.name} is kept by ${owner}; to take it from there set the annotation ${TAKE_OVER}: "${owner}"`,
    )
  }
  assertAdoptable(resource, desired, observed)
}

function assertAdoptable({ spec }: Resource<'Connector'>, desired: Desired, observed: Present): void {
  if (spec.adoptionPolicy === 'Never') {
    const message = `connector ${desired.name} exists on the worker already, and adoptionPolicy is Never`
    throw new Stalled('AlreadyExists', message)
  }
  const changed = changedKeys(desired, observed)
  if (spec.adoptionPolicy === 'AdoptIfIdentical' && changed.length > 0) {
    const message = `connector ${desired.name} exists on the worker with another configuration (${changed.join(', ')})`
    throw new Stalled('AdoptionRefused', message)
  }
}

function wasApplied({ status }: Resource<'Connector'>): boolean {
  return status.configHash !== undefined
}

/** Names of the keys in which the worker's configuration differs from the desired one; the owner's mark aside. */
export function changedKeys(desired: Desired, observed: Present): readonly string[] {
  const keys = new Set([...Object.keys(desired.config), ...Object.keys(observed.config)])
  keys.delete(OWNER_KEY)
  return [...keys].filter((key) => desired.config[key] !== observed.config[key]).sort()
}
