import { openBroker } from '../../src/broker/open.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { QUICKSTARTS } from '../../src/plugins/connectors/datagen/quickstarts.ts'
import { randomAt } from '../../src/plugins/connectors/datagen/random.ts'

const KIND = 'orders'

/** Everything that a datagen connector of so many tasks has to bring into a topic, and what is there of it. */
export class Ledger {
  readonly config: Readonly<Record<string, string>>
  readonly #bootstrap: string
  readonly #topic: string
  readonly #expected: ReadonlySet<string>

  constructor(
    bootstrap: string,
    { topic, tasks, iterations }: { readonly topic: string; readonly tasks: number; readonly iterations: number },
  ) {
    this.#bootstrap = bootstrap
    this.#topic = topic
    this.config = {
      'kafka.topic': topic,
      quickstart: KIND,
      iterations: String(iterations),
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    }
    this.#expected = new Set(
      Array.from({ length: tasks * iterations }, (_, at) => {
        const index = Math.floor(at / tasks)
        return JSON.stringify(QUICKSTARTS[KIND].record(index, randomAt(at % tasks, index)).value)
      }),
    )
    if (this.#expected.size !== tasks * iterations) throw new Error('two records of the ledger are alike')
  }

  /** Reads the topic until it holds everything. Answers how many records came more than once. */
  async untilComplete(timeoutMs: number): Promise<number> {
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': this.#bootstrap } },
      { logger: silentLogger() },
    )
    try {
      const missing = new Set(this.#expected)
      const reader = broker.reader({ isolation: 'read_committed' })
      reader.seek(await broker.topics.offsets(this.#topic, 'earliest'))
      const untilMs = performance.now() + timeoutMs
      let read = 0
      while (missing.size > 0) {
        if (performance.now() > untilMs)
          throw new Error(`${missing.size} of ${this.#expected.size} records are missing`)
        for (const { records } of await reader.poll(1_000)) {
          read += records.length
          // Parsed, because a converter may write a whole double as 2.0.
          for (const { value } of records) missing.delete(JSON.stringify(JSON.parse(String(value))))
        }
      }
      return read - this.#expected.size
    } finally {
      await broker.close()
    }
  }
}
