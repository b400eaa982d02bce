import { trimAsJava } from '../common/trim-as-java.ts'
import { untilAborted } from '../common/unless-aborted.ts'
import type { SinkRecord, SinkTask } from '../sdk/index.ts'
import {
  RetriableError,
  type SinkConnector,
  type SinkContext,
  type SinkPartition,
  type SinkPosition,
} from '../sdk/index.ts'
import type { ConnectorChains, SinkChain } from './connector-chains.ts'
import type { FrameReader } from './frame-reader.ts'
import { HostConnection } from './host-connection.ts'
import { JavaPluginError } from './host-error.ts'
import type { JavaModule } from './java-module.ts'
import { pluginInfo } from './plugin-info.ts'
import type { JavaPluginDescription } from './plugin-location.ts'
import { writeSinkRecords } from './record-codec.ts'
import { stopTask } from './task-connection.ts'

/** Limit of the records that the task may still report as errant. */
const REPORTABLE_MAX = 10_000

/** Requests of a sink task to its context, which the host sends with each response. */
type ContextRequests = {
  readonly rewinds?: readonly (readonly [topic: string, partition: number, offset: number])[]
  /** All partitions that are currently paused. */
  readonly paused?: readonly (readonly [topic: string, partition: number])[]
  readonly timeoutMs?: number
  readonly commitRequested?: boolean
}
type FlushResponse = ContextRequests & {
  readonly offsets: readonly (readonly [topic: string, partition: number, offset: number])[]
}

/** A sink connector in a Java host. */
export function javaSink(
  module: JavaModule,
  description: JavaPluginDescription,
  chains: ConnectorChains,
): SinkConnector {
  return {
    ...pluginInfo(description),
    kind: 'sink',
    start: (context) => JavaSinkTask.start(module, description, context, chains),
  }
}

class JavaSinkTask implements SinkTask {
  /** As in Kafka Connect: sinks do in `put` what is due at a time, such as closing a file. */
  readonly putsEmptyBatches = true
  readonly #connection: HostConnection
  readonly #context: SinkContext<unknown>
  /** The plugins of the pipeline that run before the sink, in its JVM. */
  readonly #chain: SinkChain | undefined
  /** By topic, partition and offset in the log. */
  readonly #reportable = new Map<string, SinkRecord>()
  /** The delay before the next attempt that the task asked for, in ms. */
  #timeoutMs: number | undefined

  private constructor(connection: HostConnection, context: SinkContext<unknown>, chain: SinkChain | undefined) {
    this.#connection = connection
    this.#context = context
    this.#chain = chain
    chain?.connect(connection)
    connection.answer('sink.report', (body) => this.#onReport(body))
    connection.answer('sink.committed', (body) => this.#committedOffsets(body))
    connection.answer('sink.member', async () => context.groupMember())
    connection.on('sink.requests', (body) => this.#apply(body.value() as ContextRequests))
  }

  static async start(
    module: JavaModule,
    description: JavaPluginDescription,
    context: SinkContext<unknown>,
    chains: ConnectorChains,
  ): Promise<JavaSinkTask> {
    const { connector, task, raw, signal } = context
    const connection = await HostConnection.open(module.address, { signal })
    const chain = chains.ofSink(`${connector}-${task}`)
    const started = new JavaSinkTask(connection, context, chain)
    try {
      const start = connection.call('sink.start', {
        class: description.class,
        name: `${connector}-${task}`,
        config: raw,
        reportsErrantRecords: reportsErrantRecords(raw),
        ...(chain !== undefined && { chain: chain.options }),
      })
      if (await untilAborted(start, signal)) started.#apply((await start) as ContextRequests)
      return started
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Returns the offsets that the task set by its context. */
  async open(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[] | undefined> {
    const { rewinds, ...requests } = await this.#call('sink.open', partitions.map(toPair))
    this.#apply(requests)
    return rewinds?.map(toPosition)
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    for (const record of records) this.#reportable.set(recordKey(record.origin), record)
    for (const key of this.#reportable.keys()) {
      if (this.#reportable.size <= Math.max(REPORTABLE_MAX, records.length)) break
      this.#reportable.delete(key)
    }
    try {
      this.#apply((await this.#put(records)).value() as ContextRequests)
    } catch (error) {
      throw this.#withDelay(error)
    }
  }

  async #put(records: readonly SinkRecord[]): Promise<FrameReader> {
    const chain = this.#chain
    if (chain !== undefined) {
      return this.#connection.request('sink.put-converted', (body) => chain.writePut(body, records))
    }
    // A batch is sent in several frames, so that neither side holds all of it twice.
    let rest = records
    while (rest.length > 0) {
      this.#connection.event('sink.records', (body) => {
        rest = rest.slice(writeSinkRecords(body, rest))
      })
      await this.#connection.drained()
    }
    return this.#connection.request('sink.put')
  }

  /** Java's `preCommit`. */
  async flush(offsets: readonly SinkPosition[]): Promise<readonly SinkPosition[]> {
    const argument = offsets.map(({ topic, partition, offset }) => [topic, partition, offset])
    const response = (await this.#call('sink.pre-commit', argument)) as FlushResponse
    this.#apply(response)
    return response.offsets.map(toPosition)
  }

  async close(partitions: readonly SinkPartition[]): Promise<void> {
    this.#apply(await this.#call('sink.close', partitions.map(toPair)))
  }

  async stop(): Promise<void> {
    await stopTask(this.#connection, 'sink.stop')
  }

  async #call(operation: string, argument: readonly unknown[]): Promise<ContextRequests> {
    return (await this.#connection.call(operation, argument)) as ContextRequests
  }

  async #committedOffsets(body: FrameReader): Promise<readonly unknown[]> {
    const partitions = body.value() as readonly (readonly [string, number])[]
    const offsets = await this.#context.committedOffsets(partitions.map(toPartition))
    return offsets.map(({ topic, partition, offset }) => [topic, partition, offset])
  }

  #apply({ rewinds, paused, timeoutMs, commitRequested }: ContextRequests): void {
    if (rewinds !== undefined) this.#context.seek(rewinds.map(toPosition))
    if (paused !== undefined) {
      this.#context.setPausedPartitions(paused.map(toPartition))
    }
    if (commitRequested) this.#context.requestCommit()
    this.#timeoutMs = timeoutMs
  }

  /** A retriable error, with the delay that the task asked for. */
  #withDelay(error: unknown): unknown {
    const retryAfterMs = this.#timeoutMs
    this.#timeoutMs = undefined
    if (!(error instanceof JavaPluginError) || error.code !== 'retriable' || retryAfterMs === undefined) return error
    return new RetriableError(error.message, { cause: error, retryAfterMs })
  }

  async #onReport(body: FrameReader): Promise<null> {
    const origin = { topic: body.string(), partition: body.varint(), offset: Number(body.int64()) }
    const failure = body.value() as Readonly<Record<string, unknown>>
    const record = this.#reportable.get(recordKey(origin))
    if (record === undefined) throw new Error(`offset ${origin.offset} of ${origin.topic} was put too long ago`)
    const [className, message, trace] = ['class', 'message', 'trace'].map((member) => String(failure[member])) as [
      string,
      string,
      string,
    ]
    await this.#context.reject(record, new JavaPluginError({ className, message, trace, isRetriable: false }))
    return null
  }
}

/** As in Kafka Connect, a task gets a reporter only with a dead letter queue or an error log. */
function reportsErrantRecords(raw: Readonly<Record<string, string>>): boolean {
  const isLogged = trimAsJava(raw['errors.log.enable'] ?? '').toLowerCase() === 'true'
  return isLogged || (raw['errors.deadletterqueue.topic.name'] ?? '') !== ''
}

function recordKey({ topic, partition, offset }: SinkPosition): string {
  return `${topic}-${partition}-${offset}`
}

function toPair({ topic, partition }: SinkPartition): readonly [string, number] {
  return [topic, partition]
}

function toPartition([topic, partition]: readonly [string, number]): SinkPartition {
  return { topic, partition }
}

function toPosition([topic, partition, offset]: readonly [string, number, number]): SinkPosition {
  return { topic, partition, offset }
}
