import { join } from 'node:path'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { fileStreamSource } from '../../../src/plugins/connectors/file-stream/file-stream-source.ts'
import { findConnector } from '../../../src/worker/configuration/connector-plugin.ts'
import { generateTaskConfigs } from '../../../src/worker/herder/generate-task-configs.ts'
import type { ConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { partDirectory } from '../../env/workspace.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import type { Settings } from '../settings.ts'
import type { Side } from './sides.ts'

const STRING = 'org.apache.kafka.connect.storage.StringConverter'

/** Writes connectors to the config topic, as a worker would. Each has one task, which waits for a file. Returns the group. */
export async function writeConnectors(
  { bootstrap }: Settings,
  side: Side,
  count: number,
  target: 'STARTED' | 'STOPPED',
): Promise<string> {
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const groupId = `${side.name}-${count}-${Math.round(performance.now())}`
  const topic = { name: `${groupId}-configs`, replicationFactor: 1 }
  const store = await ConfigStore.open({ broker, logger: silentLogger(), topic, onRecord: () => undefined })
  const file = join(partDirectory('waiting'), 'in.txt')
  const records: ConfigRecord[] = []
  const plugins = localPluginHost([fileStreamSource])
  const source = findConnector(plugins.catalog, { 'connector.class': 'FileStreamSource' })!
  for (let at = 0; at < count; at++) {
    const connector = `waits-${at}`
    const own = { name: connector, 'connector.class': 'FileStreamSource', file, topic: 'waiting' }
    const config = { ...own, 'key.converter': STRING, 'value.converter': STRING }
    const { configs: tasks } =
      target === 'STOPPED' ? { configs: [] } : await generateTaskConfigs(plugins, source, config)
    records.push(
      { kind: 'target', connector, target },
      { kind: 'connector', connector, config },
      ...tasks.map((task): ConfigRecord => ({ kind: 'task', connector, task: 0, config: task })),
      { kind: 'commit', connector, tasks: tasks.length },
    )
  }
  await store.write(records)
  await store.close()
  return groupId
}
