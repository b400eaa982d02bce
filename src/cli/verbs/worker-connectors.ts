import { type Endpoint, RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import { createWorkerActivityClient } from '../../clients/worker-activity-client.ts'
import {
  createWorkerClient,
  type ExpandedConnector,
  OWNER_KEY,
  type WorkerClient,
} from '../../clients/worker-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { maskConfig } from '../../common/secrets/secret-keys.ts'
import { shownState, toneOf } from '../../common/state-glossary.ts'
import { readConnector } from '../collect-connectors.ts'
import { orMeant } from '../command.ts'
import { green, red, type Style, yellow } from '../terminal/style.ts'
import { type ChangeOutcome, type Description, NotFoundError, type ResourceSource } from './resource-source.ts'

export type WorkerConnectorRow = {
  readonly name: string
  readonly type: string
  readonly class: string
  readonly state: string
  readonly tasks: { readonly running: number; readonly total: number }
  readonly workers: readonly string[]
  /** The first line of the failure. */
  readonly reason: string
}

const STYLES: Readonly<Record<string, Style>> = { good: green, waiting: yellow, bad: red }

/** The connectors of a worker cluster. */
export function workerConnectors(
  endpoint: Endpoint,
): ResourceSource<WorkerConnectorRow> & { readonly client: WorkerClient } {
  const client = createWorkerClient(endpoint)
  const found = <T>(name: string, request: Promise<T>) => request.catch((error) => notFound(client, name, error))
  const existing = async (name: string): Promise<ExpandedConnector> => {
    const info = await found(name, client.get(name))
    const status = await undefinedIfNotFound(client.status(name))
    return { info, ...(status && { status }) }
  }
  const change =
    (done: string, run: (name: string) => Promise<unknown>) =>
    async (name: string): Promise<ChangeOutcome> => {
      const { config } = await found(name, client.get(name))
      await found(name, run(name))
      return { done, note: noteOf(config[OWNER_KEY]) }
    }
  return {
    client,
    columns: [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'STATE', cell: ({ state }) => state, style: ({ state }) => STYLES[toneOf(state)] },
      { title: 'TASKS', cell: ({ tasks: { running, total } }) => `${running}/${total}` },
      { title: 'TYPE', cell: ({ type }) => type },
      { title: 'CLASS', cell: (row) => row.class.slice(row.class.lastIndexOf('.') + 1) },
      { title: 'WORKERS', isWide: true, cell: ({ workers }) => workers.join(',') },
      { title: 'REASON', isWide: true, cell: ({ reason }) => reason },
    ],
    nameOf: ({ name }) => `connector/${name}`,
    dataOf: (row) => row,
    names: async () => [...(await client.names())].sort(),
    async rows(names) {
      if (names.length === 0) {
        const listed = new Map(Object.entries(await client.list()))
        const all = [...(await client.names())].sort()
        // The list leaves out connectors without a status.
        return mapConcurrently(all, async (name) =>
          rowOf(name, listed.get(name) ?? (await readConnector(client, name))),
        )
      }
      return mapConcurrently(names, async (name) => rowOf(name, await existing(name)))
    },
    async describe(name) {
      const connector = await existing(name)
      const [topics, rights] = await Promise.all([
        client.topics(name),
        // A Java worker does not know them.
        undefinedIfNotFound(createWorkerActivityClient(endpoint).rights(name)),
      ])
      return describe(name, connector, topics, rights)
    },
    changes: {
      pause: change('paused', (name) => client.pause(name)),
      resume: change('resumed', (name) => client.resume(name)),
      stop: change('stopped', (name) => client.stop(name)),
      delete: change('deleted', (name) => client.delete(name)),
      restart: (name, { task, onlyFailed = false }) =>
        change('restarted', () =>
          task === undefined
            ? client.restart(name, { includeTasks: true, onlyFailed })
            : client.restartTask(name, task),
        )(name).then(({ done }) => ({ done })),
    },
  }
}

/** The error of a name that does not exist, with the name that is meant. */
export async function notFound(client: WorkerClient, name: string, error: unknown): Promise<never> {
  if (!(error instanceof RequestError) || error.status !== 404) throw error
  const known = await client.names()
  if (known.includes(name)) throw error
  throw new NotFoundError(
    `connector '${name}' does not exist; ${orMeant(name, known, 'weir get connectors lists all')}`,
    {
      cause: error,
    },
  )
}

function rowOf(name: string, { info, status }: ExpandedConnector): WorkerConnectorRow {
  const instances = status === undefined ? [] : [status.connector, ...status.tasks]
  const trace = instances.find(({ state, trace }) => state === 'FAILED' && trace)?.trace
  const waiting = instances.find(({ state, trace }) => state === 'UNASSIGNED' && trace)?.trace
  return {
    name,
    type: info?.type ?? status?.type ?? 'unknown',
    class: info?.config['connector.class'] ?? '',
    state: status === undefined ? 'UNASSIGNED' : shownState(status),
    tasks: {
      running: status?.tasks.filter(({ state }) => state === 'RUNNING').length ?? 0,
      total: status?.tasks.length ?? 0,
    },
    workers: [...new Set(instances.map(({ worker_id }) => worker_id).filter(Boolean))],
    reason: firstLine(trace ?? waiting ?? ''),
  }
}

async function describe(
  name: string,
  connector: ExpandedConnector,
  topics: readonly string[],
  rights: readonly string[] | undefined,
): Promise<Description> {
  const row = rowOf(name, connector)
  const { status, info } = connector
  // The code of plugins is loaded only here, because it takes long.
  const { loadPlugins, secretKeysOf } = await import('../../worker/main.ts')
  const { catalog } = await loadPlugins([])
  const config = info?.config ?? {}
  const masked = maskConfig(config, secretKeysOf(config, catalog))
  const traces = status === undefined ? [] : [{ id: undefined, ...status.connector }, ...status.tasks]
  return {
    data: { ...row, config: masked, topics, status: status ?? null, ...(rights && { rights }) },
    sections: [
      {
        fields: [
          ['Name', name],
          ['Type', row.type],
          ['Class', row.class],
          ['State', row.state],
          ['Worker', status?.connector.worker_id],
          ['Managed by', config[OWNER_KEY]],
          ['Topics', topics.join(', ') || undefined],
          ['You may', rights?.join(', ')],
        ],
      },
      {
        title: 'Tasks',
        table: [
          ['ID', 'STATE', 'WORKER', 'REASON'],
          ...(status?.tasks ?? []).map((task) => [
            String(task.id),
            task.state,
            task.worker_id,
            firstLine(task.trace ?? ''),
          ]),
        ],
      },
      { title: 'Configuration', fields: Object.entries(masked).sort(([a], [b]) => (a < b ? -1 : 1)) },
      ...traces.flatMap(({ id, trace, state }) =>
        trace && state === 'FAILED'
          ? [{ title: id === undefined ? 'Failure of the connector' : `Failure of task ${id}`, text: trace.trimEnd() }]
          : [],
      ),
    ],
  }
}

/** An operator restores what its resource declares. */
function noteOf(owner: string | undefined): string | undefined {
  return owner === undefined
    ? undefined
    : `a resource declares this connector (${OWNER_KEY}: ${owner}), and its operator restores what it declares: change its manifest instead`
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]?.slice(0, 500) ?? ''
}
