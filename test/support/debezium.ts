import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { DebeziumAddress, DebeziumConnector } from '../env/debezium.ts'
import type { JavaHostAddress } from '../env/java-host.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Worker settings with these connectors in the plugin path, each in a directory with its jars. */
export function debeziumSettings(
  javaHost: JavaHostAddress,
  debezium: DebeziumAddress,
  connectors: readonly DebeziumConnector[],
): Readonly<Record<string, string>> {
  const pluginPath = join(temporaryDirectory(), 'plugins')
  for (const connector of connectors) {
    const location = join(pluginPath, `debezium-connector-${connector}`)
    mkdirSync(location, { recursive: true })
    for (const jar of debezium[connector]) symlinkSync(jar, join(location, basename(jar)))
  }
  return {
    'plugin.path': pluginPath,
    'java.host.directory': javaHost.directory,
    'java.host.heap.max': '256m',
    'offset.flush.interval.ms': '500',
    'heartbeat.interval.ms': '500',
    'session.timeout.ms': '6000',
    'scheduled.rebalance.max.delay.ms': '0',
    // A machine that is busy with other tests gives no processor for long.
    'worker.thread.blocked.max.ms': '60000',
  }
}

export type TopicRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
}

/** Reads the committed records of partition 0. Empty if the topic does not exist. */
export async function readTopic(bootstrap: string, topic: string): Promise<readonly TopicRecord[]> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  try {
    if ((await broker.topics.describe(topic)) === undefined) return []
    const [end] = await broker.topics.offsets(topic, 'latest', 'read_committed')
    const reader = broker.reader({ isolation: 'read_committed' })
    reader.seek([{ topic, partition: 0, offset: 0 }])
    const records: TopicRecord[] = []
    for (let next = 0; next < end!.offset; ) {
      for (const polled of await reader.poll(2_000)) {
        for (const { key, value, headers } of polled.records) {
          records.push({ key, value, headers: Object.fromEntries(headers.map(([name, text]) => [name, String(text)])) })
        }
        next = polled.nextOffset
      }
    }
    return records
  } finally {
    await broker.close()
  }
}

/** The value of a record that a `JsonConverter` wrote, with or without its schema. */
export function parseJson(bytes: Buffer | null): Readonly<Record<string, unknown>> | null {
  if (bytes === null) return null
  const parsed = JSON.parse(bytes.toString()) as { readonly schema?: object; readonly payload?: object | null }
  return (parsed.schema === undefined ? parsed : (parsed.payload ?? null)) as Readonly<Record<string, unknown>> | null
}
