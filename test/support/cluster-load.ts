import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startJavaConnect } from '../env/java-connect.ts'
import { partDirectory } from '../env/workspace.ts'
import { type PipeCounts, PipeLoad } from './pipe-load.ts'
import { RegistrationLoad, registrationProblems } from './registry-load.ts'
import { startRegistryProcess } from './registry-process.ts'
import { until } from './until.ts'
import { startWorkerProcess } from './worker-process.ts'

export type ClusterLoadOptions = {
  readonly bootstrap: string
  /** Prefix of all topics and groups, if several loads share a cluster. Default: `load`. */
  readonly name?: string
  /** Whose workers run the connectors. Java has no registry. Default: Weir. */
  readonly programs?: 'weir' | 'java'
  /** Workers of each of the two groups. Default 2. */
  readonly workers?: number
  /** Pipes of each of the two groups. Default 2. */
  readonly pipes?: number
}

/** Names in the cluster. */
export type LoadNames = {
  readonly schemas: string
  readonly registries: string
  /** Groups of the workers, with and without exactly-once sources. */
  readonly exactlyOnce: string
  readonly atLeastOnce: string
}

function namesOf(prefix: string): LoadNames {
  return {
    schemas: `${prefix}-schemas`,
    registries: `${prefix}-registries`,
    exactlyOnce: `${prefix}-exactly-once`,
    atLeastOnce: `${prefix}-at-least-once`,
  }
}

/** How long it took after `untilRecovered` was called. */
export type Recovery = { readonly registryMs: number; readonly tasksMs: number; readonly linesMs: number }

export type LoadReport = {
  /** What contradicts the promises; empty when they were kept. */
  readonly problems: readonly string[]
  readonly acknowledgedWrites: number
  readonly reads: number
  readonly pipes: Readonly<Record<string, PipeCounts>>
}

type Running = { readonly url: string; kill(): Promise<void> }
type ConnectGroup = {
  readonly isExactlyOnce: boolean
  readonly groupId: string
  readonly pipes: readonly PipeLoad[]
  readonly workers: readonly Running[]
}

const RECOVERY = { everyMs: 100, timeoutMs: 300_000 }
const REQUEST_TIMEOUT_MS = 20_000
const WRITE_PAUSE_MS = 20
const READ_PAUSE_MS = 20
const READ_SUBJECTS = 10
const REGISTRIES = 2
const REGISTRY_SETTINGS = {
  'brokerstore.topic.replication.factor': '3',
  'brokergroup.session.timeout.ms': '6000',
  'brokergroup.heartbeat.interval.ms': '1000',
}
const WORKER_SETTINGS = {
  'config.storage.replication.factor': '3',
  'offset.storage.replication.factor': '3',
  'status.storage.replication.factor': '3',
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '1000',
  'scheduled.rebalance.max.delay.ms': '3000',
  'offset.flush.interval.ms': '1000',
}

/**
 * What a cluster serves while its brokers fail: instances of the registry that are written and read, and two groups of workers,
 * with and without exactly-once sources, that copy lines from files through topics into files.
 */
export class ClusterLoad {
  readonly names: LoadNames
  readonly #broker: Broker
  readonly #registries: readonly Running[]
  readonly #clients: readonly RegistryClient[]
  readonly #groups: readonly ConnectGroup[]
  readonly #registrations: RegistrationLoad
  readonly #reader: SchemaReader

  constructor(names: LoadNames, broker: Broker, registries: readonly Running[], groups: readonly ConnectGroup[]) {
    this.names = names
    this.#broker = broker
    this.#registries = registries
    this.#groups = groups
    this.#clients = registries.map(({ url }) => createRegistryClient({ url, timeoutMs: REQUEST_TIMEOUT_MS }))
    this.#registrations = new RegistrationLoad(this.#clients, { pauseMs: WRITE_PAUSE_MS })
    this.#reader = new SchemaReader(this.#registrations, this.#clients)
  }

  /** Topics that the sources write: those of the exactly-once sources first. */
  get topics(): readonly string[] {
    return this.#pipes.map(({ topic }) => topic)
  }

  /** The connectors that write these topics. */
  get sources(): readonly string[] {
    return this.#pipes.map(({ source }) => source)
  }

  /** The longest time from writing a line to its copy, in any pipe, since the last call. */
  takeLongestDelayMs(): number {
    return Math.max(...this.#pipes.map((pipe) => pipe.takeLongestDelayMs()))
  }

  /**
   * Waits until each instance of the registry has acknowledged a later write, each task runs, and each line is copied that is
   * written by now.
   */
  async untilRecovered(limits: { readonly timeoutMs: number } = RECOVERY): Promise<Recovery> {
    const startMs = performance.now()
    const marks = this.#pipes.map((pipe) => [pipe, pipe.written + 1] as const)
    const pending = () => marks.filter(([pipe, written]) => !pipe.hasCopied(written)).map(([{ topic }]) => topic)
    const within = { ...RECOVERY, ...limits }
    const [registryMs, tasksMs, linesMs] = await Promise.all(
      [
        until('a write to each registry', within, () => this.#registrations.hasWrittenSince(startMs)),
        untilNone('tasks that do not run', within, () => this.#tasksNotRunning()),
        untilNone('pipes that copy nothing', within, async () => pending()),
      ].map(async (waiting) => {
        await waiting
        return performance.now() - startMs
      }),
    )
    return { registryMs: registryMs!, tasksMs: tasksMs!, linesMs: linesMs! }
  }

  /** Waits until each instance of the registry has rejected a later write, or has let it time out. */
  async untilWritesFail(): Promise<void> {
    const startMs = performance.now()
    await until('each registry to fail a write', RECOVERY, () => this.#registrations.hasFailedSince(startMs))
  }

  /** Ends the writes, waits until all lines are copied, and compares what there is with what was promised. */
  async stop(): Promise<LoadReport> {
    await Promise.all([
      this.#registrations.stop(),
      this.#reader.stop(),
      ...this.#pipes.map((pipe) => pipe.stopWriting()),
    ])
    const late: string[] = []
    await untilNone('pipes that do not end', RECOVERY, async () =>
      this.#pipes.filter((pipe) => !pipe.hasCopied(pipe.written)).map(({ topic }) => topic),
    ).catch((error: Error) => late.push(error.message))
    const problems = [...late, ...(await this.#tasksNotRunning()), ...this.#reader.problems]
    problems.push(...(await registrationProblems(this.#registrations, this.#clients)))
    const pipes: Record<string, PipeCounts> = {}
    for (const { isExactlyOnce, pipes: those } of this.#groups) {
      for (const pipe of those) {
        const checked = await pipe.check(this.#broker, isExactlyOnce)
        problems.push(...checked.problems)
        pipes[pipe.topic] = checked.counts
      }
    }
    const { size: acknowledgedWrites } = this.#registrations.acknowledged
    return { problems, acknowledgedWrites, reads: this.#reader.count, pipes }
  }

  /** Kills all programs. */
  async close(): Promise<void> {
    for (const pipe of this.#pipes) pipe.close()
    const workers = this.#groups.flatMap((group) => group.workers)
    await Promise.all([...this.#registries, ...workers].map((program) => program.kill()))
    await this.#broker.close()
  }

  get #pipes(): readonly PipeLoad[] {
    return this.#groups.flatMap(({ pipes }) => pipes)
  }

  /** Connectors that have no running task, and tasks that do not run, with their states. */
  async #tasksNotRunning(): Promise<readonly string[]> {
    return (await Promise.all(this.#groups.map(tasksNotRunning))).flat()
  }
}

/** Starts the programs and the load, and waits until everything works. */
export async function startClusterLoad(options: ClusterLoadOptions): Promise<ClusterLoad> {
  const { bootstrap, name = 'load', programs = 'weir' } = options
  const names = namesOf(name)
  const broker = await openBroker(
    { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } },
    { logger: silentLogger() },
  )
  const [registries, ...groups] = await Promise.all([
    startAll(programs === 'java' ? 0 : REGISTRIES, () =>
      startRegistryProcess(['--bootstrap', bootstrap], {
        ...REGISTRY_SETTINGS,
        'brokerstore.topic': names.schemas,
        'schema.registry.group.id': names.registries,
      }),
    ),
    startGroup(broker, options, { groupId: names.exactlyOnce, isExactlyOnce: true }),
    startGroup(broker, options, { groupId: names.atLeastOnce, isExactlyOnce: false }),
  ])
  const load = new ClusterLoad(names, broker, registries, groups)
  try {
    await Promise.all(groups.map(createConnectors))
    await load.untilRecovered()
  } catch (error) {
    await load.close()
    throw error
  }
  load.takeLongestDelayMs()
  return load
}

/** One after the other, because two first members at once would be two generations. */
async function startAll(count: number, start: () => Promise<Running>): Promise<readonly Running[]> {
  const started: Running[] = []
  for (let at = 0; at < count; at++) started.push(await start())
  return started
}

async function startGroup(
  broker: Broker,
  { bootstrap, programs = 'weir', workers = 2, pipes = 2 }: ClusterLoadOptions,
  { groupId, isExactlyOnce }: Pick<ConnectGroup, 'groupId' | 'isExactlyOnce'>,
): Promise<ConnectGroup> {
  const settings = {
    ...WORKER_SETTINGS,
    'exactly.once.source.support': isExactlyOnce ? 'enabled' : 'disabled',
  }
  const topics = Array.from({ length: pipes }, (_, at) => `${groupId}-${at}`)
  for (const topic of topics) await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 3 })
  const directory = partDirectory('lines')
  const running = await startAll(workers, () =>
    programs === 'java'
      ? startJavaConnect({ bootstrap, groupId, properties: settings })
      : startWorkerProcess({ log: ['--bootstrap', bootstrap], groupId, settings }),
  )
  return { isExactlyOnce, groupId, pipes: topics.map((topic) => new PipeLoad(topic, directory)), workers: running }
}

async function createConnectors({ pipes, workers }: ConnectGroup): Promise<void> {
  const client = createWorkerClient({ url: workers[0]!.url, timeoutMs: REQUEST_TIMEOUT_MS })
  for (const [connector, config] of pipes.flatMap(({ connectors }) => Object.entries(connectors))) {
    await untilNone(`connectors that cannot be created`, RECOVERY, () =>
      client.putConfig(connector, config).then(
        () => [],
        (error: Error) => [error.message],
      ),
    )
  }
}

async function tasksNotRunning({ pipes, workers }: ConnectGroup): Promise<readonly string[]> {
  const clients = workers.map(({ url }) => createWorkerClient({ url, timeoutMs: REQUEST_TIMEOUT_MS }))
  const connectors = pipes.flatMap(({ source, sink }) => [source, sink])
  return (await Promise.all(connectors.map((connector) => statesOf(clients[0]!, connector)))).flat()
}

async function statesOf(client: WorkerClient, connector: string): Promise<readonly string[]> {
  const status = await client.status(connector).catch((error: Error) => error.message)
  if (typeof status === 'string') return [`${connector}: ${status}`]
  const { tasks, connector: itself } = status
  if (tasks.length === 0) return [`${connector} has no task, and is ${itself.state}`]
  return [itself, ...tasks]
    .filter(({ state }) => state !== 'RUNNING')
    .map(({ state, trace = '' }) => `${connector} is ${state} ${trace.slice(0, 500)}`)
}

/** Waits until a list is empty. On timeout, the error contains it. */
async function untilNone(
  what: string,
  limits: { readonly everyMs: number; readonly timeoutMs: number },
  list: () => Promise<readonly string[]>,
): Promise<void> {
  let last: readonly string[] = []
  await until(`no ${what}`, limits, async () => {
    last = await list()
    return last.length === 0
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${last.join('; ')}`)
  })
}

/** Reads acknowledged schemas. An instance has them in memory: it answers whatever happens to the brokers. */
class SchemaReader {
  count = 0
  readonly problems: string[] = []
  readonly #registrations: RegistrationLoad
  readonly #running: Promise<unknown>
  #isStopping = false

  constructor(registrations: RegistrationLoad, clients: readonly RegistryClient[]) {
    this.#registrations = registrations
    this.#running = Promise.all(clients.map((client) => this.#run(client)))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
  }

  async #run(client: RegistryClient): Promise<void> {
    /** An instance that was not asked for the write may not have it yet, but has it for ever then. */
    const known = new Set<string>()
    while (!this.#isStopping) {
      for (const [subject, { id }] of [...this.#registrations.acknowledged].slice(0, READ_SUBJECTS)) {
        const read = await client.latest(subject).then((latest) => latest.id, String)
        if (read === id) known.add(subject)
        else if (typeof read === 'number' || known.has(subject)) this.problems.push(`${subject} was read as ${read}`)
        this.count += 1
        await sleep(READ_PAUSE_MS)
      }
      await sleep(READ_PAUSE_MS)
    }
  }
}
