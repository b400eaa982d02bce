import { isDeepStrictEqual } from 'node:util'
import type { Kind, SpecOf } from './resource.ts'

/** Fields that say which thing outside a resource stands for. Changing one would leave the old thing behind. */
export const IDENTITY = {
  Connector: ['workerRef', 'name'],
  Subject: ['registryRef', 'subject'],
  RegistryMode: ['registryRef', 'scope'],
} as const satisfies { readonly [K in Kind]: readonly (keyof SpecOf[K])[] }

/** Why a new spec can't follow an old one; undefined when it can. */
export function changedIdentity(kind: Kind, before: object, after: object): string | undefined {
  for (const field of IDENTITY[kind]) {
    const [was, is] = [before, after].map((spec) => (spec as Record<string, unknown>)[field])
    if (isDeepStrictEqual(was, is)) continue
    return `spec.${field} is immutable: it was ${JSON.stringify(was) ?? 'absent'}; put it back, or delete this resource and declare another one`
  }
  return undefined
}
