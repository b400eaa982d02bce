import type { JavaPluginLocation } from '../../../java/plugin-location.ts'
import { readPartitions } from '../../../java/record-codec.ts'
import type { RawConfig } from '../../../sdk/index.ts'
import {
  ConnectorRaisedError,
  type GeneratedTaskConfigs,
  type PluginFailure,
  type PluginInput,
  type PluginName,
} from '../../plugin-host.ts'
import { partitionId } from '../../stores/offset-state.ts'
import type { SourceOffset } from '../../tasks/task-spec.ts'
import type { JavaCalls, LeasedConnection } from './java-calls.ts'

/**
 * The interval at which task configurations are generated again, in ms. It is how long a request for reconfiguration
 * waits, and keeps the connector alive: a call without changes only asks whether there was such a request.
 */
const REGENERATION_INTERVAL_MS = 2_000
/** A connector whose task configurations were not requested for this time, in ms, is stopped. */
const UNUSED_MS_MAX = 10_000

/** Reads the stored source offsets of a connector with this configuration. */
export type OffsetReader = (connector: string, config: RawConfig) => Promise<readonly SourceOffset[]>

export type JavaConnectorsOptions = {
  readonly calls: JavaCalls
  readonly monotonicMs: () => number
  readonly readOffsets: OffsetReader
}

type Running = {
  readonly key: string
  readonly opened: LeasedConnection
  /** The result of the last `taskConfigs`; undefined after a request for reconfiguration. */
  made: GeneratedTaskConfigs | undefined
  /** What the connector reported by `raiseError`. */
  error: PluginFailure | undefined
  usedMs: number
}

type ConnectorTasks = { readonly taskClass: string; readonly configs: readonly RawConfig[] }

/**
 * Java connectors that are started. Connect keeps a connector running beside its tasks: it may watch its external system
 * and request new task configurations.
 */
export class JavaConnectors {
  readonly #options: JavaConnectorsOptions
  /** By connector name. */
  readonly #running = new Map<string, Running>()
  readonly #unusedTimer: NodeJS.Timeout

  constructor(options: JavaConnectorsOptions) {
    this.#options = options
    this.#unusedTimer = setInterval(() => this.#stopUnused(), UNUSED_MS_MAX / 2).unref()
  }

  /** Starts the connector if it does not run with this configuration, or belongs to an earlier run. */
  async tasks(
    location: JavaPluginLocation,
    plugin: PluginName,
    { config, tasksMax, run }: PluginInput<'make-tasks'>,
    signal: AbortSignal | undefined,
  ): Promise<GeneratedTaskConfigs> {
    const name = config['name'] ?? plugin.class
    const key = JSON.stringify([location.path, plugin.class, config, tasksMax, run])
    const known = this.#running.get(name)
    if (known !== undefined && known.key !== key) await this.#stopBeforeNext(name, known, plugin)
    const running = this.#running.get(name) ?? (await this.#start(name, key, location, plugin, config, signal))
    running.usedMs = this.#options.monotonicMs()
    if (running.error !== undefined) {
      this.#stop(name, running)
      throw new ConnectorRaisedError(running.error)
    }
    if (running.made !== undefined) return running.made
    try {
      running.made = await this.#make(running, plugin, tasksMax, signal)
      return running.made
    } catch (error) {
      this.#stop(name, running)
      throw error
    }
  }

  close(): void {
    clearInterval(this.#unusedTimer)
    for (const [name, running] of this.#running) this.#stop(name, running)
  }

  async #start(
    name: string,
    key: string,
    location: JavaPluginLocation,
    plugin: PluginName,
    config: RawConfig,
    signal: AbortSignal | undefined,
  ): Promise<Running> {
    const opened = await this.#options.calls.open(location, plugin)
    const { connection } = opened
    const running: Running = { key, opened, made: undefined, error: undefined, usedMs: this.#options.monotonicMs() }
    connection.on('connector.reconfigure', () => {
      running.made = undefined
    })
    connection.answer('offsets', async (body) => {
      const stored = await this.#options.readOffsets(name, config)
      const offsets = new Map(stored.map(({ partition, offset }) => [partitionId(partition), offset]))
      return readPartitions(body).map((partition) => offsets.get(partitionId(partition)) ?? null)
    })
    connection.on('connector.error', (body) => {
      running.error = body.value() as PluginFailure
    })
    void connection.lost.then(() => {
      if (this.#running.get(name) === running) this.#running.delete(name)
      opened.lease.release()
    })
    try {
      const start = { class: plugin.class, name, config }
      await this.#options.calls.run(opened, plugin, () => connection.call('connector.start', start), signal)
    } catch (error) {
      connection.close()
      throw error
    }
    this.#running.set(name, running)
    return running
  }

  async #make(
    running: Running,
    plugin: PluginName,
    tasksMax: number,
    signal: AbortSignal | undefined,
  ): Promise<GeneratedTaskConfigs> {
    const { connection } = running.opened
    const call = () => connection.call('connector.tasks', { tasksMax })
    const made = await this.#options.calls.run(running.opened, plugin, call, signal)
    return { ...(made as ConnectorTasks), againMs: REGENERATION_INTERVAL_MS }
  }

  /** Waits for `stop`, because the next run may need what this one holds. The host logs its errors. */
  async #stopBeforeNext(name: string, running: Running, plugin: PluginName): Promise<void> {
    const { opened } = running
    this.#running.delete(name)
    await this.#options.calls
      .run(opened, plugin, () => opened.connection.request('connector.stop'))
      .catch(() => undefined)
    opened.connection.close()
  }

  /** The host calls `stop` of a connector whose connection ends. */
  #stop(name: string, running: Running): void {
    if (this.#running.get(name) === running) this.#running.delete(name)
    running.opened.connection.close()
  }

  #stopUnused(): void {
    const nowMs = this.#options.monotonicMs()
    for (const [name, running] of this.#running) if (nowMs - running.usedMs > UNUSED_MS_MAX) this.#stop(name, running)
  }
}
