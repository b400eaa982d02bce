import { isDeepStrictEqual } from 'node:util'
import type { ResourceKind, ResourceSpec } from './resource.ts'

/** Fields that identify the external object. Changing one would leave the old object behind. */
export const IMMUTABLE_FIELDS = {
  Connector: ['workerRef', 'name'],
  Subject: ['registryRef', 'subject'],
  RegistryMode: ['registryRef', 'scope'],
} as const satisfies { readonly [K in ResourceKind]: readonly (keyof ResourceSpec[K])[] }

/** Error message for a changed immutable field; undefined when none has changed. */
export function immutableFieldError(kind: ResourceKind, before: object, after: object): string | undefined {
  for (const field of IMMUTABLE_FIELDS[kind]) {
    const [was, is] = [before, after].map((spec) => (spec as Record<string, unknown>)[field])
    if (isDeepStrictEqual(was, is)) continue
    return `spec.${field} is immutable: it was ${JSON.stringify(was) ?? 'absent'}; put it back, or delete this resource and declare another one`
  }
  return undefined
}
