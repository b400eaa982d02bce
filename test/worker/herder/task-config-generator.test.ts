import { expect, it } from 'vitest'
import { systemClock } from '../../../src/common/clock.ts'
import { createLogger, secretMaskerOf } from '../../../src/common/logging/logger.ts'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { ConfigResolver } from '../../../src/worker/configuration/config-resolver.ts'
import { findConnector } from '../../../src/worker/configuration/connector-plugin.ts'
import { TaskConfigGenerator } from '../../../src/worker/herder/task-config-generator.ts'
import type { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { localPluginHost } from '../../support/plugin-host.ts'

it('unknown configuration keys are logged once with a suggestion, when task configurations are generated', async () => {
  const lines: string[] = []
  const logger = createLogger({ write: (line) => void lines.push(line) })
  const config = { 'connector.class': 'HttpSink', topics: 't', 'http.api.url': 'http://h/', 'task.max': '2' }
  const stored = { config, tasks: [] as object[], appliedConfig: undefined as object | undefined }
  const plugins = localPluginHost([httpSink])
  const sink = findConnector(plugins.catalog, config)!
  const generator = new TaskConfigGenerator({
    plugins,
    configs: { state: { connector: () => stored } } as unknown as ConfigStore,
    resolver: new ConfigResolver(new Map(), secretMaskerOf(logger)),
    clock: systemClock,
    logger,
    async putTasks(_, tasks) {
      Object.assign(stored, { tasks, appliedConfig: config })
    },
  })
  const { signal } = new AbortController()
  await generator.run('out', sink, signal)
  await generator.run('out', sink, signal)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      connector: 'out',
      keys: [{ key: 'task.max', meant: 'tasks.max' }],
      msg: 'the configuration has unknown keys, which have no effect',
    }),
  ])
})
