import type { BrokerAddress } from '../../broker/home.ts'
import { openBroker } from '../../broker/open.ts'
import { startAll } from '../../config/lifecycle.ts'
import type { Logger } from '../../config/logger.ts'
import { createMetrics, type Metrics } from '../../config/metrics.ts'
import type { Setting } from '../../config/settings.ts'
import { type Operator, startOperator } from '../../operator/main.ts'
import { startRegistry } from '../../registry/main.ts'
import { registrySettings } from '../../registry/settings.ts'
import { startWorker } from '../../worker/main.ts'
import { workerSettings } from '../../worker/settings.ts'

export type StackOptions = {
  readonly manifests: string
  readonly address: BrokerAddress
  readonly registryPort: number
  readonly workerPort: number
  /** Settings of a person's own. */
  readonly written: { readonly registry: readonly Setting[]; readonly worker: readonly Setting[] }
  readonly logger: Logger
}

/** Everything that `weir up` runs, in one process. */
export type Stack = {
  readonly registryUrl: string
  readonly workerUrl: string
  readonly operator: Operator
  readonly metrics: Metrics
  stop(): Promise<void>
}

/** Local looks are cheap, and somebody watches. */
const OBSERVE_WORKER_MS = 500
const RESYNC_MS = 5_000

/** Starts broker, registry, worker and operator, each on the ones before it. What fails leaves nothing running. */
export function startStack(options: StackOptions): Promise<Stack> {
  const { logger, manifests, address, registryPort, workerPort, written } = options
  return startAll(logger, async (life) => {
    const metrics = createMetrics()
    const broker = await openBroker(address, { logger })
    life.onStop('broker', () => broker.close())
    const runtime = { broker, logger, metrics }
    const ownRegistry = defaults({ listeners: `http://127.0.0.1:${registryPort}` })
    const registry = await startRegistry(registrySettings([...ownRegistry, ...written.registry]), runtime)
    life.onStop('registry', () => registry.stop())
    const ownWorker = defaults(workerDefaults(workerPort, registry.url))
    const worker = await startWorker(workerSettings([...ownWorker, ...written.worker]), runtime)
    life.onStop('worker', () => worker.stop())
    const operator = await startOperator({
      cluster: { kind: 'directory', path: manifests },
      registryUrl: registry.url,
      workerUrl: worker.url,
      logger,
      observeWorkerMs: OBSERVE_WORKER_MS,
      resyncMs: RESYNC_MS,
    })
    life.onStop('operator', () => operator.stop())
    return { registryUrl: registry.url, workerUrl: worker.url, operator, metrics, stop: () => life.stop() }
  })
}

/** What fits the parts to each other, as settings that a person's own win over. */
function defaults(settings: Readonly<Record<string, string>>): readonly Setting[] {
  return Object.entries(settings).map(([key, value]) => ({ key, value, source: 'weir up' }))
}

/** Converters that fit the registry beside it, so that a manifest need not know its port; a connector may name others. */
function workerDefaults(port: number, registryUrl: string): Readonly<Record<string, string>> {
  return {
    listeners: `http://127.0.0.1:${port}`,
    'group.id': 'weir-up',
    'offset.flush.interval.ms': '1000',
    'key.converter': 'StringConverter',
    'value.converter': 'AvroConverter',
    'value.converter.schema.registry.url': registryUrl,
  }
}
