import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/sdk/index.ts'
import { allCases } from './cases.ts'
import { catalog, type Outcome, outcomeOf, readRecord, wholeOutcome } from './replay.ts'
import golden from './transforms.golden.json' with { type: 'json' }

/** Java's messages from which Weir differs on purpose, and the reason. */
const DIFFERENT: readonly (readonly [message: RegExp, why: string])[] = [
  [/^Cannot invoke ".*" because ".*" is null$/, 'a NullPointerException of the original; Weir names the missing value'],
  [/^Java class class java\.util\.Date does not have/, 'the JSON converter writes a date without a schema as a number'],
  [/^Conversion error: null value for field/, 'the JSON converter has a different message'],
  [/^Timestamp missing on record: SourceRecord/, "the message does not show the record's content"],
  [/^Cannot list fields on non-struct type$/, 'SetSchemaMetadata of 4.3.1 fails on everything but structs'],
]

const PACKAGE = 'org.apache.kafka.connect.transforms.'
const cases = allCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe('the transforms and predicates compared with Kafka Connect', () => {
  it('have a result of the original for every case', () => {
    expect(golden).toHaveLength(cases.length)
    expect(cases.length).toBeGreaterThan(1_000)
  })

  it.each(classes)('have the same results: %s', { tags: ['slow'] }, (name) => {
    for (const one of cases.filter((known) => known.class === name)) {
      const ours = outcomeOf({ ...one, class: PACKAGE + one.class })
      if (isDifferent(one.java, ours)) continue
      expect(ours, JSON.stringify(one)).toEqual(expected(one))
    }
  })
})

it.each(classes)('%s returns the same schema object for records with the same schema', (name) => {
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

/** The expected error. Java exchanges the parts of some messages; here the message is first, followed by its cause. */
function expected({ record, java }: (typeof cases)[number]): Outcome {
  if (java.error === undefined) return wholeOutcome(record, java)
  const [, cause, message] = /^Invalid value java\.lang\.\w+: (.*) for configuration (.*)$/.exec(java.error ?? '') ?? []
  if (message === undefined) return { error: java.error }
  return { error: cause?.startsWith('No enum') ? message : `${message} (${cause})` }
}

function isDifferent({ error }: Outcome, ours: Outcome): boolean {
  return ours.error !== error && DIFFERENT.some(([message]) => message.test(error ?? ''))
}
