/**
 * Kafka's primitive types, big endian (kafka.apache.org/protocol). Strings and bytes have a length prefix, -1 for null;
 * the compact types of flexible versions have an unsigned varint of length + 1.
 */
export class ProtocolWriter {
  readonly #parts: Uint8Array[] = []
  #buffer = Buffer.allocUnsafe(512)
  #at = 0

  int8(value: number): this {
    this.#reserve(1)
    this.#at = this.#buffer.writeInt8(value, this.#at)
    return this
  }

  bool(value: boolean): this {
    return this.int8(value ? 1 : 0)
  }

  int16(value: number): this {
    this.#reserve(2)
    this.#at = this.#buffer.writeInt16BE(value, this.#at)
    return this
  }

  int32(value: number): this {
    this.#reserve(4)
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
    return this
  }

  int64(value: number | bigint): this {
    this.#reserve(8)
    this.#at = this.#buffer.writeBigInt64BE(BigInt(value), this.#at)
    return this
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1)
    return this.int16(Buffer.byteLength(value)).#text(value)
  }

  /** Large byte arrays are not copied. */
  bytes(value: Uint8Array): this {
    this.int32(value.length)
    this.#cut()
    this.#parts.push(value)
    return this
  }

  array<T>(values: readonly T[], write: (value: T) => unknown): this {
    this.int32(values.length)
    for (const value of values) write(value)
    return this
  }

  compactString(value: string | null): this {
    if (value === null) return this.#varint(0)
    return this.#varint(Buffer.byteLength(value) + 1).#text(value)
  }

  compactArray<T>(values: readonly T[] | undefined, write: (value: T) => unknown): this {
    if (values === undefined) return this.#varint(0)
    this.#varint(values.length + 1)
    for (const value of values) write(value)
    return this
  }

  /** An empty tagged-field section, which ends every structure of a flexible version. */
  noTags(): this {
    return this.int8(0)
  }

  /** The written data in parts: large byte arrays are not copied. */
  parts(): readonly Uint8Array[] {
    this.#cut()
    return this.#parts
  }

  #text(value: string): this {
    const length = Buffer.byteLength(value)
    this.#reserve(length)
    this.#at += this.#buffer.write(value, this.#at)
    return this
  }

  #varint(value: number): this {
    this.#reserve(5)
    let left = value
    for (; left > 127; left >>>= 7) this.#buffer[this.#at++] = (left & 0x7f) | 0x80
    this.#buffer[this.#at++] = left
    return this
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    this.#cut()
    this.#buffer = Buffer.allocUnsafe(Math.max(512, bytes))
  }

  /** Turns the data written so far into a part. */
  #cut(): void {
    if (this.#at > 0) this.#parts.push(this.#buffer.subarray(0, this.#at))
    this.#buffer = this.#buffer.subarray(this.#at)
    this.#at = 0
  }
}

export class ProtocolReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  int8(): number {
    this.#at += 1
    return this.#bytes.readInt8(this.#at - 1)
  }

  bool(): boolean {
    return this.int8() !== 0
  }

  int16(): number {
    this.#at += 2
    return this.#bytes.readInt16BE(this.#at - 2)
  }

  int32(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  bigint(): bigint {
    this.#at += 8
    return this.#bytes.readBigInt64BE(this.#at - 8)
  }

  int64(): number {
    return Number(this.bigint())
  }

  nullableString(): string | null {
    const length = this.int16()
    return length < 0 ? null : this.#text(length)
  }

  string(): string {
    return this.nullableString() ?? ''
  }

  /** A view of the response. */
  bytes(): Buffer {
    const length = Math.max(0, this.int32())
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  array<T>(read: () => T): T[] {
    const values: T[] = []
    for (let left = this.int32(); left > 0; left--) values.push(read())
    return values
  }

  compactString(): string {
    const length = this.#varint() - 1
    return length < 0 ? '' : this.#text(length)
  }

  compactArray<T>(read: () => T): T[] {
    const values: T[] = []
    for (let left = this.#varint() - 1; left > 0; left--) values.push(read())
    return values
  }

  skipTags(): void {
    for (let left = this.#varint(); left > 0; left--) {
      this.#varint()
      const length = this.#varint()
      this.#at += length
    }
  }

  #text(length: number): string {
    this.#at += length
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 128) return value
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
