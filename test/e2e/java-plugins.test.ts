import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { askJavaPlugins } from '../env/java-plugins.ts'
import { describeOn, itOn, real } from '../env/real.ts'
import { scalarCases } from '../plugins/converters/scalar-cases.ts'
import type { Case } from '../plugins/transforms/case-data.ts'
import { allCases } from '../plugins/transforms/cases.ts'
import { debeziumCases } from '../plugins/transforms/debezium-cases.ts'
import { routingCases } from '../plugins/transforms/debezium-routing-cases.ts'

// `npx vitest run --project real test/e2e/java-plugins.test.ts -u` records what is committed anew.

const java = await real('javaPlugins')
const PLUGINS = join(import.meta.dirname, '../plugins')

describeOn([java], 'the recorded results of the Java plugins are reproduced:', () => {
  itOn([java], 'transforms and predicates', () =>
    isRecorded('transforms/transforms.golden.json', allCases().map(inPackage)),
  )

  itOn([java], "Debezium's transforms", () => isRecorded('transforms/debezium.golden.json', debeziumCases()))

  itOn([java], "Debezium's transforms that route", () =>
    isRecorded('transforms/debezium-routing.golden.json', routingCases()),
  )

  itOn([java], 'converters of plain values', () => isRecorded('converters/scalars.golden.json', scalarCases()))

  itOn([java], 'the JSON converter', () => isRecordedWithin('converters/json.golden.json', ['json', 'config']))

  itOn([java], 'the header converter', () => isRecordedWithin('converters/simple-header.golden.json', ['header']))
})

function inPackage(one: Case): Case {
  return { ...one, class: `transforms.${one.class}` }
}

async function isRecorded(file: string, cases: readonly object[]): Promise<void> {
  await expect(lines(await askJavaPlugins(java.address, cases))).toMatchFileSnapshot(join(PLUGINS, file))
}

/** Of files that hold questions and answers together. */
async function isRecordedWithin(file: string, question: readonly string[]): Promise<void> {
  const recorded = JSON.parse(readFileSync(join(PLUGINS, file), 'utf8')) as readonly object[]
  const cases = recorded.map((one) => Object.fromEntries(question.map((key) => [key, Reflect.get(one, key)])))
  const answers = await askJavaPlugins(java.address, cases)
  const merged = cases.map((one, index) => ({ ...one, ...answers[index] }))
  await expect(lines(merged)).toMatchFileSnapshot(join(PLUGINS, file))
}

function lines(values: readonly object[]): string {
  return `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]\n`
}
