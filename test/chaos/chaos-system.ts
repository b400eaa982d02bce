import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError } from '../../src/clients/http-client.ts'
import { type ConnectorStateInfo, createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { freePort } from '../env/ports.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds, setArgs } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { ChaosCluster, NAMES } from './chaos-cluster.ts'
import { REGISTRIES, type Schedule } from './fault-schedule.ts'
import { LineLoad } from './line-load.ts'
import { type ClockSource, findClockSource } from './program-clock.ts'
import { SchemaLoad } from './schema-load.ts'
import { type ProgramArgs, SupervisedProgram } from './supervised-program.ts'

/** The default of Kafka Connect. */
export const SESSION_TIMEOUT_MS = 10_000
const HEARTBEAT_MS = 1_000
const REQUEST_TIMEOUT_MS = 3_000
/** So long a connection may take that is set up; the default, 10 s and then up to 30 s, is the time of a recovery when it is half-open. */
const SETUP_TIMEOUT = {
  'socket.connection.setup.timeout.ms': String(REQUEST_TIMEOUT_MS),
  'socket.connection.setup.timeout.max.ms': String(REQUEST_TIMEOUT_MS),
}
const TASK_STOP_MS = 3_000
const STATUS_TIMEOUT_MS = 2_000
const CREATION_MS_MAX = 60_000
const SINK_TASKS = 2
const SESSION = { 'session.timeout.ms': String(SESSION_TIMEOUT_MS), 'heartbeat.interval.ms': String(HEARTBEAT_MS) }
/**
 * Members wait for the response to JoinGroup for this time and five seconds. With Java's defaults, up to five minutes, a member whose
 * connection is half-open would recover only after that.
 */
const REBALANCE_TIMEOUT_MS = 6_000
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}
/** Number of tasks by connector. */
const TASKS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(NAMES.topics.map((topic) => [topic, 1])),
  [NAMES.sink]: SINK_TASKS,
}

/** A cluster, two registries and a group of workers, while schemas are registered and lines copied from files to a file. */
export class ChaosSystem {
  readonly cluster: ChaosCluster
  readonly clockSource: ClockSource
  readonly registries: readonly SupervisedProgram[]
  readonly workers: readonly SupervisedProgram[]
  readonly lines: LineLoad
  readonly schemas: SchemaLoad

  private constructor(
    cluster: ChaosCluster,
    clockSource: ClockSource,
    programs: { readonly registries: readonly SupervisedProgram[]; readonly workers: readonly SupervisedProgram[] },
  ) {
    this.cluster = cluster
    this.clockSource = clockSource
    this.registries = programs.registries
    this.workers = programs.workers
    this.lines = new LineLoad(partDirectory('lines'), NAMES.topics)
    this.schemas = new SchemaLoad(this.registries.map(({ url }) => url))
  }

  static async start(schedule: Schedule): Promise<ChaosSystem> {
    const clockSource = await findClockSource()
    const cluster = await ChaosCluster.start()
    const program = async (name: string, argsOf: (url: string) => ProgramArgs) => {
      const url = `http://127.0.0.1:${await freePort()}`
      return new SupervisedProgram(name, url, argsOf(url), clockSource.create())
    }
    const registries = await Promise.all(
      numbered(REGISTRIES).map((at) => program(`registry ${at}`, (url) => registryArgs(cluster, url))),
    )
    const workers = await Promise.all(
      numbered(schedule.workers).map((at) => program(`worker ${at}`, (url) => workerArgs(cluster, url, schedule))),
    )
    const system = new ChaosSystem(cluster, clockSource, { registries, workers })
    try {
      await Promise.all(system.programs.map((one) => one.start()))
      await system.#createConnectors()
      return system
    } catch (error) {
      await system.stop()
      throw error
    }
  }

  get programs(): readonly SupervisedProgram[] {
    return [...this.registries, ...this.workers]
  }

  /** What does not work yet of what was asked for since then; undefined when everything works. */
  async lacking(since: { readonly timeMs: number; readonly lines: number }): Promise<string | undefined> {
    await Promise.all(this.programs.map((program) => program.supervise()))
    const areReady = await Promise.all(this.programs.map(({ url }) => responds(`${url}/readyz`)))
    const unready = this.programs.find((_, at) => !areReady[at])
    if (unready !== undefined) return `${unready.name} is not ready`
    const idle = await this.#idleTask()
    if (idle !== undefined) return idle
    const [silent] = this.schemas.silentSince(since.timeMs)
    if (silent !== undefined) return `${silent} acknowledges no write`
    this.lines.readOutput()
    const behind = NAMES.topics.find((topic) => this.lines.copied.get(topic)!.missing(since.lines) > 0)
    return behind === undefined ? undefined : `lines of ${behind} are not copied`
  }

  /** What a person does after a right that tasks need has been granted again. Returns the number of restarted tasks. */
  async restartFailedTasks(): Promise<number> {
    const client = this.#clientOf(this.workers[0]!)
    const failed = (await this.#statuses(client)).filter(({ tasks }) => tasks.some(({ state }) => state === 'FAILED'))
    for (const { name } of failed) await client.restart(name, { includeTasks: true, onlyFailed: true })
    return failed.flatMap(({ tasks }) => tasks.filter(({ state }) => state === 'FAILED')).length
  }

  /** Stops everything. Writes of the load end first, unless they are to be checked. */
  async stop(): Promise<void> {
    this.lines.stopWriting()
    const load = this.schemas.stop()
    await Promise.all(this.programs.map((program) => program.kill()))
    await load
    await this.cluster.stop()
  }

  copyLogs(directory: string): void {
    mkdirSync(directory, { recursive: true })
    for (const { name, logFiles } of this.programs) {
      const text = logFiles.map((file) => readFileSync(file, 'utf8')).join('')
      writeFileSync(join(directory, `${name.replace(' ', '-')}.log`), text)
    }
  }

  async #createConnectors(): Promise<void> {
    const sources = NAMES.topics.map((topic) => {
      const config = { 'connector.class': 'FileStreamSource', file: this.lines.inputOf(topic), topic }
      return [topic, config] as const
    })
    const [file, topics] = [this.lines.output, NAMES.topics.join(',')]
    const sink = { 'connector.class': 'FileStreamSink', file, topics, 'tasks.max': String(SINK_TASKS) }
    for (const [name, config] of [...sources, [NAMES.sink, sink] as const]) {
      await this.#putConfig(name, { ...config, ...STRINGS })
    }
  }

  /** A worker of a group that has just been started may be rebalancing. */
  async #putConfig(name: string, config: Readonly<Record<string, string>>): Promise<void> {
    const client = this.#clientOf(this.workers[0]!)
    await until(`the connector ${name}`, { everyMs: 500, timeoutMs: CREATION_MS_MAX }, async () => {
      try {
        await client.putConfig(name, config)
        return true
      } catch (error) {
        if (error instanceof RequestError && error.retriable) return false
        throw error
      }
    })
  }

  /** What a worker reports about the connectors that is not as it should be. */
  async #idleTask(): Promise<string | undefined> {
    const hosts = this.workers.map(({ url }) => new URL(url).host)
    for (const worker of this.workers) {
      const statuses = await this.#statuses(this.#clientOf(worker)).catch((error: unknown) => String(error))
      if (typeof statuses === 'string') return `${worker.name} returns no status: ${statuses}`
      for (const [name, tasks] of Object.entries(TASKS)) {
        const idle = idleInstance(
          name,
          tasks,
          hosts,
          statuses.find((status) => status.name === name),
        )
        if (idle !== undefined) return `${worker.name}: ${idle}`
      }
    }
    return undefined
  }

  async #statuses(client: WorkerClient): Promise<readonly ConnectorStateInfo[]> {
    return Object.values(await client.list()).flatMap(({ status }) => (status === undefined ? [] : [status]))
  }

  #clientOf({ url }: SupervisedProgram): WorkerClient {
    return createWorkerClient({ url, timeoutMs: STATUS_TIMEOUT_MS })
  }
}

function idleInstance(
  name: string,
  tasks: number,
  hosts: readonly string[],
  status: ConnectorStateInfo | undefined,
): string | undefined {
  if (status?.tasks.length !== tasks) return `${name} has ${status?.tasks.length ?? 0} tasks`
  for (const { state, worker_id: place, trace = '' } of [status.connector, ...status.tasks]) {
    if (state !== 'RUNNING') return `${name} is ${state}: ${trace.split('\n', 1)[0]}`
    if (!hosts.includes(place)) return `${name} is assigned to ${place}, which does not exist`
  }
  return undefined
}

function registryArgs(cluster: ChaosCluster, url: string): ProgramArgs {
  return [
    'registry',
    ...setArgs({
      listeners: url,
      ...prefixed('brokerstore.', cluster.clientSettings('registry')),
      'brokergroup.session.timeout.ms': String(SESSION_TIMEOUT_MS),
      'brokergroup.heartbeat.interval.ms': String(HEARTBEAT_MS),
      'brokergroup.rebalance.timeout.ms': String(REBALANCE_TIMEOUT_MS),
      'brokerstore.request.timeout.ms': String(REQUEST_TIMEOUT_MS),
      ...prefixed('brokerstore.', SETUP_TIMEOUT),
      'leader.connect.timeout.ms': String(REQUEST_TIMEOUT_MS),
      'leader.read.timeout.ms': String(2 * REQUEST_TIMEOUT_MS),
    }),
  ]
}

function workerArgs(cluster: ChaosCluster, url: string, { isExactlyOnce }: Schedule): ProgramArgs {
  const { 'bootstrap.servers': bootstrap, ...login } = cluster.clientSettings('workers')
  const client = { ...login, 'request.timeout.ms': String(REQUEST_TIMEOUT_MS), ...SETUP_TIMEOUT }
  return [
    'worker',
    ...setArgs({
      listeners: url,
      'bootstrap.servers': bootstrap!,
      'group.id': NAMES.workers,
      ...SESSION,
      'rebalance.timeout.ms': String(REBALANCE_TIMEOUT_MS),
      'task.shutdown.graceful.timeout.ms': String(TASK_STOP_MS),
      'scheduled.rebalance.max.delay.ms': '1000',
      'offset.flush.interval.ms': '1000',
      'exactly.once.source.support': isExactlyOnce ? 'enabled' : 'disabled',
      'config.storage.topic': 'connect-configs',
      'offset.storage.topic': 'connect-offsets',
      'offset.storage.partitions': '5',
      'status.storage.topic': 'connect-status',
      ...client,
      ...prefixed('producer.', client),
      ...prefixed('consumer.', { ...client, ...SESSION, 'max.poll.interval.ms': String(REBALANCE_TIMEOUT_MS) }),
      ...prefixed('admin.', client),
    }),
  ]
}

function prefixed(prefix: string, settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [prefix + key, value]))
}

function numbered(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
