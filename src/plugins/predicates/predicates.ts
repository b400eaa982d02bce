import { javaRegex, regexField } from '../../java-compat/java-regex.ts'
import { definePredicate, field, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'

const PACKAGE = 'org.apache.kafka.connect.transforms.predicates'

export const hasHeaderKey = definePredicate({
  class: 'HasHeaderKey',
  aliases: [`${PACKAGE}.HasHeaderKey`],
  version: SHIPPED_VERSION,
  summary: 'True for records with at least one header with the configured name.',
  config: z.object({ name: field.text({ doc: 'The header name.', nonEmpty: true }) }),
  create:
    ({ name }) =>
    ({ headers }) =>
      headers.some(({ key }) => key === name),
})

export const recordIsTombstone = definePredicate({
  class: 'RecordIsTombstone',
  aliases: [`${PACKAGE}.RecordIsTombstone`],
  version: SHIPPED_VERSION,
  summary: 'True for tombstones, that is, records with a null value.',
  config: z.object({}),
  create:
    () =>
    ({ value }) =>
      value === null || value === undefined,
})

export const topicNameMatches = definePredicate({
  class: 'TopicNameMatches',
  aliases: [`${PACKAGE}.TopicNameMatches`],
  version: SHIPPED_VERSION,
  summary: 'True for records whose complete topic name matches the configured regular expression.',
  config: z.object({
    pattern: regexField('pattern', {
      doc: "A Java regular expression for matching against the name of a record's topic.",
      nonEmpty: true,
    }),
  }),
  create({ pattern }) {
    const names = javaRegex(pattern, { whole: true })
    return ({ topic }) => names.test(topic)
  },
})
