import { messageOf } from '../../common/errors.ts'
import type { DeadLetterRecord } from '../../dead-letters/dead-letter.ts'
import { bytesAsText, textOfBytes } from '../../records/payload-text.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PayloadEdit, PayloadForm, PayloadText, PluginHost } from '../plugin-host.ts'
import { type ConfiguredConverter, pipelinePlugins } from '../tasks/pipeline-plugins.ts'
import type { ScannedRecord } from './dead-letter-scan.ts'

export type PayloadView = {
  /** `null`: there is none, as in a tombstone. */
  readonly form: PayloadForm | 'null'
  readonly text: string
  /** Size of the stored bytes. */
  readonly bytes: number
  /** Whether `text` is cut off. */
  readonly isTruncated: boolean
  /** Why the converter does not accept it, or was not asked. */
  readonly problem: string | null
}

export type PayloadViewsOptions = {
  readonly plugins: PluginHost
  /** With resolved placeholders. */
  readonly config: RawConfig
  readonly defaults: RawConfig
  /** Masks secrets in messages of converters. */
  readonly mask: (text: string) => string
}

type Role = 'key' | 'value'

/** A larger payload is not converted, and cannot be edited. */
const CONVERTED_BYTES_MAX = 1024 * 1024
/** Maximum length of a payload in the list, in characters. */
const EXCERPT_LENGTH_MAX = 8_000

const NOTHING: PayloadView = { form: 'null', text: '', bytes: 0, isTruncated: false, problem: null }

/** Converts keys and values to texts with the converters of a connector, which run where plugins run. */
export class PayloadViews {
  readonly #options: PayloadViewsOptions

  constructor(options: PayloadViewsOptions) {
    this.#options = options
  }

  /** With `scanned`, texts are excerpts, and payloads that were cut off are not converted. */
  async view(
    role: Role,
    deadLetters: readonly DeadLetterRecord[],
    scanned?: readonly ScannedRecord[],
  ): Promise<readonly PayloadView[]> {
    const sizes = deadLetters.map(({ record }, at) => {
      const found = scanned?.[at]
      return found === undefined ? (record[role]?.length ?? 0) : role === 'key' ? found.keyBytes : found.valueBytes
    })
    const isWhole = ({ record }: DeadLetterRecord, at: number) =>
      record[role] !== null && record[role].length === sizes[at] && record[role].length <= CONVERTED_BYTES_MAX
    const texts = await this.#decode(role, deadLetters.filter(isWhole))
    const lengthMax = scanned === undefined ? Number.POSITIVE_INFINITY : EXCERPT_LENGTH_MAX
    let next = 0
    return deadLetters.map((deadLetter, at) => {
      const payload = deadLetter.record[role]
      const bytes = sizes[at] ?? 0
      if (payload === null) return NOTHING
      const { form, text, problem } = isWhole(deadLetter, at)
        ? (texts[next++] as PayloadText)
        : excerptOf(payload, bytes)
      const isTruncated = text.length > lengthMax || !isWhole(deadLetter, at)
      return { form, text: text.slice(0, Math.min(lengthMax, CONVERTED_BYTES_MAX * 4)), bytes, isTruncated, problem }
    })
  }

  /** The bytes of an edited payload. Rejects with the reason why the converter does not accept it. */
  async encode(role: Role, { record }: DeadLetterRecord, topic: string, edited: PayloadEdit): Promise<Uint8Array> {
    const bytes = record[role]
    if (bytes === null) throw new WorkerError('dead_letter_refused', 'there is nothing to correct: it is null')
    if (bytes.length > CONVERTED_BYTES_MAX)
      throw new WorkerError(
        'dead_letter_refused',
        `it has more than ${CONVERTED_BYTES_MAX} bytes: it can be sent as it is`,
      )
    return this.#call(role, (plugin, input) =>
      this.#options.plugins.call('encode-payload', plugin, { ...input, original: { topic, bytes }, edited }),
    )
  }

  async #decode(role: Role, deadLetters: readonly DeadLetterRecord[]): Promise<readonly PayloadText[]> {
    if (deadLetters.length === 0) return []
    const payloads = deadLetters.map(({ record, errors }) => ({
      topic: errors.get('topic') ?? '',
      bytes: record[role] ?? Buffer.alloc(0),
    }))
    try {
      const decoded = await this.#call(role, (plugin, input) =>
        this.#options.plugins.call('decode-payloads', plugin, { ...input, payloads }),
      )
      return decoded.map((one) => ({ ...one, problem: one.problem && this.#options.mask(one.problem) }))
    } catch (error) {
      const problem = messageOf(error)
      return payloads.map(({ bytes }) => ({ ...bytesAsText(bytes), problem }))
    }
  }

  async #call<T>(role: Role, call: (plugin: FoundConverter, input: ConverterCall) => Promise<T>): Promise<T> {
    const { plugins, config, defaults, mask } = this.#options
    try {
      const { className, version, settings, isOfConnector } = pipelinePlugins(config, defaults)[
        role
      ] as ConfiguredConverter
      const plugin = plugins.catalog.find('converter', className, version)
      if (plugin === undefined) throw new Error(`there is no converter '${className}' here`)
      return await call(plugin, { config: settings, isKey: role === 'key', isOfConnector })
    } catch (error) {
      throw new WorkerError('dead_letter_refused', mask(messageOf(error)), { cause: error })
    }
  }
}

type FoundConverter = NonNullable<ReturnType<PluginHost['catalog']['find']>>
type ConverterCall = { readonly config: RawConfig; readonly isKey: boolean; readonly isOfConnector: boolean }

function excerptOf(bytes: Uint8Array, size: number): PayloadText {
  const excerpt = bytes.subarray(0, EXCERPT_LENGTH_MAX)
  // A character at the end may be cut off.
  const text = [0, 1, 2, 3].map((less) => textOfBytes(excerpt.subarray(0, excerpt.length - less))).find(Boolean)
  const problem = `not converted, because it has ${size} bytes`
  return text === undefined ? { ...bytesAsText(excerpt), problem } : { form: 'text', text, problem }
}
