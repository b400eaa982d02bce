import type { Header, NewRecord, Producer } from '../../broker/broker.ts'
import { recordBytesMax } from '../../broker/record-batch/record-batch.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { truncateText } from '../../common/truncate-text.ts'
import { ERROR_HEADER_PREFIX } from '../../dead-letters/dead-letter.ts'
import { type DeadLetterConfig, parseTaskConfig } from '../configuration/task-config.ts'
import type { Stage } from './error-policy.ts'
import { describeSafely } from './error-trace.ts'
import { InFlightRecords } from './in-flight-records.ts'
import type { TaskClients } from './task-clients.ts'
import type { WorkerTaskContext } from './task-context.ts'
import type { TaskCounters } from './task-counters.ts'
import { ensureTopic } from './task-topics.ts'

/** A record for the dead-letter topic: the record as stored, or as it would have been, and its failure. */
export type DeadLetter = {
  readonly record: Omit<NewRecord, 'topic' | 'partition'>
  /** The position of the record, as header names and values: for a sink `topic`, `partition` and `offset`. */
  readonly position: readonly (readonly [name: string, text: string])[]
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

/** A header that the runtime adds to those of the record. */
export function errorHeader(name: string, text: string | null): Header {
  return [`${ERROR_HEADER_PREFIX}${name}`, text === null ? null : Buffer.from(text)]
}

export type DeadLetterQueueOptions = {
  readonly clients: Pick<TaskClients, 'topics' | 'producer'>
  readonly config: DeadLetterConfig
  readonly task: { readonly connector: string; readonly task: number }
  /** Masked in the headers that describe the error. */
  readonly secrets: readonly string[]
  readonly counters: TaskCounters
  /** Aborts when the task ends. */
  readonly signal: AbortSignal
}

/** An error may quote the whole record: a dead letter with it would exceed the maximum size of a record. */
const ERROR_CHARS_MAX = 65_536

/** Writes failed records to the dead-letter topic. */
export class DeadLetterQueue {
  readonly #config: DeadLetterConfig
  readonly #task: { readonly connector: string; readonly task: number }
  readonly #producer: Producer
  readonly #counters: TaskCounters
  readonly #secrets = new SecretMasker()
  readonly #inFlight: InFlightRecords
  #failure: unknown

  private constructor(options: DeadLetterQueueOptions, producer: Producer) {
    this.#config = options.config
    this.#task = options.task
    this.#counters = options.counters
    this.#producer = producer
    this.#secrets.add(options.secrets)
    this.#inFlight = new InFlightRecords({ recordsActive: 0 }, options.signal)
  }

  /** Creates the topic if it is missing. */
  static async open(options: DeadLetterQueueOptions): Promise<DeadLetterQueue> {
    const { topic, replicationFactor } = options.config
    await ensureTopic(options.clients, {
      name: topic,
      partitions: 1,
      replicationFactor,
      replicationSetting: 'errors.deadletterqueue.topic.replication.factor',
    })
    return new DeadLetterQueue(options, await options.clients.producer())
  }

  /** Does not wait for the write; `flush` does. */
  add(deadLetter: DeadLetter): void {
    const record = this.#toRecord(deadLetter)
    const sent = this.#send(record)
      .then(() => {
        this.#counters.deadLetters += 1
      })
      .catch((error: unknown) => {
        this.#counters.deadLetterFailures += 1
        this.#failure ??= error
      })
    this.#inFlight.add({ records: [record], bytes: recordBytesMax(record) }, sent)
  }

  /** Waits while too many dead letters are not stored yet. Waiting ends when the task ends. */
  waitForRoom(): Promise<void> {
    return this.#inFlight.waitForRoom()
  }

  /**
   * Must resolve before offsets are committed, because a record may be skipped only once it is in the dead-letter
   * topic. Rejects when a write failed.
   */
  async flush(): Promise<void> {
    await this.#inFlight.settled()
    if (this.#failure !== undefined) {
      throw new Error(`could not write to the dead-letter topic '${this.#config.topic}'`, { cause: this.#failure })
    }
  }

  async close(): Promise<void> {
    await this.#producer.close()
  }

  /** Sends the record; when the topic rejects it, retries with less of its content. */
  async #send(record: NewRecord): Promise<void> {
    for (let attempt: NewRecord | undefined = record; ; ) {
      try {
        await this.#producer.send([attempt])
        return
      } catch (error) {
        attempt = reduceContent(attempt, error)
        if (attempt === undefined) throw error
      }
    }
  }

  #toRecord(deadLetter: DeadLetter): NewRecord {
    const { record } = deadLetter
    const context = this.#config.contextHeaders ? this.#contextHeaders(deadLetter) : []
    return { ...record, topic: this.#config.topic, headers: [...(record.headers ?? []), ...context] }
  }

  #contextHeaders({ position, stage, className, error }: DeadLetter): readonly Header[] {
    const { connector, task } = this.#task
    const described: (readonly [string, string])[] = [
      ...position,
      ['connector.name', connector],
      ['task.id', String(task)],
      ['stage', stage],
      ['class.name', className],
    ]
    const isError = error instanceof Error
    if (isError) described.push(['exception.class.name', this.#errorText(() => exceptionName(error))])
    described.push(['exception.message', this.#errorText(() => exceptionMessage(error))])
    if (isError) described.push(['exception.stacktrace', this.#errorText(() => error.stack)])
    return described.map(([name, text]) => errorHeader(name, text))
  }

  /** A part of an error of a plugin, which can be of any type and length. */
  #errorText(read: () => unknown): string {
    return truncateText(this.#secrets.mask(describeSafely(read)), ERROR_CHARS_MAX)
  }
}

/** Opens the queue of a task, which `resources` closes. Undefined if the configuration of the task has none. */
export async function openDeadLetters(
  { spec, counters }: Pick<WorkerTaskContext, 'spec' | 'counters'>,
  clients: TaskClients,
  resources: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<DeadLetterQueue | undefined> {
  const { deadLetters: config } = parseTaskConfig(spec.config)
  if (config === undefined) return undefined
  const { secrets } = spec
  const opening = DeadLetterQueue.open({ clients, config, task: spec, secrets, counters, signal })
  return resources.adopt(await opening, (deadLetters) => deadLetters.close())
}

const NO_CONTENT = errorHeader('content', 'none')

/**
 * Returns a rejected dead letter without the likely cause of the rejection: first the timestamp, which is kept as a
 * header, if it is invalid; the value and then the key and the record's own headers if it is too large. Undefined when
 * nothing is left to remove.
 */
function reduceContent({ timestampMs, ...record }: NewRecord, error: unknown): NewRecord | undefined {
  const { code } = error as { code?: unknown }
  const { headers = [], key } = record
  if (code === 'invalid_record' && timestampMs !== undefined) {
    return { ...record, headers: [...headers, errorHeader('timestamp', String(timestampMs))] }
  }
  if (code !== 'record_too_large') return undefined
  const time = timestampMs === undefined ? {} : { timestampMs }
  const own = headers.filter(([name]) => name.startsWith(ERROR_HEADER_PREFIX))
  if (!headers.includes(NO_CONTENT)) return { ...record, ...time, value: null, headers: [...headers, NO_CONTENT] }
  return key === null && own.length === headers.length ? undefined : { ...record, ...time, key: null, headers: own }
}

export function exceptionMessage(error: unknown): unknown {
  return error instanceof Error ? error.message : error
}

/** The name of the corresponding Java exception, if there is one. */
export function exceptionName(error: Error): string {
  const { code } = error as { code?: unknown }
  return (typeof code === 'string' ? JAVA_NAMES[code] : undefined) ?? error.name
}

const JAVA_NAMES: Readonly<Record<string, string>> = {
  data: 'org.apache.kafka.connect.errors.DataException',
  retriable: 'org.apache.kafka.connect.errors.RetriableException',
  config: 'org.apache.kafka.common.config.ConfigException',
  record_too_large: 'org.apache.kafka.common.errors.RecordTooLargeException',
  invalid_record: 'org.apache.kafka.common.InvalidRecordException',
}
