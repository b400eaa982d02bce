import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FormatType } from '../../../src/formats/format.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { type Subject, toSubject } from '../../../src/registry/model/subject.ts'
import type { RegistryRecord } from '../../../src/registry/store/registry-record.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'

const SUBJECTS = ['a', 'b', ':.c:a'].map((name) => toSubject(name))
const NUMBERS = [1, 2, 3]
const REFERENCES = [{ name: 'n', subject: 'b', version: 1 }]
const CONTENTS = (['AVRO "int"', 'JSON "int"', 'AVRO "long"', 'AVRO "string"'] as const).flatMap((typeAndText) =>
  [[], REFERENCES].map((references) => {
    const [type, text] = [typeAndText.slice(0, 4) as FormatType, typeAndText.slice(5)]
    const bare = { type, text, references, metadata: undefined, ruleSet: undefined } as const
    return { ...bare, guid: guidOf(bare) }
  }),
)
const MEMBERS = [{}, { schemaTags: [] }]

const subject = fc.constantFrom(...SUBJECTS)
const number = fc.constantFrom(...NUMBERS)
const put = fc
  .record({
    subject,
    version: number,
    id: number,
    content: fc.constantFrom(...CONTENTS),
    deleted: fc.boolean(),
    extra: fc.constantFrom(...MEMBERS),
  })
  .map((value) => ({ kind: 'schema' as const, subject: value.subject, version: value.version, value }))
/** Records, and numbers of contents that are indexed before the next record. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: put },
    fc.record({ kind: fc.constant('schema' as const), subject, version: number, value: fc.constant(null) }),
    fc.record({ kind: fc.constant('delete-subject' as const), subject, version: number }),
    fc.record({ kind: fc.constant('clear-subject' as const), subject: fc.option(subject) }),
    fc.nat({ max: 2 }),
  ),
  { maxLength: 30 },
)

it('a state is the same whether contents are indexed with their records or later', () => {
  fc.assert(
    fc.property(steps, fc.boolean(), fc.constantFrom(0, 1, 3, 100), (sequence, readsBetween, unindexedMax) => {
      const [before, later] = [new RegistryState(), new RegistryState(10, unindexedMax)]
      for (const [at, step] of sequence.entries()) {
        if (typeof step === 'number') {
          later.indexContents(step)
          continue
        }
        expect(later.apply(withoutGuid(step), at)).toBe(before.apply(step, at))
        if (readsBetween) expect(everythingIn(later)).toEqual(everythingIn(before))
      }
      expect(versionsIn(later)).toEqual(versionsIn(before))
      while (later.indexContents(1));
      expect(everythingIn(later)).toEqual(everythingIn(before))
    }),
  )
})

it('a content has the ID of its newest record, also if a record with a known ID follows before it is indexed', () => {
  const state = new RegistryState()
  const content = { ...CONTENTS[0]!, guid: undefined }
  for (const [name, id] of [
    ['a', 1],
    ['b', 2],
    ['c', 1],
  ] as const) {
    const value = { subject: name as Subject, version: 1, id, content, deleted: false, extra: {} }
    state.apply({ kind: 'schema', subject: value.subject, version: 1, value }, 1)
  }
  expect(state.idOf('.', CONTENTS[0]!.guid)).toBe(1)
})

it.each([
  [100, [true, true, true, false, false]],
  [4, [true, false, false, false, false]],
  [3, [true, false, false, false, false]],
  [1, [false, false, false, false, false]],
])('contents are indexed in parts, at most %d of five', (unindexedMax, rests) => {
  const state = new RegistryState(10, unindexedMax)
  const ids = [1, 2, 3, 4, 5]
  const contentOf = (id: number) => ({ ...CONTENTS[0]!, text: `"${id}"`, guid: undefined })
  for (const id of ids) {
    const content = contentOf(id)
    const value = { subject: 's' as Subject, version: id, id, content, deleted: false, extra: {} }
    state.apply({ kind: 'schema', subject: value.subject, version: id, value }, 1)
  }
  expect([2, 2, 0, 2, 2].map((count) => state.indexContents(count))).toEqual(rests)
  expect(ids.map((id) => state.idOf('.', guidOf(contentOf(id))))).toEqual(ids)
})

/** As the codec decodes the record: the GUID of a content that consists of a text is not computed. */
function withoutGuid(record: RegistryRecord): RegistryRecord {
  if (record.kind !== 'schema' || record.value === null) return record
  const { content } = record.value
  if (content.references.length > 0) return record
  return { ...record, value: { ...record.value, content: { ...content, guid: undefined } } }
}

function versionsIn(state: RegistryState) {
  return {
    subjects: [...state.subjects()],
    versions: SUBJECTS.map((name) => state.versions(name)),
    holders: ['.', '.c'].map((context) => NUMBERS.map((id) => [...state.holders(context, id)])),
    referrers: SUBJECTS.map((name) => state.referrers(name, 1)),
  }
}

function everythingIn(state: RegistryState) {
  const ids = ['.', '.c'].map((context) => CONTENTS.map(({ guid }) => state.idOf(context, guid)))
  return { ...versionsIn(state), ids }
}
