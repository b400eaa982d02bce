import type { ResourceEvent } from '../cluster/cluster.ts'
import type { ResourceKind } from '../resources/resource.ts'

/** Keeps a deleted resource until the operator has cleaned up its external object. */
export const FINALIZER: Readonly<Record<ResourceKind, string>> = {
  Connector: 'weir.dev/connector',
  Subject: 'weir.dev/subject',
  RegistryMode: 'weir.dev/registrymode',
}

/** The Event of an abandoned deletion; the note names what was left in place and why. */
export function abandonedEvent(note: string): ResourceEvent {
  return { type: 'Warning', reason: 'Abandoned', note }
}
