import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { RawConfig } from '../../src/sdk/index.ts'
import { UNRESTRICTED } from '../../src/sdk/index.ts'
import { parseOverridePolicy } from '../../src/worker/model/override-policy.ts'
import { Worker, type WorkerServices } from '../../src/worker/worker.ts'
import { localPluginHost } from '../support/plugin-host.ts'
import { createTestWorkRunner, SOURCE } from '../support/work-runner.ts'

it('applies changes of one connector one after the other, however long a write takes', async () => {
  const { worker } = slowWorker()
  const made = await Promise.allSettled([worker.create('c', SOURCE, 'plain'), worker.create('c', SOURCE, 'plain')])
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await Promise.all(['a', 'b'].map((key) => worker.patchConfig('c', { [key]: '1' }, 'plain')))
  expect(worker.config('c', 'plain')).toMatchObject({ a: '1', b: '1' })
})

it('applies changes of other connectors concurrently', async () => {
  const { worker, begun } = slowWorker()
  await Promise.all([worker.create('c', SOURCE, 'plain'), worker.create('d', { ...SOURCE, name: 'd' }, 'plain')])
  expect(begun).toEqual(['c begins', 'd begins', 'c ends', 'd ends'])
})

/** One whose config topic takes its time. */
function slowWorker() {
  const { parts, configs } = createTestWorkRunner()
  const begun: string[] = []
  const putConnector = async (connector: string, config: RawConfig) => {
    begun.push(`${connector} begins`)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    configs.apply({ kind: 'connector', connector, config })
    begun.push(`${connector} ends`)
  }
  const { plugins, statuses, resolver } = parts
  const worker = new Worker({
    plugins,
    statuses,
    resolver,
    configs: { ...parts.configs, putConnector } as unknown as WorkerServices['configs'],
    herder: {} as WorkerServices['herder'],
    offsets: {} as WorkerServices['offsets'],
    topicTracking: { enabled: true, resettable: true },
    validation: {
      plugins: localPluginHost(),
      groupId: 'workers',
      exactlyOnceSources: false,
      workerDefaults: {},
      overrides: parseOverridePolicy('All', [])!,
      access: UNRESTRICTED,
    },
  })
  return { worker, begun }
}
