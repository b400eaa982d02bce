import { randomAt } from '../../../src/java-compat/avro-random-generator/random.ts'
import { createRecordGenerator } from '../../../src/java-compat/avro-random-generator/record-generator.ts'
import { quickstart } from '../../../src/plugins/connectors/datagen/quickstarts/quickstarts.ts'
import { type HandWrittenName, WRITTEN_BY_HAND } from './written-by-hand.ts'

/** The task of a client, passed as JSON in its only argument. */
export type GeneratorTask = {
  readonly name: HandWrittenName
  readonly isWrittenByHand: boolean
  readonly records: number
}
export type GeneratorResult = { readonly cpuMs: number }

const BATCH = 2_000

/** Generates records of one quickstart in a separate process, and measures the CPU time after a warm-up. */
const { name, isWrittenByHand, records } = JSON.parse(process.argv[2]!) as GeneratorTask
const { avroText, keyField } = quickstart(name)
const record = isWrittenByHand ? WRITTEN_BY_HAND[name] : createRecordGenerator(avroText, keyField).record

function generate(count: number): number {
  let fields = 0
  // The records of a batch are alive at the same time, as in a task.
  for (let first = 0; first < count; first += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, at) => record(first + at, randomAt(0, first + at)))
    fields += Object.keys(batch[BATCH - 1]!.value).length
  }
  return fields
}

if (generate(records / 4) === 0) throw new Error(`${name} has no fields`)
const before = process.cpuUsage()
generate(records)
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ cpuMs: (user + system) / 1_000 } satisfies GeneratorResult))
