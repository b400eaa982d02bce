import type { ClusterEvent } from '../cluster/cluster.ts'
import type { Kind } from '../resources/resource.ts'

/** What holds a deleted resource until the operator has tidied up after it. */
export const FINALIZER: Readonly<Record<Kind, string>> = {
  Connector: 'weir.dev/connector',
  Subject: 'weir.dev/subject',
  RegistryMode: 'weir.dev/registrymode',
}

/** A deletion that left something behind: what, and why. */
export function abandoned(note: string): ClusterEvent {
  return { type: 'Warning', reason: 'Abandoned', note }
}
