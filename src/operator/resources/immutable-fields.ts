import { isDeepStrictEqual } from 'node:util'
import type { ResourceKind, ResourceSpec } from './resource.ts'

/** Fields that say which thing outside a resource stands for. Changing one would leave the old thing behind. */
export const IMMUTABLE_FIELDS = {
  Connector: ['workerRef', 'name'],
  Subject: ['registryRef', 'subject'],
  RegistryMode: ['registryRef', 'scope'],
} as const satisfies { readonly [K in ResourceKind]: readonly (keyof ResourceSpec[K])[] }

/** Why a new spec can't follow an old one; undefined when it can. */
export function immutableFieldError(kind: ResourceKind, before: object, after: object): string | undefined {
  for (const field of IMMUTABLE_FIELDS[kind]) {
    const [was, is] = [before, after].map((spec) => (spec as Record<string, unknown>)[field])
    if (isDeepStrictEqual(was, is)) continue
    return `spec.${field} is immutable: it was ${JSON.stringify(was) ?? 'absent'}; put it back, or delete this resource and declare another one`
  }
  return undefined
}
