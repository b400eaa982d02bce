import { javaRegex, javaReplacement, regexField } from '../../java-compat/java-regex.ts'
import { defineTransform, field, z } from '../../sdk/index.ts'
import { names } from './key-value-transforms.ts'

export const regexRouter = defineTransform({
  ...names('RegexRouter', 'io.confluent.connect.cloud.transforms.TopicRegexRouter'),
  summary: "Replaces the record's topic if its complete name matches a regular expression.",
  config: z.object({
    regex: regexField('regex', { doc: 'Regular expression to use for matching.', importance: 'HIGH' }),
    replacement: field.text({ doc: 'Replacement string.', importance: 'HIGH' }),
  }),
  create({ regex, replacement }) {
    const whole = javaRegex(regex, { whole: true })
    // The regex must match the whole topic, but only its first match is replaced: `a|ab` changes `ab` to `xb`.
    const first = javaRegex(regex)
    const replace = javaReplacement(replacement)
    return (record) =>
      whole.test(record.topic) ? { ...record, topic: first.replaceFirst(record.topic, replace) } : record
  },
})
