import { randomBytes } from 'node:crypto'
import type {
  Broker,
  Consumer,
  NewRecord,
  NewTopic,
  PartitionReaderOptions,
  PartitionRecords,
  StoredRecord,
  TopicPartition,
} from '../../src/broker/broker.ts'
import { whenTestEnds } from '../support/concurrent-tests.ts'
import type { OpenBroker } from './broker.ts'

const POLL_MS = 200
const GIVE_UP_MS = 120_000

export function uniqueName(what: string): string {
  return `${what}-${randomBytes(4).toString('hex')}`
}

/** Opens a broker that is closed at the end of the test. */
export async function opened(open: OpenBroker): Promise<Broker> {
  const broker = await open()
  whenTestEnds(() => broker.close())
  return broker
}

export async function newTopic(broker: Broker, options: Partial<NewTopic> = {}): Promise<string> {
  const name = options.name ?? uniqueName('topic')
  await broker.topics.create({ partitions: 1, replicationFactor: 1, ...options, name })
  return name
}

export const bytes = (text: string): Uint8Array => Buffer.from(text)

export function records(topic: string, values: readonly (string | null)[], more: Partial<NewRecord> = {}): NewRecord[] {
  return values.map((value) => ({ topic, key: null, value: value === null ? null : bytes(value), ...more }))
}

export const textOf = ({ value }: StoredRecord): string | null => value?.toString() ?? null

/** Polls until `done` returns true. Fails after a long timeout instead of hanging. */
export async function pollUntil(
  poll: (waitMs: number) => Promise<readonly PartitionRecords[]>,
  done: (polled: readonly PartitionRecords[]) => boolean,
): Promise<void> {
  for (const endMs = performance.now() + GIVE_UP_MS; ; ) {
    if (done(await poll(POLL_MS))) return
    if (performance.now() > endMs) throw new Error('gave up: it did not come')
  }
}

/** Polls all consumers until `done` returns true. */
export async function pollAll(consumers: readonly Consumer[], done: () => boolean): Promise<void> {
  await pollUntil(
    async (waitMs) => (await Promise.all(consumers.map((consumer) => consumer.poll(waitMs / 4)))).flat(),
    () => done(),
  )
}

/** Polls until the consumer has read at least `count` values and returns them. */
export async function valuesOf(consumer: Consumer, count: number): Promise<(string | null)[]> {
  const values: (string | null)[] = []
  await pollUntil(
    (waitMs) => consumer.poll(waitMs),
    (polled) => {
      values.push(...polled.flatMap(({ records: got }) => got.map(textOf)))
      return values.length >= count
    },
  )
  return values
}

/** Reads all records of the topic, from the beginning to the current end. */
export async function readAll(
  broker: Broker,
  topic: string,
  options: PartitionReaderOptions = {},
  partitions?: readonly TopicPartition[],
): Promise<StoredRecord[]> {
  const starts = (await broker.topics.offsets(topic, 'earliest')).filter(
    ({ partition }) => partitions?.some((wanted) => wanted.partition === partition) ?? true,
  )
  const ends = await broker.topics.offsets(topic, 'latest', options.isolation ?? 'read_committed')
  const reader = broker.reader(options)
  reader.seek(starts)
  const left = new Map(
    starts.map(({ partition, offset }) => [
      partition,
      { at: offset, end: ends.find((end) => end.partition === partition)?.offset ?? 0 },
    ]),
  )
  const found: StoredRecord[] = []
  const isDone = () => [...left.values()].every(({ at, end }) => at >= end)
  if (!isDone()) {
    await pollUntil(
      (waitMs) => reader.poll(waitMs),
      (polled) => {
        for (const { partition, records: got, nextOffset } of polled) {
          found.push(...got)
          const place = left.get(partition)
          if (place) place.at = nextOffset
        }
        return isDone()
      },
    )
  }
  await reader.close()
  return found
}
