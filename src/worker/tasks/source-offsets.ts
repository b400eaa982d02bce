import { printExactJson } from '../../common/exact-json.ts'
import type { Position } from '../../sdk/index.ts'
import { partitionId, toOffsetKey } from '../stores/offset-state.ts'
import { ownOffsetsTopic } from '../stores/offset-store.ts'
import type { SourceProgress } from './acknowledged-prefix.ts'
import type { TaskDefaults, TaskSpec } from './task-spec.ts'

/** A record of an offsets topic, in Kafka Connect's format. */
type OffsetsTopicRecord = { readonly topic: string; readonly key: Uint8Array; readonly value: Uint8Array }

export type SourceOffsetsOptions = Pick<TaskSpec, 'connector' | 'config' | 'offsets'> & {
  readonly worker: Pick<TaskDefaults, 'offsetsTopic'>
}

/**
 * Encodes the source offsets of a running task. The delivery produces the records, at least once or in the transaction
 * of the batch; `OffsetStore` reads and alters them.
 */
export class SourceOffsets {
  readonly #connector: string
  /**
   * The keys by partition, as they are stored and as they were first written: only a record with the same bytes as key replaces the
   * stored one. A record with another key may be in another partition of the topic, so that it is not known which is the newer one.
   */
  readonly #keys: Map<string, Uint8Array>
  readonly #topics: ReadonlySet<string>

  constructor({ connector, config, offsets, worker }: SourceOffsetsOptions) {
    this.#connector = connector
    this.#keys = new Map(offsets.map(({ partition, key }) => [partitionId(partition), key]))
    this.#topics = new Set([ownOffsetsTopic(config) ?? worker.offsetsTopic, worker.offsetsTopic])
  }

  /** The records for the connector's own offsets topic, if it has one, and for the worker's. */
  encode(progress: readonly SourceProgress<Position>[]): readonly OffsetsTopicRecord[] {
    return progress.flatMap(({ partition, offset }) => {
      const id = partitionId(partition)
      const key = this.#keys.get(id) ?? toOffsetKey(this.#connector, partition)
      this.#keys.set(id, key)
      const value = Buffer.from(printExactJson(offset))
      return [...this.#topics].map((topic) => ({ topic, key, value }))
    })
  }
}
