import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MASK } from '../../../src/common/secrets/secret-keys.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { Herder, type HerderOptions } from '../../../src/worker/herder/herder.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { WorkerError } from '../../../src/worker/model/worker-error.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { OPEN_VALIDATION } from '../../support/topic-access.ts'
import { createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

it('applies changes of one connector one after the other, however long a write takes', async () => {
  const { worker } = slowWorker()
  const results = await Promise.allSettled([worker.create('c', SOURCE, 'plain'), worker.create('c', SOURCE, 'plain')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await Promise.all(['a', 'b'].map((key) => worker.patchConfig('c', { [key]: '1' }, 'plain')))
  expect(worker.config('c', 'plain')).toMatchObject({ a: '1', b: '1' })
})

it('stores the secret of the change before when a configuration that was read with masks is written back', async () => {
  const { worker } = slowWorker()
  await worker.create('c', { ...SOURCE, 'api.password': 'first' }, 'plain')
  await Promise.all([
    worker.putConfig('c', { ...SOURCE, 'api.password': 'second' }, 'plain'),
    worker.putConfig('c', { ...SOURCE, 'api.password': MASK, note: 'edited' }, 'masked'),
  ])
  expect(worker.config('c', 'plain')).toMatchObject({ 'api.password': 'second', note: 'edited' })
})

it('writes nothing when another worker became the leader during the validation', async () => {
  const { worker, leadership } = slowWorker()
  await worker.create('c', SOURCE, 'plain')
  const changes = [
    worker.create('d', { ...SOURCE, name: 'd' }, 'plain'),
    worker.putConfig('c', { ...SOURCE, a: '1' }, 'plain'),
  ]
  leadership.isLost = true
  for (const change of changes) await expect(change).rejects.toMatchObject({ code: 'rebalancing' })
  await expect(worker.delete('c')).rejects.toMatchObject({ code: 'rebalancing' })
  await expect(worker.setTarget('c', 'STOPPED')).rejects.toMatchObject({ code: 'rebalancing' })
  expect(worker.names()).toEqual(['c'])
  expect(worker.config('c', 'plain')).not.toHaveProperty('a')
})

it('applies changes of other connectors concurrently', async () => {
  const { worker, steps } = slowWorker()
  await Promise.all([worker.create('c', SOURCE, 'plain'), worker.create('d', { ...SOURCE, name: 'd' }, 'plain')])
  expect(steps).toEqual(['c begins', 'd begins', 'c ends', 'd ends'])
})

/** A worker whose config topic is slow. */
function slowWorker() {
  const { parts, configs } = createTestWorkRunner()
  const steps: string[] = []
  const leadership = { isLost: false }
  const putConnector = async (connector: string, config: RawConfig) => {
    steps.push(`${connector} begins`)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    configs.apply({ kind: 'connector', connector, config })
    steps.push(`${connector} ends`)
  }
  const { plugins, statuses, resolver } = parts
  const worker = new Herder({
    plugins,
    statuses,
    resolver,
    configs: { ...parts.configs, putConnector } as unknown as HerderOptions['configs'],
    reconciler: {} as HerderOptions['reconciler'],
    leader: {
      assertLeader() {
        if (leadership.isLost) throw new WorkerError('rebalancing', 'this worker is not the leader of its group')
      },
    },
    offsets: {} as HerderOptions['offsets'],
    topicTracking: { enabled: true, resettable: true },
    validation: {
      plugins: localPluginHost(),
      groupId: 'workers',
      exactlyOnceSources: false,
      workerDefaults: {},
      overrides: parseOverridePolicy('All', [])!,
      access: UNRESTRICTED,
      ...OPEN_VALIDATION,
    },
  })
  return { worker, steps, leadership }
}
