import type { Broker } from '../broker/broker.ts'
import type { BrokerAddress } from '../broker/broker-address.ts'
import { type BackendListener, listenForCommands, type SocketAddress } from '../broker/embedded/socket-link.ts'
import { openBroker } from '../broker/open-broker.ts'
import { type RunningProgram, startAll } from '../common/lifecycle.ts'
import type { Logger } from '../common/logging/logger.ts'
import { createMetrics, type Metrics } from '../common/metrics-registry.ts'
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
import { type RegistrySettings, registrySettings } from '../registry/settings.ts'
import { startWorker, type WorkerDependencies } from '../worker/main.ts'
import { workerSettings } from '../worker/settings.ts'
import { UsageError } from './command.ts'
import { brokerFiles, STACK_GROUP_ID } from './program-options.ts'

export type StackOptions = {
  readonly cluster: ClusterAddress
  /** For the runtimes that are started in this process. */
  readonly brokerAddress: BrokerAddress | undefined
  readonly registry: RuntimeOptions
  readonly worker: RuntimeOptions
  readonly operator: Pick<OperatorOptions, 'observeWorkerIntervalMs' | 'resyncPeriodMs' | 'webhook' | 'instance'>
  /** Further workers and registries, from the operator's configuration file. */
  readonly runtimesConfig?: OperatorOptions['runtimesConfig']
  /** Listener of the operator's metrics and probes; absent: none. */
  readonly monitoring?: string
  /** The console; absent: none. */
  readonly console?: NonNullable<OperatorOptions['console']>
  /** Whether commands of this machine may use the embedded broker. */
  readonly servesCommands?: boolean
  readonly logger: Logger
  /** Called when a registry or worker of this process cannot continue: the stack must be stopped. */
  readonly onFailed?: (error: Error) => void
}

/** An existing runtime, or one to start in this process with these settings. */
export type RuntimeOptions = { readonly url: string } | { readonly port: number; readonly settings: readonly Setting[] }

/** An operator with the runtimes that it manages, in one process. */
export type Stack = {
  readonly registryUrl: string
  readonly workerUrl: string
  readonly operator: Operator
  readonly metrics: Metrics
  /** Where commands of this machine reach the embedded broker; undefined if there is none, or with `servesCommands: false`. */
  readonly brokerSocket: SocketAddress | undefined
  stop(): Promise<void>
}

/** Starts broker, registry, worker and operator in this order. A failure stops what was started. */
export function startStack(options: StackOptions): Promise<Stack> {
  const { logger, cluster, brokerAddress: log, onFailed = () => {} } = options
  return startAll(logger, async (lifecycle) => {
    const metrics = createMetrics()
    const broker = log === undefined ? undefined : await openBroker(log, { logger })
    if (broker !== undefined) lifecycle.onStop('broker', () => broker.close())
    const socket = options.servesCommands && log?.kind === 'embedded' ? await serveCommands(broker!) : undefined
    if (socket !== undefined) lifecycle.onStop('broker socket', () => socket.close())
    const start = async (name: string, runtime: RuntimeOptions, run: StartRuntime): Promise<string> => {
      if ('url' in runtime) return runtime.url
      if (broker === undefined) throw new UsageError(`no broker is configured for the ${name}: ${BROKER_HINT}`)
      const running = await run(runtime, { broker, logger, metrics, onFailed })
      lifecycle.onStop(name, () => running.stop(), Number.POSITIVE_INFINITY)
      return running.url
    }
    const listeners = new Set<(event: RuntimeEvent) => void>()
    const publish = (event: RuntimeEvent): void => {
      for (const listener of listeners) listener(event)
    }
    const ownRegistry = 'url' in options.registry ? undefined : settingsOfRegistry(options.registry)
    const registryUrl = await start('registry', options.registry, (runtime, parts) =>
      startRegistry(ownRegistry ?? settingsOfRegistry(runtime), {
        ...parts,
        onChange: (subject) => publish({ registry: DEFAULT_RUNTIME, subject }),
      }),
    )
    const workerUrl = await start('worker', options.worker, ({ port, settings }, parts) =>
      startWorker(workerSettings([...settingsFromDefaults(workerDefaults(port, registryUrl)), ...settings]), {
        ...parts,
        isWarm: true,
        ...(ownRegistry && { ownTopics: topicsOfRegistry(ownRegistry) }),
        ownFiles: brokerFiles(log),
        onChange: (connector) => publish({ worker: DEFAULT_RUNTIME, connector }),
      }),
    )
    const monitoring = options.monitoring === undefined ? {} : { monitoring: { metrics, listener: options.monitoring } }
    const own = runtimesConfigFor({ registryUrl, workerUrl })
    const runtimesConfig = () => {
      const { workers = [], registries = [] } = options.runtimesConfig?.() ?? {}
      return { workers: [...own.workers, ...workers], registries: [...own.registries, ...registries] }
    }
    const listen: OperatorOptions['subscribeToRuntimeEvents'] = (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
    const operator = await startOperator({
      cluster,
      runtimesConfig,
      logger,
      subscribeToRuntimeEvents: listen,
      ...monitoring,
      ...(options.console !== undefined && { console: options.console }),
      ...options.operator,
    })
    lifecycle.onStop('operator', () => operator.stop(), Number.POSITIVE_INFINITY)
    const brokerSocket = socket?.address
    return { registryUrl, workerUrl, operator, metrics, brokerSocket, stop: () => lifecycle.stop() }
  })
}

/** Each command gets a port of its own, as a thread does. */
function serveCommands(broker: Broker): Promise<BackendListener> {
  return listenForCommands(async () => {
    const address = await broker.address()
    if (address.kind !== 'thread') throw new TypeError(`an embedded broker has no address of the kind ${address.kind}`)
    return address.port
  })
}

type OwnRuntime = Extract<RuntimeOptions, { port: number }>

function settingsOfRegistry({ port, settings }: OwnRuntime): RegistrySettings {
  return registrySettings([...settingsFromDefaults({ listeners: `http://127.0.0.1:${port}` }), ...settings])
}

/** What connectors may not use: with the topics of a registry, they would have all rights in it. */
function topicsOfRegistry({ values }: RegistrySettings): NonNullable<WorkerDependencies['ownTopics']> {
  return {
    topics: [values['brokerstore.topic'], values['dek.registry.topic']],
    groups: [values['schema.registry.group.id']],
  }
}

type StartRuntime = (
  runtime: OwnRuntime,
  parts: {
    readonly broker: Broker
    readonly logger: Logger
    readonly metrics: Metrics
    readonly onFailed: (error: Error) => void
  },
) => Promise<RunningProgram>

const BROKER_HINT =
  'give --bootstrap HOST:PORT for Kafka, --data DIR for an embedded broker, or the URL of an existing one'

/** Settings that connect the parts; settings of the user override them. */
function settingsFromDefaults(settings: Readonly<Record<string, string>>): readonly Setting[] {
  return Object.entries(settings).map(([key, value]) => ({ key, value, source: 'the command line' }))
}

/** Converters use the registry of this process by default, so that manifests need not contain its URL. */
function workerDefaults(port: number, registryUrl: string): Readonly<Record<string, string>> {
  return {
    listeners: `http://127.0.0.1:${port}`,
    'group.id': STACK_GROUP_ID,
    'offset.flush.interval.ms': '1000',
    'key.converter': 'StringConverter',
    'value.converter': 'AvroConverter',
    'value.converter.schema.registry.url': registryUrl,
  }
}
