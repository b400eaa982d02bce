import type { Broker } from '../../broker/broker.ts'
import { isMissing } from '../../broker/broker-error.ts'
import { undefinedIfNotFound } from '../../clients/http-client.ts'
import type { WorkerActivityClient } from '../../clients/worker-activity-client.ts'
import type { WorkerClient } from '../../clients/worker-client.ts'

/** How far a sink is in a partition. Null: not known. */
export type SinkLag = {
  readonly topic: string
  readonly partition: number
  readonly offset: number | null
  /** The first offset that cannot be read yet. */
  readonly end: number | null
  readonly lag: number | null
}

/**
 * The group of a sink, if it is on the brokers of its worker. Overrides of the connector may name another group, and other brokers.
 */
export function sinkGroup(name: string, config: Readonly<Record<string, string>>): string | undefined {
  if (config['consumer.override.bootstrap.servers'] !== undefined) return undefined
  return config['consumer.override.group.id'] ?? `connect-${name}`
}

/** The difference of the end of each partition and of the committed offset, whether the sink runs or not. */
export async function lagOnBroker(
  { groups, topics }: Pick<Broker, 'groups' | 'topics'>,
  groupId: string,
): Promise<readonly SinkLag[]> {
  const committed = await groups.offsets(groupId)
  const names = [...new Set(committed.map(({ topic }) => topic))]
  const ends = await Promise.all(
    // A topic may have been deleted, and its offsets stay.
    names.map((topic) =>
      topics.offsets(topic, 'latest').catch((error) => (isMissing(error) ? [] : Promise.reject(error))),
    ),
  )
  const endOf = new Map(ends.flat().map(({ topic, partition, offset }) => [keyOf(topic, partition), offset]))
  return inOrder(
    committed.map(({ topic, partition, offset }) => {
      const end = endOf.get(keyOf(topic, partition)) ?? null
      return { topic, partition, offset, end, lag: end === null ? null : Math.max(0, end - offset) }
    }),
  )
}

/**
 * The committed offsets that the worker reports, and what its workers measured in the last ten seconds, while the sink runs.
 * `isMeasured`: Kafka Connect's workers measure nothing.
 */
export async function lagByWorkers(
  client: Pick<WorkerClient, 'offsets'>,
  activity: Pick<WorkerActivityClient, 'lags'>,
  connector: string,
): Promise<{ readonly isMeasured: boolean; readonly lags: readonly SinkLag[] }> {
  const [committed, lagOf] = await Promise.all([
    client.offsets(connector),
    undefinedIfNotFound(activity.lags(connector)),
  ])
  const lags = committed.map(({ partition, offset }) => {
    const [topic, number] = [String(partition?.['kafka_topic']), Number(partition?.['kafka_partition'])]
    const at = offset === null ? null : Number(offset['kafka_offset'])
    return { topic, partition: number, offset: at, end: null, lag: lagOf?.(`${topic}-${number}`) ?? null }
  })
  return { isMeasured: lagOf !== undefined, lags: inOrder(lags) }
}

function keyOf(topic: string, partition: number): string {
  return `${partition} ${topic}`
}

function inOrder(lags: readonly SinkLag[]): readonly SinkLag[] {
  return lags.toSorted((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1))
}
