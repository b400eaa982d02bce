import type { Header, StoredRecord } from '../broker/broker.ts'
import { BoundedMap, getOrFetch } from '../clients/bounded-map.ts'
import type { RegistryClient } from '../clients/registry-client.ts'
import { type Clock, systemClock } from '../common/clock.ts'
import { messageOf } from '../common/errors.ts'
import { printExactJson } from '../common/exact-json.ts'
import type { FieldMask } from '../formats/field-transform.ts'
import type { FormatType } from '../formats/format.ts'
import { type DataCodec, loadSerdeFormat, type PayloadCodec } from '../serde/payload-codec.ts'
import { rulesToRun } from '../serde/rules/rules-to-run.ts'
import { metadataTags } from '../serde/rules/tag-pattern.ts'
import { fetchSchema, type SourcedSchema } from '../serde/schema-id.ts'
import { SerdeError, wrapSchemaErrors } from '../serde/serde-error.ts'
import { type SchemaId, unframeRecord } from '../serde/wire-format.ts'
import { bytesAsText, textOfBytes } from './payload-text.ts'

/** A key, a value or a header, to be shown. */
export type DecodedPayload = {
  /**
   * - `null`: there are no bytes (a tombstone).
   * - `json`: decoded with the schema of its id, or a JSON object or array without a schema. `value` is what `printExactJson` prints.
   * - `text`: UTF-8 without control characters. `value` is the text.
   * - `hex`: other bytes. `value` is their hexadecimal form.
   * - `withheld`: fields that must be masked could not be found. `value` is null.
   */
  readonly form: 'null' | 'json' | 'text' | 'hex' | 'withheld'
  readonly value: unknown
  /** The schema with which it was written. */
  readonly schema?: { readonly id: SchemaId; readonly type: FormatType }
  /** Full names of the fields that are masked. */
  readonly masked?: readonly string[]
  /** Why it was not decoded with the schema of its id. */
  readonly problem?: string
}

export type DecodedRecord = {
  readonly key: DecodedPayload
  readonly value: DecodedPayload
  readonly headers: readonly (readonly [name: string, value: DecodedPayload])[]
}

export type RecordDecoderOptions = {
  /** Undefined: payloads with a schema id are shown as text or bytes. */
  readonly registry?: RegistryClient | undefined
  /**
   * Whether fields with one of these tags are masked. Then a payload whose schema cannot be found or does not match is withheld.
   * Default: nothing is masked.
   */
  readonly masks?: ((tags: readonly string[]) => boolean) | undefined
  /** A longer payload is not decoded: its beginning is shown, or nothing of one that could have masked fields. Default: no limit. */
  readonly bytesMax?: number
  /** Maximum number of cached schemas. Default: 1,000. */
  readonly schemasMax?: number
  readonly clock?: Clock
}

/** How long a schema that could not be fetched is not requested again: a topic may have millions of its records. */
const FAILURE_MS = 10_000
const SCHEMAS_MAX = 1_000
const MASK = '***'
/** What is shown of a payload that is too long. */
const BEGINNING_BYTES = 4_096

type Reader = {
  readonly type: FormatType
  decode(data: Buffer): Pick<DecodedPayload, 'form' | 'value' | 'masked'>
  /** The same data with masked fields; the data itself if none is masked. */
  mask(data: Buffer): Buffer
}
/** A payload that must not be shown as text or bytes either. */
class WithheldError extends Error {}

/**
 * Decodes records to be shown to people: by the schema of their id (Avro, JSON Schema, Protobuf), else as JSON, text or bytes. It never
 * rejects. Values that are encrypted stay encrypted. It uses the CPU in proportion to the size of a payload.
 */
export class RecordDecoder {
  readonly #registry: RegistryClient | undefined
  readonly #masks: RecordDecoderOptions['masks']
  readonly #bytesMax: number
  readonly #clock: Clock
  readonly #readers: BoundedMap<SchemaId, Promise<Reader>>
  readonly #failures: BoundedMap<SchemaId, { readonly error: unknown; readonly atMs: number }>

  constructor(options: RecordDecoderOptions) {
    const {
      registry,
      masks,
      bytesMax = Number.POSITIVE_INFINITY,
      schemasMax = SCHEMAS_MAX,
      clock = systemClock,
    } = options
    this.#registry = registry
    this.#masks = masks
    this.#bytesMax = bytesMax
    this.#clock = clock
    this.#readers = new BoundedMap(schemasMax)
    this.#failures = new BoundedMap(schemasMax)
  }

  async decode(record: Pick<StoredRecord, 'key' | 'value' | 'headers'>): Promise<DecodedRecord> {
    const [key, value] = await Promise.all([
      this.#payload(record.key, record.headers, true),
      this.#payload(record.value, record.headers, false),
    ])
    return { key, value, headers: record.headers.map(([name, bytes]) => [name, plain(bytes)]) }
  }

  /**
   * The record with masked fields in its bytes, for code that must not get their values. Rejects with the reason if they cannot be
   * replaced, such as in Avro a field that is not a string.
   */
  async mask<Masked extends Pick<StoredRecord, 'key' | 'value' | 'headers'>>(record: Masked): Promise<Masked> {
    const [key, value] = await Promise.all([
      this.#masked(record.key, record.headers, true),
      this.#masked(record.value, record.headers, false),
    ])
    return { ...record, key, value }
  }

  async #masked(bytes: Buffer | null, headers: readonly Header[], isKey: boolean): Promise<Buffer | null> {
    const framed = bytes === null || this.#masks === undefined ? undefined : framedPayload(bytes, headers, isKey)
    if (bytes === null || framed === undefined) return bytes
    if (bytes.length > this.#bytesMax) throw new SerdeError('refused', `it has more than ${this.#bytesMax} bytes`)
    const { id, data } = framed
    const masked = (await this.#reader(id)).mask(data)
    if (masked === data) return bytes
    // The id is in a header, perhaps with a part of the data, which is the index of the message: it stays the same.
    const inHeaders = Math.max(0, data.length - bytes.length)
    return Buffer.concat([bytes.subarray(0, bytes.length - data.length + inHeaders), masked.subarray(inHeaders)])
  }

  async #payload(bytes: Buffer | null, headers: readonly Header[], isKey: boolean): Promise<DecodedPayload> {
    if (bytes === null) return plain(null)
    const framed = framedPayload(bytes, headers, isKey)
    if (bytes.length > this.#bytesMax) return this.#tooLarge(bytes, framed !== undefined)
    if (framed === undefined) return plain(bytes)
    const { id, data } = framed
    let type: FormatType | undefined
    try {
      const reader = await this.#reader(id)
      type = reader.type
      return { ...reader.decode(data), schema: { id, type } }
    } catch (error) {
      const isWithheld = error instanceof WithheldError || (this.#masks !== undefined && type === undefined)
      const shown = isWithheld ? ({ form: 'withheld', value: null } as const) : plain(bytes)
      return { ...shown, ...(type && { schema: { id, type } }), problem: messageOf(error) }
    }
  }

  #tooLarge(bytes: Buffer, isFramed: boolean): DecodedPayload {
    const problem = `not decoded, because it has more than ${this.#bytesMax} bytes`
    if (isFramed && this.#masks !== undefined) return { form: 'withheld', value: null, problem }
    return { ...beginningOf(bytes), problem }
  }

  #reader(id: SchemaId): Promise<Reader> {
    const failure = this.#failures.get(id)
    if (failure !== undefined && this.#clock.monotonicMs() - failure.atMs < FAILURE_MS)
      return Promise.reject(failure.error)
    return getOrFetch(this.#readers, id, async () => {
      try {
        return await this.#openReader(id)
      } catch (error) {
        this.#failures.set(id, { error, atMs: this.#clock.monotonicMs() })
        throw error
      }
    })
  }

  async #openReader(id: SchemaId): Promise<Reader> {
    if (this.#registry === undefined) throw new SerdeError('refused', `schema ${id}: no registry is given`)
    const source = await fetchSchema(this.#registry, id)
    const format = await loadSerdeFormat(source.type)
    const masks = this.#masks === undefined ? undefined : fieldMask(source, this.#masks)
    const hasMasks = masks !== undefined && mayHaveMasked(source, format.parse(source, 'loose').tags(), this.#masks!)
    // Fields are found in data that matches its schema only.
    const codec = format.codec(source, { validate: hasMasks })
    if (rulesToRun(source.ruleSet, 'encodingRules', 'READ').length > 0)
      throw new SerdeError('rule_failed', `schema ${id}: the payload is encrypted by a rule of the schema`)
    return {
      type: source.type,
      decode: (data) => (hasMasks ? decodeMasked(codec, data, masks) : decodeAll(codec, data)),
      mask: (data) => (hasMasks ? maskData(codec, data, masks) : data),
    }
  }
}

/** A payload in one line: JSON, text or `0x` and bytes. */
export function payloadText({ form, value }: DecodedPayload): string {
  switch (form) {
    case 'null':
      return 'null'
    case 'withheld':
      return MASK
    case 'json':
      return printExactJson(value)
    case 'text':
      return value as string
    case 'hex':
      return `0x${value as string}`
  }
}

function framedPayload(bytes: Buffer, headers: readonly Header[], isKey: boolean) {
  try {
    return unframeRecord(bytes, Object.fromEntries(headers), isKey)
  } catch {
    // Not in the wire format of serializers.
    return undefined
  }
}

/** Without a schema. */
function plain(bytes: Uint8Array | null): DecodedPayload {
  if (bytes === null) return { form: 'null', value: null }
  const text = textOfBytes(bytes)
  if (text !== undefined && /^\s*[[{]/.test(text)) {
    try {
      return { form: 'json', value: JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown) }
    } catch {
      // It only begins like JSON.
    }
  }
  const { form, text: shown } = bytesAsText(bytes)
  return { form, value: shown }
}

function beginningOf(bytes: Buffer): DecodedPayload {
  const beginning = bytes.subarray(0, BEGINNING_BYTES)
  // A character at the end may be cut off.
  const text = [0, 1, 2, 3].map((less) => textOfBytes(beginning.subarray(0, beginning.length - less))).find(Boolean)
  return text === undefined ? { form: 'hex', value: beginning.toString('hex') } : { form: 'text', value: text }
}

/** An integer that a number cannot represent is a bigint, up to the 64 bits that other systems have. */
function exactInteger(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return /^-?\d{1,20}$/.test(source) ? BigInt(source) : value
}

function decodeAll(codec: DataCodec, data: Buffer) {
  return wrapSchemaErrors('invalid_data', () => {
    const { payload, codec: opened } = codec.split(data)
    return { form: 'json', value: opened.toJson(opened.decodeWritten(payload)) } as const
  })
}

function decodeMasked(codec: DataCodec, data: Buffer, isMasked: FieldMask) {
  const { masked, shown } = hideFields(codec, data, isMasked, (hidden, opened) => opened.toJson(hidden))
  return { form: 'json', value: shown, masked } as const
}

function maskData(codec: DataCodec, data: Buffer, isMasked: FieldMask): Buffer {
  const { masked, shown, payload } = hideFields(codec, data, isMasked, (hidden, opened) => () => opened.encode(hidden))
  if (masked.length === 0) return data
  try {
    return Buffer.concat([data.subarray(0, data.length - payload.length), shown()])
  } catch (error) {
    throw new WithheldError(`the type of a masked field has no '${MASK}': ${masked.join(', ')}`, { cause: error })
  }
}

/** `show` gets the value without that of masked fields. Throws a `WithheldError`. */
function hideFields<Shown>(
  codec: DataCodec,
  data: Buffer,
  isMasked: FieldMask,
  show: (hidden: unknown, opened: PayloadCodec) => Shown,
) {
  const masked = new Set<string>()
  const masks: FieldMask = (field) => {
    if (!isMasked(field)) return false
    masked.add(field.fullName)
    return true
  }
  try {
    const { payload, codec: opened } = codec.split(data)
    const shown = show(opened.maskFields(opened.decode(payload), masks), opened)
    return { masked: [...masked], shown, payload }
  } catch (error) {
    // The message of the cause may contain data that is masked, so this message does not repeat it.
    throw new WithheldError('its fields cannot be masked, because it does not match its schema', { cause: error })
  }
}

type Masks = NonNullable<RecordDecoderOptions['masks']>

function fieldMask({ metadata }: SourcedSchema, masks: Masks): FieldMask {
  const tagsOf = metadataTags(metadata)
  return ({ fullName, tags }) => masks([...tags, ...tagsOf(fullName)])
}

/** The tags of referenced schemas are found in the fields only, and so are those of JSON Schema that no object lists as a property. */
function mayHaveMasked(
  { type, text, metadata, dependencies = [] }: SourcedSchema,
  inline: readonly { readonly tags: readonly string[] }[],
  masks: Masks,
): boolean {
  if (dependencies.length > 0) return true
  if (type === 'JSON' && JSON.stringify(JSON.parse(text)).includes('confluent:tags')) return true
  const all = [...inline.map(({ tags }) => tags), ...Object.values(metadata?.tags ?? {})]
  return all.some((tags) => masks(tags))
}
