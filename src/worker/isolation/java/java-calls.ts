import type { Clock } from '../../../common/clock.ts'
import { messageOf, UserError } from '../../../common/errors.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { HostConnection } from '../../../java/host-connection.ts'
import { HostLostError, JavaPluginError } from '../../../java/host-error.ts'
import type { HostLease, JavaHostPool } from '../../../java/java-host-pool.ts'
import type { JavaPluginLocation } from '../../../java/plugin-location.ts'
import { type PluginName, pluginError } from '../../plugin-host.ts'

/** Limit of a response, which is decoded in the worker's main thread. */
const FRAME_BYTES_MAX = 32 * 1024 * 1024
/** How long to wait for the exit reason of a JVM after its connections have closed, in ms. */
const EXIT_MS_MAX = 2_000

export type JavaCallsOptions = {
  readonly hosts: JavaHostPool
  /** Timeout of a call, in ms, including the start of the JVM. */
  readonly timeoutMs: number
  readonly clock: Clock
}

/** A connection to a host, with the lease that keeps its JVM running. */
export type LeasedConnection = { readonly connection: HostConnection; readonly lease: HostLease }

/** Executes calls in Java hosts, and reports their failures as those of a plugin. */
export class JavaCalls {
  readonly #options: JavaCallsOptions

  constructor(options: JavaCallsOptions) {
    this.#options = options
  }

  /** Executes one call on a separate connection, so that it does not wait for other calls. */
  async once<T>(
    location: JavaPluginLocation,
    plugin: PluginName,
    call: (connection: HostConnection) => Promise<T>,
  ): Promise<T> {
    const opened = await this.open(location, plugin)
    try {
      return await this.run(opened, plugin, () => call(opened.connection))
    } finally {
      opened.connection.close()
      opened.lease.release()
    }
  }

  async open(location: JavaPluginLocation, plugin: PluginName): Promise<LeasedConnection> {
    const lease = await this.#lease(location)
    try {
      const { timeoutMs } = this.#options
      const connection = await HostConnection.open(lease.address, { timeoutMs, frameBytesMax: FRAME_BYTES_MAX })
      return { connection, lease }
    } catch (error) {
      lease.release()
      throw await this.#failure(error, plugin, lease)
    }
  }

  /**
   * Rejects with a `WorkerError`. After a timeout, the connection is closed, and its JVM is ended as soon as nothing else
   * uses it.
   */
  async run<T>({ connection, lease }: LeasedConnection, plugin: PluginName, call: () => Promise<T>): Promise<T> {
    const { timeoutMs, clock } = this.#options
    const late = Symbol('late')
    let outcome: T | typeof late
    try {
      outcome = await withTimeout(call(), timeoutMs, () => late, clock)
    } catch (error) {
      throw await this.#failure(error, plugin, lease)
    }
    if (outcome !== late) return outcome as T
    connection.close()
    lease.abandon()
    const sentence = `${plugin.class} did not return within ${timeoutMs} ms`
    throw pluginError('plugin_unresponsive', { message: sentence, trace: sentence })
  }

  async #lease(location: JavaPluginLocation): Promise<HostLease> {
    try {
      return await this.#options.hosts.lease(location)
    } catch (error) {
      const message = messageOf(error)
      throw error instanceof UserError ? pluginError('plugin_crashed', { message, trace: message }) : error
    }
  }

  async #failure(error: unknown, plugin: PluginName, lease: HostLease): Promise<unknown> {
    if (error instanceof JavaPluginError) {
      return pluginError('plugin_failed', { message: error.message, trace: error.stack ?? error.message })
    }
    if (!(error instanceof HostLostError)) return error
    const how = await withTimeout(lease.ended, EXIT_MS_MAX, () => error.message, this.#options.clock)
    const sentence = `the Java host of ${plugin.class} ${how}`
    return pluginError('plugin_crashed', { message: sentence, trace: sentence })
  }
}
