import { request } from './api.ts'
import { pathSegment, subjectSegment } from './path-segment.ts'
import type { VersionName } from './reference-graph.ts'
import { parseSubject } from './subject-names.ts'
import type { ReferenceEntry } from './wire.ts'

export type VersionState = { readonly version: number; readonly isDeleted: boolean }

/** How many schemas that refer to a version are resolved; each needs a request. */
export const REFERRERS_MAX = 50

/** All versions of a subject, from the lists without and with the soft-deleted ones. */
export function versionStates(live: readonly number[], all: readonly number[]): readonly VersionState[] {
  const isLive = new Set(live)
  return [...new Set([...live, ...all])]
    .sort((a, b) => a - b)
    .map((version) => ({ version, isDeleted: !isLive.has(version) }))
}

/** The subject that a reference means: a name without a context is one of the context of the schema that refers. */
export function referencedVersion(from: string, { subject, version }: ReferenceEntry): VersionName {
  const { context } = parseSubject(from)
  return { subject: context === '.' || subject.startsWith(':') ? subject : `:${context}:${subject}`, version }
}

/** The path of the versions of all subjects that have an ID; IDs are those of the subject's context. */
export function usersOfIdPath(basePath: string, subject: string, id: number): string {
  const { context } = parseSubject(subject)
  const scope = context === '.' ? '' : `&subject=${pathSegment(`:${context}:`)}`
  return `${basePath}/schemas/ids/${id}/versions?deleted=true${scope}`
}

export function versionPath(basePath: string, { subject, version }: VersionName): string {
  return `${basePath}/subjects/${subjectSegment(subject)}/versions/${version}`
}

/** The versions that have these IDs, from a response of `referencedby`. Soft-deleted ones are included. */
export async function resolveIds(
  basePath: string,
  subject: string,
  ids: readonly number[],
): Promise<readonly VersionName[]> {
  const users = await Promise.all(
    ids
      .slice(0, REFERRERS_MAX)
      .map((id) => request<readonly VersionName[]>('GET', usersOfIdPath(basePath, subject, id))),
  )
  return users.flat()
}

/** What refers to a version. */
export async function findReferrers(basePath: string, of: VersionName): Promise<readonly VersionName[]> {
  const ids = await request<readonly number[]>('GET', `${versionPath(basePath, of)}/referencedby?deleted=true`)
  return resolveIds(basePath, of.subject, ids)
}

/** What registers the same schema again. The registry decides the ID. */
export function registrationOf({
  schema,
  schemaType = 'AVRO',
  references = [],
  metadata,
  ruleSet,
}: RegisteredContent): object {
  return {
    schema,
    schemaType,
    ...(references.length > 0 ? { references } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(ruleSet === undefined ? {} : { ruleSet }),
  }
}

export type RegisteredContent = {
  readonly schema: string
  readonly schemaType?: string
  readonly references?: readonly ReferenceEntry[]
  readonly metadata?: unknown
  readonly ruleSet?: unknown
}

/** The text for people. Protobuf is not JSON and is shown as it is. */
export function readableSchema(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Lines such as `Address address-value 1`. Undefined if one is not of this form. */
export function parseReferences(text: string): readonly ReferenceEntry[] | undefined {
  const parsed = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^\s*(\S+)\s+(\S+)\s+(\d+)\s*$/.exec(line))
  if (parsed.includes(null)) return undefined
  return parsed.map((found) => ({ name: found?.[1] ?? '', subject: found?.[2] ?? '', version: Number(found?.[3]) }))
}
