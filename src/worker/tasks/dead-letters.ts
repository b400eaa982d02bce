import type { Broker, Header, NewRecord, Producer, StoredRecord } from '../../broker/broker.ts'
import type { Stage } from './error-policy.ts'
import type { DeadLetterConfig } from './task-config.ts'
import type { TaskCounters } from './task-counters.ts'

/** A record for the dead-letter topic: as it stood in the log, and what happened to it. */
export type DeadLetter = {
  readonly stored: Pick<StoredRecord, 'key' | 'value' | 'headers'>
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

/** The topic for what a sink could not take. */
export class DeadLetters {
  readonly #config: DeadLetterConfig
  readonly #task: { readonly connector: string; readonly task: number }
  readonly #producer: Producer
  readonly #counters: TaskCounters
  readonly #sending = new Set<Promise<unknown>>()
  #failure: unknown

  private constructor(parts: DeadLetterParts, producer: Producer) {
    this.#config = parts.config
    this.#task = parts.task
    this.#counters = parts.counters
    this.#producer = producer
  }

  /** Makes the topic when it is missing. */
  static async open(parts: DeadLetterParts): Promise<DeadLetters> {
    const { topic, replicationFactor } = parts.config
    const known = await parts.broker.topics.describe(topic)
    if (!known) await parts.broker.topics.create({ name: topic, partitions: 1, replicationFactor })
    return new DeadLetters(parts, await parts.broker.producer())
  }

  /** Does not wait; `flush` does. */
  add(letter: DeadLetter): void {
    const sending = this.#producer
      .send([this.#toRecord(letter)])
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

  /** Before offsets are committed: what is not in the dead-letter topic may not be stepped over. */
  async flush(): Promise<void> {
    await Promise.all(this.#sending)
    if (this.#failure !== undefined) {
      throw new Error(`could not write to the dead-letter topic '${this.#config.topic}'`, { cause: this.#failure })
    }
  }

  async close(): Promise<void> {
    await this.#producer.close()
  }

  #toRecord(letter: DeadLetter): NewRecord {
    const { key, value, headers } = letter.stored
    const context = this.#config.contextHeaders ? this.#context(letter) : []
    return { topic: this.#config.topic, key, value, headers: [...headers, ...context] }
  }

  #context({ topic, partition, offset, stage, className, error }: DeadLetter): readonly Header[] {
    const { connector, task } = this.#task
    const known: [string, string | null][] = [
      ['topic', topic],
      ['partition', String(partition)],
      ['offset', String(offset)],
      ['connector.name', connector],
      ['task.id', String(task)],
      ['stage', stage],
      ['class.name', className],
    ]
    if (error instanceof Error) {
      known.push(['exception.class.name', error.name])
      known.push(['exception.message', error.message])
      known.push(['exception.stacktrace', error.stack ?? ''])
    }
    return known.map(([name, text]) => [`__connect.errors.${name}`, text === null ? null : Buffer.from(text)])
  }
}

export type DeadLetterParts = {
  readonly broker: Broker
  readonly config: DeadLetterConfig
  readonly task: { readonly connector: string; readonly task: number }
  readonly counters: TaskCounters
}
