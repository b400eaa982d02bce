import type { ResourceEvent } from '../cluster/cluster.ts'
import type { ResourceKind } from '../resources/resource.ts'

/** What holds a deleted resource until the operator has tidied up after it. */
export const FINALIZER: Readonly<Record<ResourceKind, string>> = {
  Connector: 'weir.dev/connector',
  Subject: 'weir.dev/subject',
  RegistryMode: 'weir.dev/registrymode',
}

/** A deletion that left something behind: what, and why. */
export function abandonedEvent(note: string): ResourceEvent {
  return { type: 'Warning', reason: 'Abandoned', note }
}
