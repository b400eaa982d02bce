import { array, INT64, OPTIONAL_INT64, optional, type Schema, STRING } from '../../../../sdk/index.ts'

export const TRANSACTION_KEY: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.common.TransactionMetadataKey',
  version: 1,
  fields: [{ name: 'id', schema: STRING }],
}

const COLLECTION: Schema = {
  type: 'struct',
  optional: true,
  name: 'event.collection',
  version: 1,
  fields: [
    { name: 'data_collection', schema: STRING },
    { name: 'event_count', schema: INT64 },
  ],
}

export const TRANSACTION_VALUE: Schema = {
  type: 'struct',
  name: 'io.debezium.connector.common.TransactionMetadataValue',
  version: 1,
  fields: [
    { name: 'status', schema: STRING },
    { name: 'id', schema: STRING },
    { name: 'event_count', schema: OPTIONAL_INT64 },
    { name: 'data_collections', schema: optional(array(COLLECTION)) },
    { name: 'ts_ms', schema: INT64 },
  ],
}

/** Counts the events of a transaction, in total and for each table. */
export class TransactionCounter {
  readonly #counts = new Map<string, number>()
  #total = 0

  /** Counts an event and returns its field `transaction`. Each event may have an id of its own. */
  next(collection: string, id: string): object {
    const order = (this.#counts.get(collection) ?? 0) + 1
    this.#counts.set(collection, order)
    this.#total += 1
    return { id, total_order: this.#total, data_collection_order: order }
  }

  begin(id: string, ms: number): object {
    return { status: 'BEGIN', id, event_count: null, data_collections: null, ts_ms: ms }
  }

  end(id: string, ms: number): object {
    const collections = [...this.#counts].map(([name, count]) => ({ data_collection: name, event_count: count }))
    return { status: 'END', id, event_count: this.#total, data_collections: collections, ts_ms: ms }
  }
}
