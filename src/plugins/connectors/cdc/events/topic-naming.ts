import type { TableDescription } from '../table.ts'
import { asUnicode } from './name-adjustment.ts'

/** Returns the replacement of a topic, or undefined if the topic keeps its name. */
export type TopicRoute = (topic: string) => string | undefined

export type TopicNamingSettings = {
  readonly prefix: string
  readonly delimiter: string
  readonly transactionTopic: string
  readonly heartbeatPrefix: string
  /** Whether the name of a topic contains the schema of the table. */
  readonly hasSchema: boolean
  /** Whether invalid characters are replaced by their code, so that different names stay different. */
  readonly isUnicode: boolean
  readonly route: TopicRoute | undefined
  /** A field of keys that names the table, because several tables may have one topic. */
  readonly keyField: { readonly name: string; readonly route: TopicRoute | undefined } | undefined
}

type TableName = Pick<TableDescription, 'schema' | 'name'>

/** The topics of a connector. Characters that the name of a topic cannot have are replaced. */
export class TopicNaming {
  readonly #settings: TopicNamingSettings

  constructor(settings: TopicNamingSettings) {
    this.#settings = settings
  }

  table(table: TableName): string {
    const { route, isUnicode } = this.#settings
    const topic = this.#tableName(table)
    const routed = route?.(topic) ?? topic
    return isUnicode ? routed.replace(/[^a-zA-Z0-9.-]/g, asUnicode) : valid(routed)
  }

  /** The field that is added to keys of the table. */
  keyField(table: TableName): { readonly name: string; readonly value: string } | undefined {
    const { keyField } = this.#settings
    if (keyField === undefined) return undefined
    const topic = this.#tableName(table)
    return { name: keyField.name, value: keyField.route?.(topic) ?? topic }
  }

  get transaction(): string {
    return this.#join(this.#settings.prefix, this.#settings.transactionTopic)
  }

  get heartbeat(): string {
    return this.#join(this.#settings.heartbeatPrefix, this.#settings.prefix)
  }

  /** Has a dot instead of the delimiter, as with Debezium. */
  get message(): string {
    return valid(`${this.#settings.prefix}.message`)
  }

  #tableName({ schema, name }: TableName): string {
    const { prefix, delimiter, hasSchema } = this.#settings
    return [prefix, ...(hasSchema ? [schema] : []), name].join(delimiter)
  }

  #join(...parts: readonly string[]): string {
    return valid(parts.join(this.#settings.delimiter))
  }
}

function valid(topic: string): string {
  return topic.replace(/[^\w.-]/g, '_')
}
