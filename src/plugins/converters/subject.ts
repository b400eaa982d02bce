import { DataError, field } from '../../sdk/index.ts'

// How a serializer finds the registry's name for the schemas of a topic.

const STRATEGIES = ['TopicNameStrategy', 'RecordNameStrategy', 'TopicRecordNameStrategy'] as const
type Strategy = (typeof STRATEGIES)[number]
const JAVA_PACKAGE = 'io.confluent.kafka.serializers.subject.'

export type SubjectOf = (topic: string, recordName: string | undefined) => string

/** The configuration key, with Confluent's class names and their last parts as its words. */
export function strategyField(of: 'key' | 'value') {
  return field
    .className({
      doc: `How the subject of ${of}s is named.`,
      recommended: STRATEGIES.map((name) => JAVA_PACKAGE + name),
    })
    .refine((name) => strategyNamed(name) !== undefined, `expected one of ${STRATEGIES.join(', ')}`)
    .default(`${JAVA_PACKAGE}TopicNameStrategy`)
}

export function subjectStrategy(className: string, isKey: boolean): SubjectOf {
  switch (strategyNamed(className)) {
    case 'RecordNameStrategy':
      return (topic, recordName) => named(recordName, topic)
    case 'TopicRecordNameStrategy':
      return (topic, recordName) => `${topic}-${named(recordName, topic)}`
    default:
      return (topic) => `${topic}-${isKey ? 'key' : 'value'}`
  }
}

function strategyNamed(className: string): Strategy | undefined {
  return STRATEGIES.find((name) => className === name || className === JAVA_PACKAGE + name)
}

function named(recordName: string | undefined, topic: string): string {
  if (recordName !== undefined) return recordName
  throw new DataError(`topic '${topic}': this subject name strategy needs a schema with a name`)
}
