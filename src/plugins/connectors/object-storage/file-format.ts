import { type AvroCodec, AvroFileWriter } from '../../../java-compat/avro/avro-file.ts'
import type { ToAvroOptions } from '../../../java-compat/avro/to-avro.ts'
import { type JsonWriter, jsonWriter, plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, type Schema, valueLabel } from '../../../sdk/index.ts'

/** Encodes the values of one file. Methods that add throw a `DataError` for a value that does not fit, and add nothing of it. */
export type FileEncoder = {
  add(value: unknown, schema: Schema | null): void
  /** Removes the value that was added last. Can be called once after each `add`. */
  removeLast(): void
  /** About how many bytes were not taken. */
  readonly length: number
  /** What is complete since the last call. */
  take(): Buffer
  /** The rest of the file. */
  end(): Buffer
}

export type FormatSettings =
  | { readonly format: 'json'; readonly decimals: 'BASE64' | 'NUMERIC' }
  | { readonly format: 'bytes'; readonly extension: string; readonly separator: string }
  | { readonly format: 'avro'; readonly codec: AvroCodec; readonly options: ToAvroOptions }

export type FileFormat = {
  /** How many bytes of values are taken at once; undefined: the default. Values are in memory until then. */
  readonly pieceBytes?: number
  /** Such as `.json`, before that of the compression. */
  readonly extension: string
  /** Whether whole files are compressed, not their blocks. */
  readonly isCompressible: boolean
  /** Whether only structs can be written, so that keys and headers are wrapped in one. */
  readonly needsStruct?: boolean
  /** Begins a file whose first value has this schema. Throws a `DataError` if the format cannot represent it. */
  open(schema: Schema | null, name: string): FileEncoder
}

export function fileFormat(settings: FormatSettings): FileFormat {
  switch (settings.format) {
    case 'json': {
      const text = jsonText(settings.decimals)
      return { extension: '.json', isCompressible: true, open: () => new LineEncoder(text) }
    }
    case 'bytes': {
      const { extension, separator } = settings
      return { ...delimitedFormat({ after: separator }), extension }
    }
    case 'avro': {
      const { codec, options } = settings
      return {
        extension: '.avro',
        isCompressible: false,
        open(schema, name) {
          if (schema === null)
            throw new DataError(
              'a value without a schema cannot be written as Avro: use a converter with schemas, or JSON',
            )
          return new AvroFileWriter(schema, name, codec, options)
        },
      }
    }
  }
}

export type Delimiters = {
  readonly start?: string
  readonly between?: string
  readonly after?: string
  readonly end?: string
}

/** Values that are bytes, with delimiters. */
export function delimitedFormat(delimiters: Delimiters): FileFormat {
  return { extension: '', isCompressible: true, open: () => new BytesEncoder(delimiters) }
}

/** Each value is JSON, as of Kafka's `JsonConverter` without its envelope. */
export function jsonText(decimals: 'BASE64' | 'NUMERIC'): (value: unknown, schema: Schema | null) => string {
  const writers = new WeakMap<Schema, JsonWriter>()
  return (value, schema) => {
    if (schema === null) return plainJson(value)
    let write = writers.get(schema)
    if (write === undefined) {
      write = jsonWriter(schema, { decimals, nullsToDefaults: true })
      writers.set(schema, write)
    }
    return write(value)
  }
}

class LineEncoder implements FileEncoder {
  readonly #textOf: (value: unknown, schema: Schema | null) => string
  #text = ''
  #before = 0

  constructor(textOf: (value: unknown, schema: Schema | null) => string) {
    this.#textOf = textOf
  }

  add(value: unknown, schema: Schema | null): void {
    const line = this.#textOf(value, schema)
    this.#before = this.#text.length
    this.#text += `${line}\n`
  }

  removeLast(): void {
    this.#text = this.#text.slice(0, this.#before)
  }

  get length(): number {
    return this.#text.length
  }

  take(): Buffer {
    const taken = Buffer.from(this.#text)
    this.#text = ''
    this.#before = 0
    return taken
  }

  end(): Buffer {
    return this.take()
  }
}

class BytesEncoder implements FileEncoder {
  readonly #delimiters: {
    readonly start: Buffer
    readonly between: Buffer
    readonly after: Buffer
    readonly end: Buffer
  }
  /** Each value with what precedes and follows it. */
  #items: (readonly Uint8Array[])[] = []
  #values = 0
  length = 0

  constructor({ start = '', between = '', after = '', end = '' }: Delimiters) {
    const [startBytes, betweenBytes] = [Buffer.from(start), Buffer.from(between)]
    this.#delimiters = { start: startBytes, between: betweenBytes, after: Buffer.from(after), end: Buffer.from(end) }
  }

  add(value: unknown): void {
    if (!(value instanceof Uint8Array))
      throw new DataError(`expected bytes, got ${valueLabel(value)}: use ByteArrayConverter, or another format`)
    const { start, between, after } = this.#delimiters
    const item = [this.#values === 0 ? start : between, value, after]
    this.#items.push(item)
    this.#values += 1
    this.length += bytesIn(item)
  }

  removeLast(): void {
    this.length -= bytesIn(this.#items.pop()!)
    this.#values -= 1
  }

  take(): Buffer {
    const taken = Buffer.concat(this.#items.flat())
    this.#items = []
    this.length = 0
    return taken
  }

  end(): Buffer {
    return Buffer.concat([this.take(), this.#delimiters.end])
  }
}

function bytesIn(item: readonly Uint8Array[]): number {
  return item.reduce((sum, { length }) => sum + length, 0)
}
