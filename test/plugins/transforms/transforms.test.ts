import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/sdk/index.ts'
import { allCases } from './cases.ts'
import { catalog, type Outcome, outcomeOf, readRecord, wholeOutcome } from './replay.ts'
import golden from './transforms.golden.json' with { type: 'json' }

/** Where Weir differs on purpose: Java's message, and why. */
const DIFFERENT: readonly (readonly [message: RegExp, why: string])[] = [
  [/^Cannot invoke ".*" because ".*" is null$/, 'a null pointer of the original; the message says what is missing'],
  [/^Java class class java\.util\.Date does not have/, 'the JSON converter writes a date without a schema as a number'],
  [/^Conversion error: null value for field/, 'the JSON converter says it in other words'],
  [/^Timestamp missing on record: SourceRecord/, "the message does not show the record's content"],
  [/^Cannot list fields on non-struct type$/, 'SetSchemaMetadata of 4.3.1 fails on everything but structs'],
]

const PACKAGE = 'org.apache.kafka.connect.transforms.'
const cases = allCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe("what Kafka Connect's transforms and predicates make of records", () => {
  it('was recorded for every case', () => {
    expect(golden).toHaveLength(cases.length)
    expect(cases.length).toBeGreaterThan(1_000)
  })

  it.each(classes)('is what %s makes of them here', (name) => {
    for (const one of cases.filter((known) => known.class === name)) {
      const ours = outcomeOf({ ...one, class: PACKAGE + one.class })
      if (isDifferent(one.java, ours)) continue
      expect(ours, JSON.stringify(one)).toEqual(expected(one))
    }
  })
})

it.each(classes)('gives records of one schema one schema, so that converters know it again: %s', (name) => {
  const transform = catalog.find('transformation', PACKAGE + name)
  for (const { config, record, java } of cases.filter(
    (known) => known.class === name && known.java.error === undefined,
  )) {
    if (transform === undefined || java.out === null) continue
    const change = transform.create(parseConfig(transform.config, config))
    const given = readRecord(record)
    const [first, second] = [change(given), change({ ...given })]
    expect(second?.keySchema).toBe(first?.keySchema)
    expect(second?.valueSchema).toBe(first?.valueSchema)
  }
})

/** The exception's message where Java builds it of the wrong parts, and the fault behind it at its end. */
function expected({ record, java }: (typeof cases)[number]): Outcome {
  if (java.error === undefined) return wholeOutcome(record, java)
  const [, cause, message] = /^Invalid value java\.lang\.\w+: (.*) for configuration (.*)$/.exec(java.error ?? '') ?? []
  if (message === undefined) return { error: java.error }
  return { error: cause?.startsWith('No enum') ? message : `${message} (${cause})` }
}

function isDifferent({ error }: Outcome, ours: Outcome): boolean {
  return ours.error !== error && DIFFERENT.some(([message]) => message.test(error ?? ''))
}
