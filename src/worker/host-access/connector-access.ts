import { type ProviderUse, UNRESTRICTED } from '../../sdk/index.ts'
import type { ClassPolicy } from './class-rules.ts'
import { createFileAccess } from './files.ts'
import type { HostAccessPolicy } from './policy.ts'

/** What a worker's settings say that its connectors may be and may use. `host` undefined: all that the worker may. */
export type ConnectorAccess = {
  readonly classes: ClassPolicy
  readonly host: HostAccessPolicy | undefined
  /** Variables of the environment that the worker itself is configured by. */
  readonly ownVariables: readonly string[]
}

/** For the worker's own settings, which are its administrator's. */
export const ALL_ACCESS: ConnectorAccess = {
  classes: { allowed: undefined, denied: [] },
  host: undefined,
  ownVariables: [],
}

/** What a worker's providers may read for connectors: all but what the worker itself was configured with. */
export function providerUse({ host, ownVariables }: ConnectorAccess): ProviderUse {
  if (host === undefined) return { files: UNRESTRICTED.files, isOwnVariable: () => false }
  const variables = new Set(ownVariables)
  return {
    files: createFileAccess({ allowed: undefined, own: host.paths.own }),
    isOwnVariable: (name) => /^(?:CONNECT|SCHEMA_REGISTRY|WEIR)_/.test(name) || variables.has(name),
  }
}
