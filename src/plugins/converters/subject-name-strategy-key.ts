import { field } from '../../sdk/index.ts'
import type { SubjectNameStrategy } from '../../serde/subject-name-strategy.ts'

const STRATEGIES = ['TopicNameStrategy', 'RecordNameStrategy', 'TopicRecordNameStrategy'] as const
type Strategy = (typeof STRATEGIES)[number]
const JAVA_PACKAGE = 'io.confluent.kafka.serializers.subject.'
const MEANINGS: Readonly<Record<Strategy, SubjectNameStrategy>> = {
  TopicNameStrategy: 'TopicName',
  RecordNameStrategy: 'RecordName',
  TopicRecordNameStrategy: 'TopicRecordName',
}

/** Configuration key of the subject name strategy. Accepts Confluent's full class names and their simple names. */
export function strategyField(of: 'key' | 'value') {
  return field
    .className({
      doc: `Strategy that determines the subject of ${of} schemas.`,
      recommended: STRATEGIES.map((name) => JAVA_PACKAGE + name),
    })
    .refine((name) => strategyNamed(name) !== undefined, `expected one of ${STRATEGIES.join(', ')}`)
    .default(`${JAVA_PACKAGE}TopicNameStrategy`)
}

export function subjectStrategy(className: string): SubjectNameStrategy {
  return MEANINGS[strategyNamed(className) ?? 'TopicNameStrategy']
}

function strategyNamed(className: string): Strategy | undefined {
  return STRATEGIES.find((name) => className === name || className === JAVA_PACKAGE + name)
}
