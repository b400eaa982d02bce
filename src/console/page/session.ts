import { computed } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { pathSegment } from './path-segment.ts'
import { type LiveQuery, useQuery } from './queries.ts'

/** A runtime that the page shows. `basePath` is the root of its REST API. */
export type Runtime = {
  readonly kind: 'worker' | 'registry'
  readonly name: string
  readonly basePath: string
  /** The operator passes no change on for this user, whatever the runtime itself permits. */
  readonly isReadOnly?: boolean
}

/** The program that serves the page, and who uses it; `user` is null without authentication. */
export type ConsoleSession = {
  readonly program: 'worker' | 'registry' | 'operator'
  readonly version: string
  readonly user: { readonly name: string; readonly role: string } | null
  readonly runtimes: readonly Runtime[]
  /** Whether the program knows the resources that declare connectors and subjects. */
  readonly hasResources: boolean
}

/** The runtime of the view that is shown. */
export const RuntimeContext = createContext<Runtime | undefined>(undefined)

export function useSession(): LiveQuery<ConsoleSession> {
  return useQuery<ConsoleSession>('/ui/api/session')
}

export type PermittedOperation =
  | 'read'
  | 'write'
  | 'delete'
  | 'harddelete'
  | 'import'
  | 'config'
  | 'mode'
  | 'lifecycle'
  | 'offsets'
  | 'loggers'
  | 'describe'

/**
 * Whether the user may do an operation with an object. False while it is unknown, so that nothing is offered that would
 * be refused. A runtime of another kind does not say, so everything is offered. The server decides in any case.
 */
export function useRights(
  kind: 'connectors' | 'subjects' | 'topics',
  name: string,
): (operation: PermittedOperation) => boolean {
  const { basePath = '', isReadOnly = false } = useContext(RuntimeContext) ?? {}
  const { data, error } = useQuery<{ readonly operations: readonly PermittedOperation[] }>(
    `${basePath}/ui/api/rights?kind=${kind}&name=${pathSegment(name)}`,
  )
  const operations = computed(() => new Set(data.value?.operations))
  return (operation) =>
    !(isReadOnly && operation !== 'read' && operation !== 'describe') &&
    (error.value?.status === 404 || operations.value.has(operation))
}
