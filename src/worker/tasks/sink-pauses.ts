import type { Consumer, TopicPartition } from '../../broker/broker.ts'
import { partitionKey } from './sink-offsets.ts'

/** Why a task reads no records: it is paused, or a batch waits for its retry. */
export type PauseReason = 'paused' | 'retry'

/** What a sink task does not read. A partition is read while there is no reason, and the sink has not paused it. */
export class SinkPauses {
  readonly #reasons = new Set<PauseReason>()
  #pausedBySink: readonly TopicPartition[] = []
  #consumer: Consumer | undefined

  has(reason: PauseReason): boolean {
    return this.#reasons.has(reason)
  }

  /** The consumer that is paused from now on. */
  connect(consumer: Consumer): void {
    this.#consumer = consumer
  }

  set(reason: PauseReason, isActive: boolean): void {
    if (this.has(reason) === isActive) return
    if (isActive) this.#reasons.add(reason)
    else this.#reasons.delete(reason)
    this.#pause()
    this.#resume()
  }

  setPausedBySink(partitions: readonly TopicPartition[]): void {
    this.#pausedBySink = partitions
    this.#pause()
    this.#resume()
  }

  /** As in Kafka Connect, a partition that the task keeps stays paused, and one that it gets again later does not. */
  assigned(partitions: readonly TopicPartition[]): void {
    const assigned = new Set(partitions.map(partitionKey))
    this.#pausedBySink = this.#pausedBySink.filter((partition) => assigned.has(partitionKey(partition)))
    this.#pause()
  }

  #pause(): void {
    this.#consumer?.pause(this.#reasons.size > 0 ? this.#consumer.assignment() : this.#pausedBySink)
  }

  #resume(): void {
    if (this.#consumer === undefined || this.#reasons.size > 0) return
    const paused = new Set(this.#pausedBySink.map(partitionKey))
    this.#consumer.resume(this.#consumer.assignment().filter((partition) => !paused.has(partitionKey(partition))))
  }
}
