import type { Table } from '../changes/change.ts'

export type TopicNamingSettings = {
  readonly prefix: string
  readonly delimiter: string
  readonly transactionTopic: string
  readonly heartbeatPrefix: string
}

/** The topics of a connector. Characters that the name of a topic cannot have are replaced by `_`. */
export class TopicNaming {
  readonly #settings: TopicNamingSettings

  constructor(settings: TopicNamingSettings) {
    this.#settings = settings
  }

  table({ schema, name }: Pick<Table, 'schema' | 'name'>): string {
    return this.#join(this.#settings.prefix, schema, name)
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

  #join(...parts: readonly string[]): string {
    return valid(parts.join(this.#settings.delimiter))
  }
}

function valid(topic: string): string {
  return topic.replace(/[^\w.-]/g, '_')
}
