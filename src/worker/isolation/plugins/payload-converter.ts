import { messageOf } from '../../../common/errors.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { truncateText } from '../../../common/truncate-text.ts'
import { jsonConverter } from '../../../plugins/converters/json/json-converter.ts'
import { bytesAsText, textOfBytes } from '../../../records/payload-text.ts'
import {
  type Converter,
  type ConverterInstance,
  type ConverterUse,
  DataError,
  parseConfig,
  type RawConfig,
  type Schema,
  type SchemaAndValue,
} from '../../../sdk/index.ts'
import type { PayloadEdit, PayloadText, StoredPayload } from '../../plugin-host.ts'
import { checkEditedJson } from './edited-json.ts'

const JSON_CONFIG = { 'decimal.format': 'NUMERIC', 'replace.null.with.default': 'false' }
const TIMEOUT_MS = 10_000
const PROBLEM_LENGTH_MAX = 2_000
const TEXT_LENGTH_MAX = 4 * 1024 * 1024
/** Marks data with a schema id before it: a zero byte, four bytes of the id. */
const FRAME_BYTES = 5

/** Converts keys or values to text and back with the converter of a connector. */
export class PayloadConverter {
  readonly #plugin: Converter
  readonly #config: RawConfig
  readonly #use: ConverterUse
  readonly #converter: ConverterInstance

  constructor(plugin: Converter, config: RawConfig, use: ConverterUse) {
    this.#plugin = plugin
    this.#config = config
    this.#use = use
    this.#converter = plugin.create(parseConfig(plugin.config, config), use)
  }

  /** A payload that cannot be converted has its problem, and its bytes as text. */
  decode(payloads: readonly StoredPayload[]): Promise<readonly PayloadText[]> {
    return Promise.all(payloads.map((payload) => this.#decode(payload)))
  }

  async #decode(payload: StoredPayload): Promise<PayloadText> {
    try {
      const data = await this.#read(this.#converter, payload)
      return isData(data, payload.bytes)
        ? { form: 'json', text: connectJson(data), problem: null }
        : { ...bytesAsText(payload.bytes), problem: null }
    } catch (error) {
      return { ...bytesAsText(payload.bytes), problem: messageOf(error).slice(0, PROBLEM_LENGTH_MAX) }
    }
  }

  /** Rejects with the place at which the edited text is invalid, or with why the converter does not accept the result. */
  async encode(original: StoredPayload, { form, text }: PayloadEdit): Promise<Uint8Array> {
    const { topic } = original
    if (form !== 'json') {
      const bytes = form === 'hex' ? parseHex(text) : Buffer.from(text)
      await this.#read(this.#converter, { topic, bytes })
      return bytes
    }
    const { schema } = await this.#read(this.#converter, original)
    const value = fromJson(schema, text)
    const converter = this.#writerOf(original.bytes)
    const bytes = await inTime(converter.fromConnect(topic, schema, value))
    if (bytes === null) throw new DataError('the converter makes no bytes of null: a correction cannot be a tombstone')
    // Otherwise members that the converter cannot represent would be lost without an error.
    const [sent, wanted] = [connectJson(await this.#read(converter, { topic, bytes })), connectJson({ schema, value })]
    if (sent !== wanted)
      throw new DataError(`the converter would send other data than was entered: ${truncateText(sent, 200, '…')}`)
    return bytes
  }

  /** Writes with the schema that the original was written with, and registers none. */
  #writerOf(original: Uint8Array): ConverterInstance {
    if (!('use.schema.id' in this.#plugin.config.shape)) return this.#converter
    if (original[0] !== 0 || original.length < FRAME_BYTES)
      throw new DataError('the schema of the original has a GUID instead of an ID: only hex can be edited')
    const id = new DataView(original.buffer, original.byteOffset).getInt32(1)
    const config = {
      ...this.#config,
      'auto.register.schemas': 'false',
      'use.latest.version': 'false',
      'use.schema.id': String(id),
      'id.compatibility.strict': 'false',
    }
    return this.#plugin.create(parseConfig(this.#plugin.config, config), this.#use)
  }

  #read(converter: ConverterInstance, { topic, bytes }: StoredPayload): Promise<SchemaAndValue> {
    return inTime(converter.toConnect(topic, Buffer.from(bytes)))
  }
}

/** Whether the converter reads more from the bytes than the text that they are, or the bytes themselves. */
function isData({ schema }: SchemaAndValue, bytes: Uint8Array): boolean {
  if (schema === null) return textOfBytes(bytes) === undefined
  return schema.name !== undefined || (schema.type !== 'string' && schema.type !== 'bytes')
}

/** Data of Connect as JSON. Throws a `DataError` if it does not match its schema, or is too long. */
export function connectJson({ schema, value }: SchemaAndValue): string {
  const json = jsonInstance(false).fromConnect('', schema, value) as Uint8Array | null
  const text = json === null ? 'null' : Buffer.from(json).toString()
  if (text.length > TEXT_LENGTH_MAX) throw new DataError(`the data has more than ${TEXT_LENGTH_MAX} characters`)
  return text
}

function fromJson(schema: Schema | null, text: string): unknown {
  checkEditedJson(schema, text)
  if (schema === null) return (jsonInstance(false).toConnect('', Buffer.from(text)) as SchemaAndValue).value
  const envelope = jsonInstance(true).fromConnect('', { ...schema, optional: true }, null) as Uint8Array
  const [head = ''] = Buffer.from(envelope)
    .toString()
    .split(/null\}$/)
  return (jsonInstance(true).toConnect('', Buffer.from(`${head}${text}}`)) as SchemaAndValue).value
}

function jsonInstance(hasEnvelope: boolean): ConverterInstance {
  const config = parseConfig(jsonConverter.config, { ...JSON_CONFIG, 'schemas.enable': String(hasEnvelope) })
  return jsonConverter.create(config, {} as ConverterUse)
}

function parseHex(text: string): Buffer {
  const digits = text.replaceAll(/\s/g, '')
  const wrong = digits.search(/[^0-9a-fA-F]/)
  if (wrong !== -1) throw new DataError(`'${digits[wrong]}' at digit ${wrong + 1} is not a hexadecimal digit`)
  if (digits.length % 2 === 1) throw new DataError(`${digits.length} hexadecimal digits are not whole bytes`)
  return Buffer.from(digits, 'hex')
}

function inTime<T>(converting: T | Promise<T>): Promise<T> {
  return withTimeout(Promise.resolve(converting), TIMEOUT_MS, () => {
    throw new DataError(`the converter did not finish within ${TIMEOUT_MS} ms: is the registry available?`)
  })
}
