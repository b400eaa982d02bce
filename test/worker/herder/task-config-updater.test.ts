import { expect, it } from 'vitest'
import { systemClock } from '../../../src/common/clock.ts'
import { createLogger, secretMaskerOf } from '../../../src/common/logging/logger.ts'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { ConfigResolver } from '../../../src/worker/configuration/config-resolver.ts'
import { findConnector } from '../../../src/worker/configuration/connector-plugin.ts'
import { TaskConfigUpdater } from '../../../src/worker/herder/task-config-updater.ts'
import { ConnectorRaisedError } from '../../../src/worker/plugin-host.ts'
import type { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { localPluginHost } from '../../support/plugin-host.ts'

it('unknown configuration keys are logged once with a suggestion, when task configurations are generated', async () => {
  const lines: string[] = []
  const logger = createLogger({ write: (line) => void lines.push(line) })
  const config = { 'connector.class': 'HttpSink', topics: 't', 'http.api.url': 'http://h/', 'task.max': '2' }
  const stored = { config, tasks: [] as object[], appliedConfig: undefined as object | undefined }
  const plugins = localPluginHost([httpSink])
  const sink = findConnector(plugins.catalog, config)!
  const generator = new TaskConfigUpdater({
    plugins,
    configs: { state: { connector: () => stored } } as unknown as ConfigStore,
    resolver: new ConfigResolver(new Map(), secretMaskerOf(logger)),
    clock: systemClock,
    logger,
    async putTasks(_, tasks) {
      Object.assign(stored, { tasks, appliedConfig: config })
    },
  })
  const generation = { signal: new AbortController().signal, onWaiting: () => undefined }
  await generator.run('out', sink, generation)
  await generator.run('out', sink, generation)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      connector: 'out',
      keys: [{ key: 'task.max', meant: 'tasks.max' }],
      msg: 'the configuration has unknown keys, which have no effect',
    }),
  ])
})

it('a connector that reports its failure is asked for tasks no more', async () => {
  const config = { 'connector.class': 'HttpSink', topics: 't', 'http.api.url': 'http://h/' }
  const plugins = localPluginHost([httpSink])
  const sink = findConnector(plugins.catalog, config)!
  let calls = 0
  const generator = new TaskConfigUpdater({
    plugins: {
      catalog: plugins.catalog,
      call: (async () => {
        calls += 1
        if (calls === 2) throw new Error('not reachable now')
        if (calls === 4) throw new ConnectorRaisedError({ message: 'gone', trace: 'java.lang.RuntimeException: gone' })
        return { configs: [], taskClass: undefined, againMs: 1 }
      }) as unknown as typeof plugins.call,
    },
    configs: { state: { connector: () => ({ config, tasks: [], appliedConfig: config }) } } as unknown as ConfigStore,
    resolver: new ConfigResolver(new Map(), secretMaskerOf(createLogger({ write: () => undefined }))),
    clock: { ...systemClock, sleep: async () => undefined },
    logger: createLogger({ write: () => undefined }),
    putTasks: async () => undefined,
  })
  const running = generator.run('out', sink, { signal: new AbortController().signal, onWaiting: () => undefined })
  await expect(running).rejects.toMatchObject({ message: 'gone', stack: 'java.lang.RuntimeException: gone' })
  expect(calls).toBe(4)
})
