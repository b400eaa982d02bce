import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigRecord, SessionKey, StoredTargetState } from './config-codec.ts'

/** The state of one connector according to the config topic. Immutable: a change replaces the object. */
export type ConnectorState = {
  readonly name: string
  readonly config: RawConfig
  readonly target: StoredTargetState
  /** Number of target states read so far. */
  readonly targetRevision: number
  /** Ordered by task number. Empty while the set of task records is incomplete. */
  readonly tasks: readonly RawConfig[]
  /** Number of complete sets of task configurations read so far, starting with 0 for the first. */
  readonly taskGeneration: number
  /** The connector's configuration when its task configurations were last written. */
  readonly appliedConfig: RawConfig | undefined
  /** The committed set of task records is incomplete; the owner of the connector has to write it again. */
  readonly inconsistent: boolean
  /** The number of tasks in the last fencing record; undefined if there is none. */
  readonly fencedTasks: number | undefined
  /** Whether task configurations were written after the last fencing. */
  readonly pendingFencing: boolean
  /** The number of task records, which remain after the connector is deleted. */
  readonly taskCount: number
}

type Entry = Omit<ConnectorState, 'config'> & {
  readonly config: RawConfig | undefined
  /** The last record of the connector has the configuration to which its tasks belong. */
  readonly isRepeated: boolean
}

/**
 * The state that results from all records of the config topic, by Kafka Connect's rules: task configurations take
 * effect with their commit record.
 */
export class ConfigState {
  readonly #connectors = new Map<string, Entry>()
  /** Task configurations without a commit record yet. */
  readonly #deferred = new Map<string, Map<number, RawConfig>>()
  #session: SessionKey | undefined

  get session(): SessionKey | undefined {
    return this.#session
  }

  connector(name: string): ConnectorState | undefined {
    const entry = this.#connectors.get(name)
    return entry?.config === undefined ? undefined : (entry as ConnectorState)
  }

  connectors(): readonly ConnectorState[] {
    return [...this.#connectors.values()].filter((entry): entry is Entry & ConnectorState => entry.config !== undefined)
  }

  /** Names of deleted connectors that still have task or fencing records in the topic. */
  deletedConnectorsWithRecords(): readonly string[] {
    return [...this.#connectors.values()]
      .filter(({ config, taskCount }) => config === undefined && taskCount > 0)
      .map(({ name }) => name)
  }

  /** The minimum number of task records of this connector in the topic. */
  taskRecordCount(connector: string): number {
    return this.#connectors.get(connector)?.taskCount ?? 0
  }

  /** The number of tasks in the last fencing record of this connector, which may be deleted; undefined if there is none. */
  fencedTasks(connector: string): number | undefined {
    return this.#connectors.get(connector)?.fencedTasks
  }

  apply(record: ConfigRecord): void {
    switch (record.kind) {
      case 'connector':
        this.#configure(record.connector, record.config)
        break
      case 'target':
        this.#target(record.connector, record.target ?? 'STARTED')
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
      // Events without state; they are handled when they are read live.
      case 'restart':
      case 'logger':
        break
    }
  }

  #configure(connector: string, config: RawConfig | null): void {
    if (config !== null) {
      const { appliedConfig } = this.#get(connector)
      this.#change(connector, { config, isRepeated: appliedConfig !== undefined && sameConfig(config, appliedConfig) })
      return
    }
    this.#deferred.delete(connector)
    const { target, targetRevision, fencedTasks, taskCount } = this.#get(connector)
    const kept = { target, targetRevision, fencedTasks, taskCount }
    this.#connectors.set(connector, { ...emptyConnector(connector), ...kept })
  }

  #target(connector: string, target: StoredTargetState): void {
    this.#change(connector, { target, targetRevision: this.#get(connector).targetRevision + 1 })
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

  #change(connector: string, change: Partial<Entry>): void {
    this.#connectors.set(connector, { ...this.#get(connector), ...change })
  }

  #get(connector: string): Entry {
    return this.#connectors.get(connector) ?? emptyConnector(connector)
  }
}

/** Applies a commit record to the task records before it. */
function committed(entry: Entry, taskCount: number, deferred: ReadonlyMap<number, RawConfig>): Partial<Entry> {
  // Its configuration may follow, if it was written again and the topic was compacted.
  if (entry.config === undefined) return { taskCount, pendingFencing: true }
  const tasks = Array.from({ length: taskCount }, (_, task) => deferred.get(task))
  const isRepeated = false
  if (!tasks.every((task) => task !== undefined)) {
    return { taskCount, pendingFencing: true, tasks: [], inconsistent: true, isRepeated }
  }
  if (entry.isRepeated && sameTasks(tasks, entry.tasks)) return { isRepeated }
  const taskGeneration = entry.taskGeneration + 1
  const { config: appliedConfig } = entry
  return { taskCount, pendingFencing: true, tasks, inconsistent: false, taskGeneration, appliedConfig, isRepeated }
}

export function sameConfig(a: RawConfig, b: RawConfig | undefined): boolean {
  if (b === undefined) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

export function sameTasks(a: readonly RawConfig[], b: readonly RawConfig[]): boolean {
  return a.length === b.length && a.every((task, index) => sameConfig(task, b[index]))
}

function emptyConnector(name: string): Entry {
  return {
    name,
    config: undefined,
    target: 'STARTED',
    targetRevision: 0,
    tasks: [],
    taskGeneration: -1,
    appliedConfig: undefined,
    inconsistent: false,
    fencedTasks: undefined,
    pendingFencing: false,
    taskCount: 0,
    isRepeated: false,
  }
}
