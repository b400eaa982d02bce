import { undefinedIfNotFound } from '../../clients/http-client.ts'
import type { CompatibilityLevel, Mode, RegistryClient } from '../../clients/registry-client.ts'
import { scopeName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'

/** The mode and the level of a scope: its own ones, if it has any, and the effective mode. */
export type ObservedMode = {
  readonly ownMode?: Mode
  readonly mode: Mode
  readonly ownLevel?: CompatibilityLevel
  /** Read only where `needsEmptyScope`. */
  readonly isEmpty: boolean
}

export async function observeMode(registry: RegistryClient, resource: Resource<'RegistryMode'>): Promise<ObservedMode> {
  const scope = scopeName(resource)
  const [ownMode, mode, config] = await Promise.all([
    undefinedIfNotFound(registry.mode(scope)),
    registry.mode(scope, { effective: true }),
    undefinedIfNotFound(registry.config(scope)),
  ])
  const ownLevel = config?.compatibility
  return {
    mode,
    ...(ownMode === undefined ? {} : { ownMode }),
    ...(ownLevel === undefined ? {} : { ownLevel }),
    isEmpty: !needsEmptyScope(resource, ownMode) || (await isScopeEmpty(registry, resource)),
  }
}

/** A registry enters IMPORT only where nothing is registered, unless `force` is set. */
export function needsEmptyScope({ spec }: Pick<Resource<'RegistryMode'>, 'spec'>, ownMode: Mode | undefined): boolean {
  return spec.mode === 'IMPORT' && !spec.force && ownMode !== 'IMPORT'
}

/** Whether the scope has no subject that is not deleted. */
async function isScopeEmpty(registry: RegistryClient, { spec }: Resource<'RegistryMode'>): Promise<boolean> {
  const { type, context, subject = '' } = spec.scope
  if (type === 'Subject') return (await undefinedIfNotFound(registry.versions(subject))) === undefined
  // The registry and the default context are the same scope; other contexts are imported separately.
  const subjects = await registry.subjects({ prefix: type === 'Context' ? `:${context}:` : '' })
  return subjects.length === 0
}
