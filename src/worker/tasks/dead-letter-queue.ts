import type { Header, NewRecord, Producer } from '../../broker/broker.ts'
import { SecretMasker } from '../../config/secret-masker.ts'
import type { DeadLetterConfig } from '../configuration/task-config.ts'
import type { Stage } from './error-policy.ts'
import { ensureTopic, type TaskClients } from './task-clients.ts'
import type { TaskCounters } from './task-counters.ts'

/** A record for the dead-letter topic: the record as stored, or as it would have been, and its failure. */
export type DeadLetter = {
  readonly record: Omit<NewRecord, 'topic' | 'partition'>
  /** Where the record came from, as header names and values: for a sink `topic`, `partition` and `offset`. */
  readonly place: readonly (readonly [name: string, text: string])[]
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

const PREFIX = '__connect.errors.'

/** A header that the runtime adds to those of the record. */
export function errorHeader(name: string, text: string | null): Header {
  return [`${PREFIX}${name}`, text === null ? null : Buffer.from(text)]
}

/** Writes failed records to the dead-letter topic. */
export class DeadLetterQueue {
  readonly #config: DeadLetterConfig
  readonly #task: { readonly connector: string; readonly task: number }
  readonly #producer: Producer
  readonly #counters: TaskCounters
  readonly #secrets = new SecretMasker()
  readonly #sending = new Set<Promise<unknown>>()
  #failure: unknown

  private constructor(parts: DeadLetterQueueOptions, producer: Producer) {
    this.#config = parts.config
    this.#task = parts.task
    this.#counters = parts.counters
    this.#producer = producer
    this.#secrets.add(parts.secrets)
  }

  /** Creates the topic if it is missing. */
  static async open(parts: DeadLetterQueueOptions): Promise<DeadLetterQueue> {
    const { topic, replicationFactor } = parts.config
    await ensureTopic(parts.clients, { name: topic, partitions: 1, replicationFactor })
    return new DeadLetterQueue(parts, await parts.clients.producer())
  }

  /** Does not wait for the write; `flush` does. */
  add(letter: DeadLetter): void {
    const sending = this.#send(this.#toRecord(letter))
      .then(() => {
        this.#counters.deadLetters += 1
      })
      .catch((error: unknown) => {
        this.#counters.deadLetterFailures += 1
        this.#failure ??= error
      })
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  /**
   * Must resolve before offsets are committed, because a record may be skipped only once it is in the dead-letter
   * topic. Rejects when a write failed.
   */
  async flush(): Promise<void> {
    await Promise.all(this.#sending)
    if (this.#failure !== undefined) {
      throw new Error(`could not write to the dead-letter topic '${this.#config.topic}'`, { cause: this.#failure })
    }
  }

  async close(): Promise<void> {
    await this.#producer.close()
  }

  /** Sends the record; when the topic rejects it, retries with less of its content. */
  async #send(record: NewRecord): Promise<void> {
    for (let left: NewRecord | undefined = record; ; ) {
      try {
        await this.#producer.send([left])
        return
      } catch (error) {
        left = lesser(left, error)
        if (left === undefined) throw error
      }
    }
  }

  #toRecord(letter: DeadLetter): NewRecord {
    const { record } = letter
    const context = this.#config.contextHeaders ? this.#context(letter) : []
    return { ...record, topic: this.#config.topic, headers: [...(record.headers ?? []), ...context] }
  }

  #context({ place, stage, className, error }: DeadLetter): readonly Header[] {
    const { connector, task } = this.#task
    const known: (readonly [string, string])[] = [
      ...place,
      ['connector.name', connector],
      ['task.id', String(task)],
      ['stage', stage],
      ['class.name', className],
    ]
    if (error instanceof Error) {
      known.push(['exception.class.name', exceptionName(error)])
      known.push(['exception.message', this.#secrets.mask(error.message)])
      known.push(['exception.stacktrace', this.#secrets.mask(error.stack ?? '')])
    }
    return known.map(([name, text]) => errorHeader(name, text))
  }
}

const CUT = errorHeader('content', 'none')

/**
 * Returns a rejected dead letter without the likely cause of the rejection: first the timestamp, which is kept as a
 * header, if it is invalid; the value and then the key and the record's own headers if it is too large. Undefined when
 * nothing is left to remove.
 */
function lesser({ timestampMs, ...record }: NewRecord, error: unknown): NewRecord | undefined {
  const { code } = error as { code?: unknown }
  const { headers = [], key } = record
  if (code === 'invalid_record' && timestampMs !== undefined) {
    return { ...record, headers: [...headers, errorHeader('timestamp', String(timestampMs))] }
  }
  if (code !== 'record_too_large') return undefined
  const time = timestampMs === undefined ? {} : { timestampMs }
  const own = headers.filter(([name]) => name.startsWith(PREFIX))
  if (!headers.includes(CUT)) return { ...record, ...time, value: null, headers: [...headers, CUT] }
  return key === null && own.length === headers.length ? undefined : { ...record, ...time, key: null, headers: own }
}

/** The name of the corresponding Java exception, if there is one. */
function exceptionName(error: Error): string {
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

export type DeadLetterQueueOptions = {
  readonly clients: Pick<TaskClients, 'topics' | 'producer'>
  readonly config: DeadLetterConfig
  readonly task: { readonly connector: string; readonly task: number }
  /** Masked in the headers that describe the error. */
  readonly secrets: readonly string[]
  readonly counters: TaskCounters
}
