import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { randomAt } from '../../src/java-compat/avro-random-generator/random.ts'
import { createRecordGenerator } from '../../src/java-compat/avro-random-generator/record-generator.ts'
import { quickstart } from '../../src/plugins/connectors/datagen/quickstarts/quickstarts.ts'

const KIND = 'orders'

/** Checks that a datagen connector with `tasks` tasks has produced all its records to a topic. */
export class DatagenVerifier {
  readonly config: Readonly<Record<string, string>>
  readonly #bootstrap: string
  readonly #topic: string
  /** The task that produces each record, by the value of the record. */
  readonly #expected: ReadonlyMap<string, number>

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
    const { avroText, keyField } = quickstart(KIND)
    const stream = createRecordGenerator(avroText, keyField)
    this.#expected = new Map(
      Array.from({ length: tasks * iterations }, (_, at) => {
        const [task, index] = [at % tasks, Math.floor(at / tasks)]
        return [JSON.stringify(stream.record(index, randomAt(task, index)).value), task]
      }),
    )
    if (this.#expected.size !== tasks * iterations) throw new Error('two expected records are equal')
  }

  /** Reads the topic until it has all records. Returns the number of duplicates. */
  async untilComplete(timeoutMs: number): Promise<number> {
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': this.#bootstrap } },
      { logger: silentLogger() },
    )
    try {
      const missing = new Map(this.#expected)
      const reader = broker.reader({ isolation: 'read_committed' })
      reader.seek(await broker.topics.offsets(this.#topic, 'earliest'))
      const untilMs = performance.now() + timeoutMs
      let read = 0
      while (missing.size > 0) {
        if (performance.now() > untilMs) {
          const tasks = [...Map.groupBy(missing.values(), (task) => task)]
          const each = tasks.map(([task, { length }]) => `${length} of task ${task}`).join(', ')
          throw new Error(`of ${this.#expected.size} records in ${this.#topic} are missing: ${each}`)
        }
        for (const { records } of await reader.poll(1_000)) {
          read += records.length
          // Parsed and serialized again, because a converter may write an integral double as 2.0.
          for (const { value } of records) missing.delete(JSON.stringify(JSON.parse(String(value))))
        }
      }
      return read - this.#expected.size
    } finally {
      await broker.close()
    }
  }
}
