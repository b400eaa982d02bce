import { ApiError, type KubernetesApi, MERGE_PATCH } from '../../clients/kubernetes/kubernetes-api.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { API_VERSION } from '../../common/resource-api.ts'
import type { AnnotationName } from '../../operator/main.ts'
import { orMeant } from '../command.ts'
import { ageOf } from '../terminal/age.ts'
import { green, red, yellow } from '../terminal/style.ts'
import type { ListingColumn } from './listing.ts'
import { type ChangeOutcome, NotFoundError, type ResourceSource } from './resource-source.ts'
import type { ResourceWord } from './resource-words.ts'

/** A resource as the API server returns it; of its content only what the columns show. */
type Manifest = {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] }
}
type Condition = { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }

type Annotations = Partial<Record<AnnotationName, string>>

const READY: readonly ListingColumn<Manifest>[] = [
  {
    title: 'READY',
    cell: (row) => ready(row)?.status ?? '',
    style: (row) => {
      const status = ready(row)?.status
      return status === 'True' ? green : status === 'False' ? red : yellow
    },
  },
  { title: 'REASON', cell: (row) => ready(row)?.reason ?? '' },
  { title: 'AGE', cell: ({ metadata }) => ageOf(metadata.creationTimestamp ?? '', Date.now()) },
  { title: 'MESSAGE', isWide: true, cell: (row) => ready(row)?.message ?? '' },
]
/** Those printer columns of the CustomResourceDefinitions that a list of many resources needs. */
const COLUMNS: Readonly<Record<ResourceWord, readonly ListingColumn<Manifest>[]>> = {
  connector: [
    { title: 'NAME', cell: ({ metadata }) => metadata.name },
    { title: 'WORKER', cell: ({ spec }) => textAt(spec, 'workerRef', 'name') },
    { title: 'TARGET', cell: ({ spec }) => textAt(spec, 'state') },
    { title: 'STATE', cell: ({ status }) => textAt(status, 'state') },
    { title: 'TASKS', cell: ({ status }) => textAt(status, 'tasks', 'summary') },
    { title: 'CLASS', isWide: true, cell: ({ spec }) => textAt(spec, 'class') },
    ...READY,
  ],
  subject: [
    { title: 'NAME', cell: ({ metadata }) => metadata.name },
    { title: 'REGISTRY', cell: ({ spec }) => textAt(spec, 'registryRef', 'name') },
    { title: 'VERSION', cell: ({ status }) => textAt(status, 'version') },
    { title: 'ID', cell: ({ status }) => textAt(status, 'id') },
    { title: 'LEVEL', isWide: true, cell: ({ spec }) => textAt(spec, 'compatibility') },
    ...READY,
  ],
}

/** Resources of weir.dev in a namespace. A change is a change of the resource, which its operator carries out. */
export function kubernetesResources(
  api: KubernetesApi,
  namespace: string,
  kind: ResourceWord,
): ResourceSource<Manifest> {
  const path = `/apis/${API_VERSION}/namespaces/${encodeURIComponent(namespace)}/${kind}s`
  const list = async () => (await api.send<{ readonly items: readonly Manifest[] }>({ method: 'GET', path })).items
  const call = async (name: string, method: 'GET' | 'PATCH' | 'DELETE', body?: unknown): Promise<Manifest> => {
    try {
      const request = { method, path: `${path}/${encodeURIComponent(name)}` } as const
      return await api.send<Manifest>(body === undefined ? request : { ...request, body, contentType: MERGE_PATCH })
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      const known = (await list()).map(({ metadata }) => metadata.name)
      const meant = orMeant(name, known, `weir get ${kind}s lists all`)
      throw new NotFoundError(`${kind} '${name}' does not exist in namespace ${namespace}; ${meant}`, { cause: error })
    }
  }
  const patch =
    (done: string, body: () => unknown) =>
    async (name: string): Promise<ChangeOutcome> => {
      await call(name, 'PATCH', body())
      return { done, note: 'its operator carries it out' }
    }
  const target = (state: string) => patch(`set to ${state}`, () => ({ spec: { state } }))
  const scopeOf = (task: number | undefined, onlyFailed: boolean | undefined) =>
    task !== undefined ? `tasks=${task}` : onlyFailed === true ? 'failed' : 'all'
  return {
    columns: COLUMNS[kind],
    nameOf: ({ metadata }) => `${kind}/${metadata.name}`,
    dataOf: (row) => row,
    names: async () => (await list()).map(({ metadata }) => metadata.name).sort(),
    rows: async (names) => (names.length === 0 ? list() : mapConcurrently(names, (name) => call(name, 'GET'))),
    async describe(name) {
      const manifest = await call(name, 'GET')
      const conditions = manifest.status?.conditions ?? []
      return {
        data: manifest,
        sections: [
          {
            fields: COLUMNS[kind].flatMap(({ title, cell }) =>
              title === 'MESSAGE' ? [] : [[`${title[0]}${title.slice(1).toLowerCase()}`, cell(manifest)] as const],
            ),
          },
          {
            title: 'Conditions',
            table: [
              ['TYPE', 'STATUS', 'REASON', 'MESSAGE'],
              ...conditions.map(({ type, status, reason = '', message = '' }) => [type, status, reason, message]),
            ],
          },
          { title: 'Spec', text: JSON.stringify(manifest.spec ?? {}, undefined, 2) },
        ],
      }
    },
    changes: {
      delete: async (name) => {
        await call(name, 'DELETE')
        return { done: 'deleted', note: 'its operator carries out its deletionPolicy' }
      },
      ...(kind === 'connector' && {
        pause: target('Paused'),
        resume: target('Running'),
        stop: target('Stopped'),
        restart: (name, { task, onlyFailed }) =>
          patch('restart requested', () => ({
            metadata: {
              annotations: {
                'weir.dev/restart-requested-at': new Date().toISOString(),
                'weir.dev/restart-scope': scopeOf(task, onlyFailed),
              } satisfies Annotations,
            },
          }))(name),
      }),
    },
  }
}

function ready({ status }: Manifest): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

function textAt(from: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], from)
  return found === undefined || found === null ? '' : String(found)
}
