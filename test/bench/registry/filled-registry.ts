import { join } from 'node:path'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { type RegistryProcess, startRegistryProcess } from '../../support/registry-process.ts'
import { runClient } from '../client.ts'
import type { Settings } from '../settings.ts'
import { fillTopic } from './schemas.ts'
import type { ReadTask } from './topic-reader.ts'

/** Creates a topic with each of these numbers of schemas. */
export async function fillTopics({ bootstrap }: Settings, counts: readonly number[]): Promise<void> {
  const address = { kind: 'kafka' as const, config: { 'bootstrap.servers': bootstrap } }
  const broker = await openBroker(address, { logger: silentLogger() })
  for (const count of counts) await fillTopic(broker, topicOf(count), count)
  await broker.close()
}

/**
 * Starts a registry on a filled topic. Each uses a new group, because in a group with a killed member it would wait for the
 * session timeout.
 */
export function startFilled(
  { bootstrap }: Settings,
  count: number,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<RegistryProcess> {
  const settings = {
    'brokerstore.topic': topicOf(count),
    'schema.registry.group.id': `bench-${name}`,
    // A busy machine needs more than the default of a minute for 1,000,000 schemas.
    'brokerstore.init.timeout.ms': '120000',
    ...more,
  }
  return startRegistryProcess(['--bootstrap', bootstrap], settings)
}

/** The time in which a process starts and reads a filled topic, and does nothing else, in ms. */
export async function timeToRead({ bootstrap }: Settings, count: number): Promise<number> {
  const startMs = performance.now()
  const task = { bootstrap, topic: topicOf(count), records: count }
  await runClient<ReadTask, unknown>(join(import.meta.dirname, 'topic-reader.ts'), task)
  return performance.now() - startMs
}

function topicOf(count: number): string {
  return `schemas-${count}`
}
