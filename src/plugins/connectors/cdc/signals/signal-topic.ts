import type { Position as StoredOffset, TaskLog, TopicReader, TopicRecord } from '../../../../sdk/index.ts'
import { parseRawSignal, type RawSignal, type SignalChannel } from './signal.ts'

/** Key of the source offset with the offset of the next signal. Debezium ignores it. */
const OFFSET_KEY = 'signal_kafka_offset'

export type SignalTopicOptions = {
  readonly reader: TopicReader
  /** Key of the records that are signals for this connector. */
  readonly recordKey: string
  /** Time that a poll waits for records, in ms. */
  readonly waitMs: number
  readonly log: TaskLog
}

/**
 * Takes signals from a Kafka topic: records whose value is a JSON object. The offset of the next signal is stored with the offset
 * of the source, so that each signal is executed at least once.
 */
export class SignalTopic implements SignalChannel {
  readonly #options: SignalTopicOptions
  /** Records that were read and whose signals are not executed. */
  #waiting: readonly TopicRecord[] = []
  #nextOffset: number
  #isPolling = false
  #isClosed = false
  #reported: string | undefined

  constructor(options: SignalTopicOptions) {
    this.#options = options
    this.#nextOffset = options.reader.nextOffset
  }

  /** Offset of the next signal to execute. */
  get nextOffset(): number {
    return this.#nextOffset
  }

  async poll(execute: (signal: RawSignal) => Promise<void>): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      const { reader, waitMs } = this.#options
      if (this.#waiting.length === 0) this.#waiting = await reader.poll(waitMs)
      for (let [record] = this.#waiting; record !== undefined; [record] = this.#waiting) {
        const signal = this.#parse(record)
        if (signal !== undefined) await execute(signal)
        this.#nextOffset = record.offset + 1
        this.#waiting = this.#waiting.slice(1)
      }
      this.#nextOffset = reader.nextOffset
      this.#reported = undefined
    } catch (error) {
      const { message } = error as Error
      // The same error is reported once, not in each interval.
      if (!this.#isClosed && message !== this.#reported)
        this.#options.log.warn({ err: error }, 'cannot take signals from Kafka; retrying')
      this.#reported = message
    } finally {
      this.#isPolling = false
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#options.reader.close()
  }

  /** Undefined for a record that is no signal for this connector. */
  #parse({ key, value, offset }: TopicRecord): RawSignal | undefined {
    const { recordKey, log } = this.#options
    if (key === null || Buffer.from(key).toString() !== recordKey) return undefined
    const signal = parseRawSignal(Buffer.from(value ?? []).toString(), `offset ${offset}`)
    if (signal === undefined)
      log.warn({ offset }, 'ignoring a record of the signal topic: it is no JSON object with type and data')
    return signal
  }
}

/** The key of a source offset to store for the next signal. */
export function printSignalOffset(nextOffset: number): StoredOffset {
  return { [OFFSET_KEY]: nextOffset }
}

/** The offset of the next signal that a stored offset of the source contains. Throws an `Error` if it is no offset. */
export function storedSignalOffset(stored: StoredOffset): number | undefined {
  const offset = stored[OFFSET_KEY]
  if (offset === undefined || offset === null) return undefined
  if (typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0) return offset
  throw new Error(`'${OFFSET_KEY}' of an offset must be an offset of the signal topic, not ${String(offset)}`)
}
