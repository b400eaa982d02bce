import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import type { ProcessPluginHostOptions } from '../../src/worker/isolation/plugins/process-plugin-host.ts'
import { startWorker, type WorkerDependencies } from '../../src/worker/main.ts'
import { workerSettings } from '../../src/worker/settings.ts'
import { localPluginHost } from './plugin-host.ts'
import { SHIPPED } from './shipped-plugins.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const openPlugins = async ({ access }: ProcessPluginHostOptions) => ({
  ...localPluginHost(SHIPPED, access),
  modules: { urls: [], java: [] },
  faults: [],
  close: () => undefined,
})

export type TestWorker = { readonly url: string; readonly broker: Broker; stop(): Promise<void> }
type AtEnd = (end: () => Promise<void> | void) => void

/** Starts one worker for all tests of a file, which is stopped after them. Returns a function that returns it. */
export function sharedTestWorker(start: (atEnd: AtEnd) => Promise<TestWorker>): () => TestWorker {
  let worker: TestWorker | undefined
  const ends: (() => Promise<void> | void)[] = []
  beforeAll(async () => {
    worker = await start((end) => ends.unshift(end))
  })
  afterAll(async () => {
    for (const end of ends) await end()
  })
  return () => worker!
}

/**
 * Starts a complete worker in this process on a new embedded broker. It is stopped at the end of the test, or by what
 * `atEnd` receives, the last function first.
 */
export async function startTestWorker(
  settings: Readonly<Record<string, string>> = {},
  own: Partial<Pick<WorkerDependencies, 'openPlugins' | 'logger'>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<TestWorker> {
  const logger = silentLogger()
  const directory = join(temporaryDirectory(tmpdir(), atEnd), 'data')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger })
  atEnd(() => broker.close())
  return startTestWorkerOn(broker, settings, { logger, ...own }, atEnd)
}

/** Starts a complete worker in this process on a broker. */
export async function startTestWorkerOn(
  broker: Broker,
  settings: Readonly<Record<string, string>>,
  own: Partial<Pick<WorkerDependencies, 'openPlugins'>> & Pick<WorkerDependencies, 'logger'>,
  atEnd: AtEnd = onTestFinished,
): Promise<TestWorker> {
  const written = { listeners: 'http://127.0.0.1:0', ...settings }
  const parsed = workerSettings(Object.entries(written).map(([key, value]) => ({ key, value, source: 'the test' })))
  const worker = await startWorker(parsed, { broker, metrics: createMetrics(), openPlugins, ...own })
  atEnd(() => worker.stop())
  return { url: worker.url, broker, stop: () => worker.stop() }
}
