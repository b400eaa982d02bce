import { type Endpoint, RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import {
  createRegistryClient,
  REGISTRY_ERROR,
  type RegisteredSchema,
  type RegistryClient,
} from '../../clients/registry-client.ts'
import { createWorkerActivityClient } from '../../clients/worker-activity-client.ts'
import { createWorkerClient } from '../../clients/worker-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { type SubjectUse, subjectUses, topicUses } from '../../common/topic-use.ts'
import { orMeant, UsageError } from '../command.ts'
import { type Description, NotFoundError, type ResourceSource, type Section } from './resource-source.ts'

export type SubjectRow = {
  readonly name: string
  readonly version: number
  readonly id: number
  /** Absent unless details are requested. */
  readonly type?: string
  readonly level?: string
}

/** The subjects of a registry, of all contexts. `worker`: the one whose connectors may use them, if it is known. */
export function registrySubjects(
  endpoint: Endpoint,
  worker?: Endpoint,
): ResourceSource<SubjectRow> & { readonly client: RegistryClient } {
  const client = createRegistryClient(endpoint)
  const details = async (name: string): Promise<SubjectRow> => {
    const [{ version, id, schemaType = 'AVRO' }, level] = await Promise.all([
      latestOf(client, name),
      levelOf(client, name),
    ])
    return { name, version, id, type: schemaType, level }
  }
  return {
    client,
    columns: [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'VERSION', cell: ({ version }) => String(version) },
      { title: 'ID', cell: ({ id }) => String(id) },
      { title: 'TYPE', isWide: true, cell: ({ type = '' }) => type },
      { title: 'LEVEL', isWide: true, cell: ({ level = '' }) => level },
    ],
    nameOf: ({ name }) => `subject/${name}`,
    dataOf: (row) => row,
    names: async () => [...(await client.latestVersions()).keys()].sort(),
    async rows(names, isDetailed) {
      if (names.length > 0) return mapConcurrently(names, details)
      const latest = await client.latestVersions()
      const sorted = [...latest.keys()].sort()
      if (isDetailed) return mapConcurrently(sorted, details)
      return sorted.map((name) => ({ name, ...latest.get(name)! }))
    },
    describe: (name) => describe(client, name, worker),
    changes: {
      async delete(name, { isPermanent = false, version }) {
        const what = version === undefined ? '' : ` version ${version}`
        await latestOf(client, name, isPermanent)
        if (version !== undefined) await removeVersion(client, name, numberOf(version), isPermanent)
        else await removeSubject(client, name, isPermanent)
        return isPermanent
          ? { done: `deleted${what} permanently` }
          : {
              done: `deleted${what}`,
              note: 'it is soft-deleted: consumers still read it by its id; --permanent deletes it for good',
            }
      },
    },
  }
}

/** A subject is deleted permanently in two steps, of which the first may have happened before. */
async function removeSubject(client: RegistryClient, name: string, isPermanent: boolean): Promise<void> {
  await ignoring(REGISTRY_ERROR.subjectSoftDeleted, isPermanent, client.deleteSubject(name))
  if (isPermanent) await client.deleteSubject(name, { permanent: true })
}

async function removeVersion(client: RegistryClient, name: string, version: number | 'latest', isPermanent: boolean) {
  await ignoring(REGISTRY_ERROR.versionSoftDeleted, isPermanent, client.deleteVersion(name, version))
  if (isPermanent) await client.deleteVersion(name, version, { permanent: true })
}

async function ignoring(code: number, isIgnored: boolean, request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!(isIgnored && error instanceof RequestError && error.errorCode === code)) throw error
  }
}

/** Throws a `UsageError`. */
export function numberOf(version: string): number | 'latest' {
  if (version === 'latest' || version === '-1') return 'latest'
  const number = Number(version)
  if (/^\d{1,9}$/.test(version) && number > 0) return number
  throw new UsageError(`version ${version}: expected a number from 1, or latest`)
}

/** A version of a subject; rejects with a `NotFoundError` that names the versions which exist, or the subject that is meant. */
export async function versionOf(
  client: RegistryClient,
  name: string,
  version: number | 'latest',
): Promise<RegisteredSchema> {
  try {
    return await client.version(name, version)
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 404) throw error
    const versions = await client.versions(name).catch(() => [])
    if (versions.length > 0)
      throw new NotFoundError(`subject '${name}' has no version ${version}; its versions are ${versions.join(', ')}`, {
        cause: error,
      })
    const known = await client.subjects()
    throw new NotFoundError(
      `subject '${name}' does not exist; ${orMeant(name, known, 'weir get subjects lists all')}`,
      {
        cause: error,
      },
    )
  }
}

async function latestOf(client: RegistryClient, name: string, allowsDeleted = false): Promise<RegisteredSchema> {
  if (allowsDeleted) {
    const versions = await client.versions(name, { deleted: true }).catch(() => [])
    const last = versions.at(-1)
    if (last !== undefined) return client.version(name, last, { deleted: true })
  }
  return versionOf(client, name, 'latest')
}

async function levelOf(client: RegistryClient, name: string): Promise<string> {
  return (await client.config(name, { effective: true })).compatibility ?? ''
}

async function describe(client: RegistryClient, name: string, worker: Endpoint | undefined): Promise<Description> {
  const latest = await versionOf(client, name, 'latest')
  const [versions, level, mode, usedBy] = await Promise.all([
    client.versions(name),
    levelOf(client, name),
    client.mode(name, { effective: true }),
    // A subject can be described while the worker does not respond.
    worker && usersOf(name, worker).catch(requestErrorOf),
  ])
  const { version, id, schemaType = 'AVRO', references = [], metadata, ruleSet, schema } = latest
  return {
    data: {
      ...{ name, version, id, type: schemaType, level, mode, versions, references, metadata, ruleSet, schema },
      ...(usedBy && !(usedBy instanceof RequestError) && { usedBy }),
    },
    sections: [
      {
        fields: [
          ['Name', name],
          ['Type', schemaType],
          ['Version', String(version)],
          ['ID', String(id)],
          ['Versions', versions.join(', ')],
          ['Level', level],
          ['Mode', mode],
          ...userFields(usedBy),
        ],
      },
      ...(references.length === 0
        ? []
        : [
            {
              title: 'References',
              table: [
                ['NAME', 'SUBJECT', 'VERSION'],
                ...references.map((one) => [one.name, one.subject, String(one.version)]),
              ],
            },
          ]),
      ...(metadata === undefined ? [] : [{ title: 'Metadata', text: JSON.stringify(metadata, undefined, 2) }]),
      ...(ruleSet === undefined ? [] : [{ title: 'Rules', text: JSON.stringify(ruleSet, undefined, 2) }]),
      { title: 'Schema', text: prettySchema(latest) },
    ],
  }
}

/** The topics and connectors of a worker that use a subject, by their configurations and by what they have used. */
async function usersOf(name: string, worker: Endpoint): Promise<SubjectUse> {
  const [connectors, used] = await Promise.all([
    createWorkerClient(worker).list(),
    // A Java worker does not list them.
    undefinedIfNotFound(createWorkerActivityClient(worker).topics()),
  ])
  return subjectUses(topicUses(connectors, used))(name)
}

function requestErrorOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  throw error
}

function userFields(usedBy: SubjectUse | RequestError | undefined): NonNullable<Section['fields']> {
  if (usedBy === undefined) return []
  if (usedBy instanceof RequestError) return [['Used by', `unknown: ${usedBy.message}`]]
  return [
    ['Used by topics', usedBy.topics.join(', ') || 'none that is known'],
    ['Used by connectors', usedBy.connectors.join(', ') || 'none that is known'],
  ]
}

/** The schema with line breaks: as JSON, or as Protobuf is stored. */
export function prettySchema({ schema, schemaType }: Pick<RegisteredSchema, 'schema' | 'schemaType'>): string {
  if (schemaType === 'PROTOBUF') return schema.trimEnd()
  try {
    return JSON.stringify(JSON.parse(schema), undefined, 2)
  } catch {
    // A registry may store what is no JSON text.
    return schema
  }
}
