import type { Clock } from '../../../common/clock.ts'
import { messageOf, UserError } from '../../../common/errors.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { unlessAborted } from '../../../common/unless-aborted.ts'
import { HostConnection } from '../../../java/host-connection.ts'
import { HostLostError, JavaPluginError } from '../../../java/host-error.ts'
import type { HostLease, JavaHostPool } from '../../../java/java-host-pool.ts'
import type { JavaPluginLocation } from '../../../java/plugin-location.ts'
import { type PluginName, pluginError } from '../../plugin-host.ts'

/** Limit of a response, which is decoded in the worker's main thread. */
const FRAME_BYTES_MAX = 32 * 1024 * 1024
/** How long to wait for the exit reason of a JVM after its connections have closed, in ms. */
const EXIT_MS_MAX = 2_000
/** Interval of reports of a call that does not return, in ms. */
const SLOW_CALL_MS = 10_000
/** How long to wait for the stack and the CPU time of a call that does not return, in ms. */
const PROGRESS_MS_MAX = 2_000

export type JavaCallsOptions = {
  readonly hosts: JavaHostPool
  readonly logger: Pick<Logger, 'warn'>
  /** The CPU time that a call may use, and how long a call without a signal may last, in ms. */
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
    signal?: AbortSignal,
  ): Promise<T> {
    const opened = await this.open(location, plugin)
    try {
      return await this.run(opened, plugin, () => call(opened.connection), signal)
    } finally {
      opened.connection.close()
      opened.lease.release()
    }
  }

  async open(location: JavaPluginLocation, plugin: PluginName): Promise<LeasedConnection> {
    const lease = await this.#lease(location)
    try {
      const connection = await HostConnection.open(lease.address, { frameBytesMax: FRAME_BYTES_MAX })
      return { connection, lease }
    } catch (error) {
      lease.release()
      throw await this.#failure(error, plugin, lease)
    }
  }

  /**
   * Rejects with a `WorkerError`. A call may use `timeoutMs` of CPU time. With `signal` it has no other limit, but is given up when
   * the signal aborts; without, it may also last no longer. The connection of a call that does not return is closed, and its JVM is ended
   * as soon as nothing else uses it.
   */
  async run<T>(opened: LeasedConnection, plugin: PluginName, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { connection, lease } = opened
    try {
      const outcome = await this.#outcome(call(), opened, plugin, signal)
      if ('value' in outcome) return outcome.value
      connection.close()
      lease.abandon()
      signal?.throwIfAborted()
      const message = `${plugin.class} ${outcome.what}`
      throw pluginError('plugin_unresponsive', { message, trace: `${message}${outcome.stack}` })
    } catch (error) {
      throw await this.#failure(error, plugin, lease)
    }
  }

  /** The value that a call returns, or why it is given up. Reports regularly that it has not returned. */
  async #outcome<T>(
    called: Promise<T>,
    { connection }: LeasedConnection,
    plugin: PluginName,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly value: T } | { readonly what: string; readonly stack: string }> {
    const { timeoutMs, clock, logger } = this.#options
    const value = called.then((returned) => ({ value: returned }))
    const ended = signal === undefined ? value : unlessAborted(value, signal)
    const startMs = clock.monotonicMs()
    for (;;) {
      const leftMs = startMs + timeoutMs - clock.monotonicMs()
      const waitMs = leftMs > 0 ? Math.min(leftMs, SLOW_CALL_MS) : SLOW_CALL_MS
      const outcome = await withTimeout(ended, waitMs, () => 'slow' as const, clock)
      if (outcome === undefined) return { what: 'was given up', stack: '' }
      if (outcome !== 'slow') return outcome
      const { stack, cpuMs } = await this.#progressOf(connection)
      const waitedMs = Math.round(clock.monotonicMs() - startMs)
      if (cpuMs > timeoutMs) return { what: `did not return within ${timeoutMs} ms of CPU time`, stack }
      if (signal === undefined && waitedMs >= timeoutMs) return { what: `did not return within ${timeoutMs} ms`, stack }
      logger.warn({ class: plugin.class, waitedMs, cpuMs }, `a call of a Java plugin is slow to return${stack}`)
    }
  }

  /** What the call does at the moment, to be appended to a sentence, and the CPU time that it has used. */
  async #progressOf(connection: HostConnection): Promise<{ readonly stack: string; readonly cpuMs: number }> {
    const asked = connection.call('progress', {}).catch(() => undefined)
    const progress = await withTimeout(asked, PROGRESS_MS_MAX, () => undefined, this.#options.clock)
    const { stack, cpuMs } = (progress ?? { stack: '', cpuMs: 0 }) as { stack: string; cpuMs: number }
    return { stack: stack === '' ? '' : `; stack of its thread:\n${stack}`, cpuMs: Number(cpuMs) }
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
