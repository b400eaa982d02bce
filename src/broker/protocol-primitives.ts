import { BinaryReader } from '../common/binary-reader.ts'
import { BinaryWriter } from '../common/binary-writer.ts'

/**
 * Writes Kafka's primitive types (kafka.apache.org/protocol). Strings and bytes have a length prefix, -1 for null; the
 * compact types of flexible versions have an unsigned varint of length + 1.
 */
export class ProtocolWriter extends BinaryWriter {
  readonly #parts: Uint8Array[] = []

  bool(value: boolean): this {
    return this.uint8(value ? 1 : 0)
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1)
    return this.int16(Buffer.byteLength(value)).utf8(value)
  }

  /** Large byte arrays are not copied. */
  data(value: Uint8Array): this {
    this.int32(value.length)
    this.#parts.push(this.take(), value)
    return this
  }

  array<T>(values: readonly T[], write: (value: T) => unknown): this {
    this.int32(values.length)
    for (const value of values) write(value)
    return this
  }

  compactString(value: string | null): this {
    if (value === null) return this.varint(0)
    return this.varint(Buffer.byteLength(value) + 1).utf8(value)
  }

  compactArray<T>(values: readonly T[] | undefined, write: (value: T) => unknown): this {
    if (values === undefined) return this.varint(0)
    this.varint(values.length + 1)
    for (const value of values) write(value)
    return this
  }

  /** An empty tagged-field section, which ends every structure of a flexible version. */
  noTags(): this {
    return this.uint8(0)
  }

  /** The written data in parts: large byte arrays are not copied. */
  parts(): readonly Uint8Array[] {
    return [...this.#parts, this.bytes]
  }
}

/** Reads Kafka's primitive types. Throws a `RangeError` if the data ends before a value does. */
export class ProtocolReader extends BinaryReader {
  bool(): boolean {
    return this.int8() !== 0
  }

  int64(): number {
    return Number(this.bigInt64())
  }

  nullableString(): string | null {
    const length = this.int16()
    return length < 0 ? null : this.utf8(length)
  }

  string(): string {
    return this.nullableString() ?? ''
  }

  /** A view of the response; null if the length is negative. */
  nullableData(): Buffer | null {
    const length = this.int32()
    return length < 0 ? null : this.view(length)
  }

  data(): Buffer {
    return this.nullableData() ?? Buffer.alloc(0)
  }

  array<T>(read: () => T): T[] {
    const values: T[] = []
    for (let left = this.int32(); left > 0; left--) values.push(read())
    return values
  }

  compactString(): string {
    const length = this.varint() - 1
    return length < 0 ? '' : this.utf8(length)
  }

  compactArray<T>(read: () => T): T[] {
    const values: T[] = []
    for (let left = this.varint() - 1; left > 0; left--) values.push(read())
    return values
  }

  skipTags(): void {
    this.tags(() => false)
  }

  /** Calls `read` with each tag. A field that it does not read, for which it returns false, is skipped. */
  tags(read: (tag: number) => boolean): void {
    for (let left = this.varint(); left > 0; left--) {
      const tag = this.varint()
      const length = this.varint()
      if (!read(tag)) this.skip(length)
    }
  }
}

/** Values grouped by topic, as in most requests. */
export type ByTopic<T> = readonly { readonly topic: string; readonly partitions: readonly T[] }[]

export function byTopic<T extends { readonly topic: string }>(values: readonly T[]): ByTopic<T> {
  return [...Map.groupBy(values, ({ topic }) => topic)].map(([topic, partitions]) => ({ topic, partitions }))
}

export function writeTopics<T>(writer: ProtocolWriter, topics: ByTopic<T>, write: (value: T) => unknown): void {
  writer.array(topics, ({ topic, partitions }) => writer.string(topic).array(partitions, write))
}

/** Reads values grouped by topic into one list. */
export function readTopics<T>(reader: ProtocolReader, read: (topic: string) => T): T[] {
  return reader
    .array(() => {
      const topic = reader.string()
      return reader.array(() => read(topic))
    })
    .flat()
}
