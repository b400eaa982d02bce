import { RequestError } from '../../clients/http-client.ts'
import type { NewSchema, Registered, RegistryClient } from '../../clients/registry-client.ts'
import { contextOf, qualifySubject } from '../../formats/qualified-subject.ts'
import { withRetries } from './concurrent-requests.ts'
import { type ArchivedVersion, type RegistryArchive, schemaContentOf, versionKey } from './registry-archive.ts'

/** A version of an archive, and the version and id that the registry assigned to its schema. */
export type AssignedId = {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly newVersion: number
  readonly newId: number
}

export type RegisterAnewOptions = {
  readonly signal?: AbortSignal
  /** Called after each version, registered or not. */
  readonly onVersion?: () => void
}

export type RegisteredAnew = {
  readonly assigned: readonly AssignedId[]
  /** One sentence for each version that the registry does not accept. */
  readonly rejected: readonly string[]
}

/**
 * Registers each version of an archive as any client does, so that the registry checks it and assigns its id. The
 * versions of a subject keep their order; a referenced version precedes those that reference it. A schema that is
 * registered already keeps its version and id, so a second run completes an interrupted one. Rejects with a
 * `RequestError`, or with the signal's reason.
 */
export async function registerAnew(
  { subjects }: RegistryArchive,
  registry: RegistryClient,
  { signal, onVersion }: RegisterAnewOptions = {},
): Promise<RegisteredAnew> {
  const client = withRetries(registry)
  const assigned = new Map<string, AssignedId>()
  const rejected: string[] = []
  const remaining = new Map(subjects.map(({ subject, versions }) => [subject, [...versions]]))

  /** Registers the versions of a subject up to this one that are not registered yet. */
  const registerUpTo = async (subject: string, last: number): Promise<void> => {
    const versions = remaining.get(subject) ?? []
    while (versions[0] !== undefined && versions[0].version <= last) {
      const version = versions.shift()!
      signal?.throwIfAborted()
      for (const reference of version.references ?? []) {
        await registerUpTo(qualifySubject(reference.subject, contextOf(subject)), reference.version)
      }
      await registerOne(subject, version)
      onVersion?.()
    }
  }

  const registerOne = async (subject: string, archived: ArchivedVersion): Promise<void> => {
    const { version, id } = archived
    try {
      const { version: newVersion, id: newId } = await registered(
        client,
        subject,
        archived,
        withNewReferences(subject, archived),
      )
      assigned.set(versionKey(subject, version), { subject, version, id, newVersion, newId })
    } catch (error) {
      if (!(error instanceof RequestError) || error.retriable || error.status === 401 || error.status === 403)
        throw error
      rejected.push(`${subject} version ${version}: ${error.message}`)
    }
  }

  /** The versions of references are those that the registry assigned. */
  const withNewReferences = (subject: string, archived: ArchivedVersion): NewSchema => {
    const content = schemaContentOf(archived)
    const references = content.references?.map((reference) => {
      const target = qualifySubject(reference.subject, contextOf(subject))
      const version = assigned.get(versionKey(target, reference.version))?.newVersion
      return { ...reference, version: version ?? reference.version }
    })
    return { ...content, ...(references && { references }) }
  }

  for (const { subject } of subjects) await registerUpTo(subject, Number.POSITIVE_INFINITY)
  return { assigned: [...assigned.values()], rejected }
}

/** Registers a schema; one that is soft-deleted in the archive is soft-deleted again. */
async function registered(
  client: RegistryClient,
  subject: string,
  { deleted }: ArchivedVersion,
  schema: NewSchema,
): Promise<Required<Pick<Registered, 'id' | 'version'>>> {
  const known = deleted ? await lookupDeleted(client, subject, schema) : undefined
  if (known !== undefined) return known
  const { id, version } = await client.register(subject, schema)
  // Older registries return the id only.
  const found = version === undefined ? await client.lookup(subject, schema) : { id, version }
  if (deleted) await client.deleteVersion(subject, found.version)
  return found
}

async function lookupDeleted(client: RegistryClient, subject: string, schema: NewSchema) {
  try {
    return await client.lookup(subject, schema, { deleted: true })
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return undefined
    throw error
  }
}
