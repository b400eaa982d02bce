import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigRecord, SessionKey, StoredTargetState } from './config-codec.ts'

/** What the config topic says about one connector. Replaced, never changed: holding one is a snapshot of it. */
export type ConnectorState = {
  readonly name: string
  readonly config: RawConfig
  readonly target: StoredTargetState
  /** In the order of their numbers. Empty while their records are incomplete. */
  readonly tasks: readonly RawConfig[]
  /** Counts the complete sets of task configurations that were read, from 0. */
  readonly taskGeneration: number
  /** The connector's configuration when its tasks were last written. */
  readonly appliedConfig: RawConfig | undefined
  /** A set of task records lacks some: the connector's owner has to write them again. */
  readonly inconsistent: boolean
  /** How many tasks the last fencing counted; undefined before the first. */
  readonly fencedTasks: number | undefined
  /** Task configurations were written after the last fencing. */
  readonly pendingFencing: boolean
  /** Records that a deletion leaves behind. */
  readonly taskCount: number
}

type Held = Omit<ConnectorState, 'config'> & { readonly config: RawConfig | undefined }

/**
 * The state that all records of the config topic add up to, in Kafka Connect's rules: task configurations count only
 * from their commit record on.
 */
export class ConfigState {
  readonly #held = new Map<string, Held>()
  /** Task configurations that wait for their commit record. */
  readonly #deferred = new Map<string, Map<number, RawConfig>>()
  #session: SessionKey | undefined

  get session(): SessionKey | undefined {
    return this.#session
  }

  connector(name: string): ConnectorState | undefined {
    const held = this.#held.get(name)
    return held?.config === undefined ? undefined : (held as ConnectorState)
  }

  connectors(): readonly ConnectorState[] {
    return [...this.#held.values()].filter((held): held is ConnectorState => held.config !== undefined)
  }

  /** Names of connectors that are gone while task or fencing records of them still stand in the topic. */
  deletedConnectorsWithRecords(): readonly string[] {
    return [...this.#held.values()]
      .filter(({ config, taskCount }) => config === undefined && taskCount > 0)
      .map(({ name }) => name)
  }

  /** How many task records of it stand in the topic, at least. */
  taskRecordCount(connector: string): number {
    return this.#held.get(connector)?.taskCount ?? 0
  }

  /** Whether a fencing record of it stands in the topic. */
  isFenced(connector: string): boolean {
    return this.#held.get(connector)?.fencedTasks !== undefined
  }

  apply(record: ConfigRecord): void {
    switch (record.kind) {
      case 'connector':
        this.#configure(record.connector, record.config)
        break
      case 'target':
        this.#change(record.connector, { target: record.target ?? 'STARTED' })
        break
      case 'task':
        this.#defer(record.connector, record.task, record.config)
        break
      case 'commit':
        this.#commit(record.connector, record.tasks)
        break
      case 'fencing':
        this.#change(record.connector, { fencedTasks: record.tasks ?? undefined, pendingFencing: false })
        break
      case 'session':
        this.#session = record.session
        break
      // Events, not state: they count when they are read live.
      case 'restart':
      case 'logger':
        break
    }
  }

  #configure(connector: string, config: RawConfig | null): void {
    if (config !== null) {
      this.#change(connector, { config })
      return
    }
    this.#deferred.delete(connector)
    const { target, fencedTasks, taskCount } = this.#get(connector)
    this.#held.set(connector, { ...emptyConnector(connector), target, fencedTasks, taskCount })
  }

  #defer(connector: string, task: number, config: RawConfig | null): void {
    const deferred = this.#deferred.get(connector) ?? new Map<number, RawConfig>()
    if (config === null) deferred.delete(task)
    else deferred.set(task, config)
    this.#deferred.set(connector, deferred)
  }

  #commit(connector: string, count: number | null): void {
    const deferred = this.#deferred.get(connector)
    this.#deferred.delete(connector)
    this.#change(connector, committed(this.#get(connector), count ?? 0, deferred ?? new Map()))
  }

  #change(connector: string, change: Partial<Held>): void {
    this.#held.set(connector, { ...this.#get(connector), ...change })
  }

  #get(connector: string): Held {
    return this.#held.get(connector) ?? emptyConnector(connector)
  }
}

/** What a commit record makes of the task records before it. */
function committed(held: Held, taskCount: number, deferred: ReadonlyMap<number, RawConfig>): Partial<Held> {
  if (held.config === undefined) return { taskCount }
  const tasks = Array.from({ length: taskCount }, (_, task) => deferred.get(task))
  if (!tasks.every((task) => task !== undefined)) {
    return { taskCount, pendingFencing: true, tasks: [], inconsistent: true }
  }
  const taskGeneration = held.taskGeneration + 1
  return { taskCount, pendingFencing: true, tasks, inconsistent: false, taskGeneration, appliedConfig: held.config }
}

function emptyConnector(name: string): Held {
  return {
    name,
    config: undefined,
    target: 'STARTED',
    tasks: [],
    taskGeneration: -1,
    appliedConfig: undefined,
    inconsistent: false,
    fencedTasks: undefined,
    pendingFencing: false,
    taskCount: 0,
  }
}
