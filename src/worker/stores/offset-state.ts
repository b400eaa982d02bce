import { parseExactJson, printExactJson } from '../../common/exact-json.ts'
import type { Position } from '../../sdk/record.ts'

/** A stored source offset with the bytes of its key, because another writer may order the members differently. */
export type StoredOffset = {
  readonly key: Buffer
  readonly partition: Position | null
  readonly offset: Position
}

/** The state that results from all records of the offsets topic, by connector. */
export class OffsetState {
  readonly #connectors = new Map<string, Map<string, StoredOffset>>()

  /** All offsets of a connector, in the order in which its partitions were first written. */
  of(connector: string): readonly StoredOffset[] {
    return [...(this.#connectors.get(connector)?.values() ?? [])]
  }

  apply({ connector, key, partition, offset }: OffsetRecord): void {
    const known = this.#connectors.get(connector) ?? new Map<string, StoredOffset>()
    const id = partitionId(partition)
    if (offset === undefined) known.delete(id)
    else known.set(id, { key, partition, offset })
    if (known.size === 0) this.#connectors.delete(connector)
    else this.#connectors.set(connector, known)
  }
}

/** A parsed record of the offsets topic; an undefined offset deletes the partition. */
export type OffsetRecord = {
  readonly connector: string
  readonly key: Buffer
  readonly partition: Position | null
  readonly offset: Position | undefined
}

/** A null value is a tombstone. Throws when the key or value is not in Kafka Connect's format. */
export function parseOffsetRecord(key: Buffer, value: Buffer | null): OffsetRecord {
  const [connector, partition] = parseOffsetKey(key)
  const offset = value === null ? undefined : (parseExactJson(value.toString()) as Position)
  return { connector, key: Buffer.from(key), partition, offset }
}

export function toOffsetKey(connector: string, partition: Position | null): Buffer {
  return Buffer.from(printExactJson([connector, partition]))
}

function parseOffsetKey(key: Buffer): readonly [connector: string, partition: Position | null] {
  const parsed = parseExactJson(key.toString())
  if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[0] !== 'string' || typeof parsed[1] !== 'object') {
    throw new Error(`not an offset key: ${key.toString().slice(0, 200)}`)
  }
  return parsed as unknown as readonly [string, Position | null]
}

/** Returns the same id for equal partitions, independent of the order of their members. */
export function partitionId(partition: Position | null): string {
  if (partition === null) return 'null'
  return printExactJson(Object.entries(partition).sort(([a], [b]) => (a < b ? -1 : 1)))
}
