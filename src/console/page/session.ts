import { computed } from '@preact/signals'
import { type LiveQuery, useQuery } from './queries.ts'

/** A runtime that the page shows. `basePath` is the root of its REST API. */
export type Runtime = { readonly kind: 'worker' | 'registry'; readonly name: string; readonly basePath: string }

/** The program that serves the page, and who uses it; `user` is null without authentication. */
export type ConsoleSession = {
  readonly program: 'worker' | 'registry' | 'operator'
  readonly version: string
  readonly user: { readonly name: string; readonly role: string } | null
  readonly runtimes: readonly Runtime[]
}

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

/**
 * Whether the user may do an operation with an object. False while it is unknown, so that nothing is offered that would
 * be refused. The server decides in any case.
 */
export function useRights(kind: 'connectors' | 'subjects', name: string): (operation: PermittedOperation) => boolean {
  const { data } = useQuery<{ readonly operations: readonly PermittedOperation[] }>(
    `/ui/api/rights?kind=${kind}&name=${encodeURIComponent(name)}`,
  )
  const operations = computed(() => new Set(data.value?.operations))
  return (operation) => operations.value.has(operation)
}
