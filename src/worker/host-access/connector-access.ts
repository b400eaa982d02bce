import { type ProviderUse, UNRESTRICTED } from '../../sdk/index.ts'
import type { ClassPolicy } from './class-rules.ts'
import { createFileAccess } from './file-access.ts'
import type { HostAccessPolicy } from './host-access-policy.ts'

/**
 * The connector classes, hosts and files that the worker's settings allow. With `host` undefined, connectors can access
 * all that the worker process can.
 */
export type ConnectorAccess = {
  readonly classes: ClassPolicy
  readonly host: HostAccessPolicy | undefined
  /** Environment variables that the worker's own configuration refers to. */
  readonly ownVariables: readonly string[]
}

/** Unrestricted access, for the worker's own settings, which its administrator controls. */
export const ALL_ACCESS: ConnectorAccess = {
  classes: { allowed: undefined, denied: [] },
  host: undefined,
  ownVariables: [],
}

/** What config providers may read for connectors: anything except the worker's own files and variables. */
export function providerUse({ host, ownVariables }: ConnectorAccess): ProviderUse {
  if (host === undefined) return { files: UNRESTRICTED.files, isOwnVariable: () => false }
  const variables = new Set(ownVariables)
  return {
    files: createFileAccess({ allowed: undefined, own: host.paths.own }),
    isOwnVariable: (name) => /^(?:CONNECT|SCHEMA_REGISTRY|WEIR)_/.test(name) || variables.has(name),
  }
}
