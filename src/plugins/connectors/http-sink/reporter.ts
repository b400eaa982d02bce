import { javaText } from '../../../java-compat/java-text.ts'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import type { ReportRecord, ReportTopic, SinkContext, SinkRecord } from '../../../sdk/index.ts'

export type ReportFormat = 'json' | 'string'

/** One of the two topics that a sink reports to. */
export type ReportTopicSettings = ReportTopic & { readonly keyFormat: ReportFormat; readonly valueFormat: ReportFormat }

export type ReporterSettings = {
  /** Receives the response for each delivered record; undefined: no such reports. */
  readonly results: ReportTopicSettings | undefined
  /** Receives the reason for each rejected record; undefined: no such reports. */
  readonly errors: ReportTopicSettings | undefined
  /** `http_response`: the body of the response, where there was one, instead of the error message. */
  readonly errorsAs: 'error_string' | 'http_response'
}

/** Why a record was rejected, and the body of the response that rejected it. */
export type Rejection = { readonly error: Error; readonly response: Buffer | undefined }

/**
 * Reports what happened to records, as Confluent's reporter does: the key of the record, the response or the error as the
 * value, and headers with the position of the record.
 */
export class Reporter {
  readonly #settings: ReporterSettings
  readonly #write: SinkContext<unknown>['report']

  constructor(settings: ReporterSettings, write: SinkContext<unknown>['report']) {
    this.#settings = settings
    this.#write = write
  }

  /** Resolves when the reports are stored. */
  async delivered(records: readonly SinkRecord[], response: Buffer): Promise<void> {
    const { results } = this.#settings
    if (results === undefined) return
    const text = response.toString()
    await this.#write(
      results,
      records.map((record) => toReport(record, text, results)),
    )
  }

  /** Resolves when the report is stored. */
  async rejected(record: SinkRecord, { error, response }: Rejection): Promise<void> {
    const { errors, errorsAs } = this.#settings
    if (errors === undefined) return
    const text = errorsAs === 'http_response' && response !== undefined ? response.toString() : error.message
    await this.#write(errors, [toReport(record, text, errors)])
  }
}

function toReport(record: SinkRecord, text: string, settings: ReportTopicSettings): ReportRecord {
  const { topic, partition, offset } = record.origin
  const header = (name: string, value: string | number) => [`input_record_${name}`, Buffer.from(String(value))] as const
  return {
    key: toKey(record, settings.keyFormat),
    value: Buffer.from(settings.valueFormat === 'json' ? asJson(text) : text),
    headers: [
      header('topic', topic),
      header('partition', partition),
      header('offset', offset),
      ...(record.timestampMs === null ? [] : [header('timestamp', record.timestampMs)]),
    ],
  }
}

function toKey({ key, keySchema }: SinkRecord, format: ReportFormat): Buffer | null {
  if (key === null || key === undefined) return null
  return Buffer.from(format === 'json' ? plainJson(key) : javaText(key, keySchema))
}

/** A text that is JSON is written unchanged, any other as a JSON string. */
function asJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}
