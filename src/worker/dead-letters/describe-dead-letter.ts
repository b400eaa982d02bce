import { truncateText } from '../../common/truncate-text.ts'
import { type DeadLetterRecord, ownHeaders } from '../../dead-letters/dead-letter.ts'
import { textOfBytes } from '../../records/payload-text.ts'

/** A dead letter without its key and value, with texts of limited length. */
export type DeadLetterDescription = {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  /** Where the record was read from, as far as headers say. */
  readonly origin: { readonly topic: string | null; readonly partition: string | null; readonly offset: string | null }
  readonly stage: string | null
  /** The class of the plugin that failed. */
  readonly className: string | null
  readonly exceptionClass: string | null
  readonly message: string | null
  readonly stackTrace: string | null
  readonly headers: readonly { readonly name: string; readonly value: string | null }[]
  /** Number of headers that are not contained. */
  readonly moreHeaders: number
}

const NAME_LENGTH_MAX = 300
const MESSAGE_LENGTH_MAX = 4_000
const TRACE_LENGTH_MAX = 8_000
const HEADERS_MAX = 20
const HEADER_LENGTH_MAX = 500

export function describeDeadLetter({ partition, record, errors }: DeadLetterRecord): DeadLetterDescription {
  const text = (name: string, lengthMax = NAME_LENGTH_MAX) => {
    const found = errors.get(name)
    return found === undefined ? null : truncateText(found, lengthMax)
  }
  const own = ownHeaders(record)
  return {
    partition,
    offset: record.offset,
    timestampMs: record.timestampMs,
    origin: { topic: text('topic'), partition: text('partition'), offset: text('offset') },
    stage: text('stage'),
    className: text('class.name'),
    exceptionClass: text('exception.class.name'),
    message: text('exception.message', MESSAGE_LENGTH_MAX),
    stackTrace: text('exception.stacktrace', TRACE_LENGTH_MAX),
    headers: own.slice(0, HEADERS_MAX).map(([name, value]) => ({
      name: truncateText(name, NAME_LENGTH_MAX),
      value: value && truncateText(textOfBytes(value) ?? `0x${Buffer.from(value).toString('hex')}`, HEADER_LENGTH_MAX),
    })),
    moreHeaders: Math.max(0, own.length - HEADERS_MAX),
  }
}
