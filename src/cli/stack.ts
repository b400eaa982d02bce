import type { BrokerAddress } from '../broker/backend.ts'
import type { Broker } from '../broker/broker.ts'
import { openBroker } from '../broker/open-broker.ts'
import { type RunningProgram, startAll } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import { createMetrics, type Metrics } from '../config/metrics.ts'
import type { Setting } from '../config/settings.ts'
import {
  type ClusterAddress,
  DEFAULT_RUNTIME,
  type Operator,
  type OperatorOptions,
  type RuntimeEvent,
  runtimesConfigFor,
  startOperator,
} from '../operator/main.ts'
import { startRegistry } from '../registry/main.ts'
import { registrySettings } from '../registry/settings.ts'
import { startWorker } from '../worker/main.ts'
import { workerSettings } from '../worker/settings.ts'
import { UsageError } from './command.ts'

export type StackOptions = {
  readonly cluster: ClusterAddress
  /** Of the runtimes that are started here. */
  readonly brokerAddress: BrokerAddress | undefined
  readonly registry: RuntimeOptions
  readonly worker: RuntimeOptions
  readonly operator: Pick<OperatorOptions, 'observeWorkerMs' | 'resyncMs' | 'webhook' | 'instance'>
  /** Workers and registries beside these two. */
  readonly estate?: OperatorOptions['estate']
  /** Where the operator's metrics and probes answer; absent: nowhere. */
  readonly monitoring?: string
  readonly logger: Logger
  /** Called when the registry or the worker that was started here cannot go on: everything has to stop. */
  readonly onFailed?: (error: Error) => void
}

/** A runtime that is somewhere already, or one to start here with settings of a person's own. */
export type RuntimeOptions = { readonly url: string } | { readonly port: number; readonly written: readonly Setting[] }

/** An operator and the runtimes it manages, in one process. */
export type Stack = {
  readonly registryUrl: string
  readonly workerUrl: string
  readonly operator: Operator
  readonly metrics: Metrics
  stop(): Promise<void>
}

/** Starts broker, registry, worker and operator, each on the ones before it. What fails leaves nothing running. */
export function startStack(options: StackOptions): Promise<Stack> {
  const { logger, cluster, brokerAddress: log, onFailed = () => {} } = options
  return startAll(logger, async (life) => {
    const metrics = createMetrics()
    const broker = log === undefined ? undefined : await openBroker(log, { logger })
    if (broker !== undefined) life.onStop('broker', () => broker.close())
    const start = async (name: string, runtime: RuntimeOptions, run: StartRuntime): Promise<string> => {
      if ('url' in runtime) return runtime.url
      if (broker === undefined) throw new UsageError(`where is the log of the ${name}? ${BROKER_HINT}`)
      const running = await run(runtime, { broker, logger, metrics, onFailed })
      life.onStop(name, () => running.stop(), Number.POSITIVE_INFINITY)
      return running.url
    }
    const listeners = new Set<(news: RuntimeEvent) => void>()
    const tell = (news: RuntimeEvent): void => {
      for (const listener of listeners) listener(news)
    }
    const registryUrl = await start('registry', options.registry, ({ port, written }, parts) =>
      startRegistry(
        registrySettings([...settingsFromDefaults({ listeners: `http://127.0.0.1:${port}` }), ...written]),
        {
          ...parts,
          onChange: (subject) => tell({ registry: DEFAULT_RUNTIME, subject }),
        },
      ),
    )
    const workerUrl = await start('worker', options.worker, ({ port, written }, parts) =>
      startWorker(workerSettings([...settingsFromDefaults(workerDefaults(port, registryUrl)), ...written]), {
        ...parts,
        isWarm: true,
        ownFiles: log?.kind === 'embedded' ? [log.directory] : [],
        onChange: (connector) => tell({ worker: DEFAULT_RUNTIME, connector }),
      }),
    )
    const monitoring = options.monitoring === undefined ? {} : { monitoring: { metrics, listener: options.monitoring } }
    const own = runtimesConfigFor({ registryUrl, workerUrl })
    const estate = () => {
      const { workers = [], registries = [] } = options.estate?.() ?? {}
      return { workers: [...own.workers, ...workers], registries: [...own.registries, ...registries] }
    }
    const listen: OperatorOptions['listen'] = (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
    const operator = await startOperator({ cluster, estate, logger, listen, ...monitoring, ...options.operator })
    life.onStop('operator', () => operator.stop(), Number.POSITIVE_INFINITY)
    return { registryUrl, workerUrl, operator, metrics, stop: () => life.stop() }
  })
}

type StartRuntime = (
  runtime: Extract<RuntimeOptions, { port: number }>,
  parts: {
    readonly broker: Broker
    readonly logger: Logger
    readonly metrics: Metrics
    readonly onFailed: (error: Error) => void
  },
) => Promise<RunningProgram>

const BROKER_HINT =
  '--bootstrap HOST:PORT names a Kafka cluster, --data DIR an embedded broker; or name the URL of one that runs'

/** What fits the parts to each other, as settings that a person's own win over. */
function settingsFromDefaults(settings: Readonly<Record<string, string>>): readonly Setting[] {
  return Object.entries(settings).map(([key, value]) => ({ key, value, source: 'the command line' }))
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
