import type { Broker } from '../../broker/broker.ts'
import type { Endpoint } from '../../clients/http-client.ts'
import { createWorkerClient, type WorkerClient } from '../../clients/worker-client.ts'
import { messageOf } from '../../common/errors.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { pluginNames } from '../../plugins/plugin-catalog.ts'
import { shippedPlugins } from '../../plugins/shipped-plugins.ts'
import { collectConnectors } from '../collect-connectors.ts'
import { type GroupConnectors, type WorkerTakeoverInput, workerUrl } from './worker-takeover.ts'

export type WorkerGroupLocation = {
  readonly groupId: string
  readonly topics: readonly string[]
  /** A worker of the group. Default: those that its members name, without credentials, because any client can be a member. */
  readonly worker: Endpoint | undefined
  readonly tls: Endpoint['tls']
}

const TIMEOUT_MS = 10_000

/** Reads what a takeover of a worker group depends on. Rejects with a `BrokerError` when the broker cannot be read. */
export async function readWorkerGroup(
  broker: Broker,
  { groupId, topics, worker, tls }: WorkerGroupLocation,
): Promise<WorkerTakeoverInput> {
  const group = await broker.groups.describe(groupId)
  const known = new Set(await broker.topics.list())
  const members = group.members.map(({ metadata }) => ({ url: workerUrl(metadata), ...(tls && { tls }) }))
  const connectors = (await shippedPlugins())
    .filter(({ kind }) => kind === 'source' || kind === 'sink')
    .map(pluginNames)
  return {
    group,
    ...(await readConnectors(worker === undefined ? members : [worker])),
    missingTopics: topics.filter((topic) => !known.has(topic)),
    namesOf: (className) => connectors.find((names) => names.includes(className)) ?? [],
  }
}

async function readConnectors(
  workers: readonly Endpoint[],
): Promise<{ readonly connectors: GroupConnectors; readonly problem?: string }> {
  let problem = 'the group has no worker that could be asked (--worker URL names one)'
  for (const worker of workers) {
    try {
      const client = createWorkerClient({ ...worker, timeoutMs: TIMEOUT_MS })
      const found = Object.entries(await collectConnectors(client))
      const connectors = await mapConcurrently(found, async ([name, { info, status }]) => ({
        name,
        class: info?.config['connector.class'] ?? 'unknown',
        status,
        offsets: await countOffsets(client, name),
      }))
      return { connectors }
    } catch (error) {
      problem = messageOf(error)
    }
  }
  return { connectors: undefined, problem }
}

/** Kafka Connect before version 3.5 has no request for offsets. */
async function countOffsets(client: WorkerClient, name: string): Promise<number | undefined> {
  return client.offsets(name).then(
    (offsets) => offsets.length,
    () => undefined,
  )
}
