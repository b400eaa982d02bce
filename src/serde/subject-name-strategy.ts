import { SerdeError } from './serde-error.ts'

/** Strategies that derive the subject of a schema, named as in Confluent's clients. */
export type SubjectNameStrategy = 'TopicName' | 'RecordName' | 'TopicRecordName' | SubjectOf

/**
 * `recordName` is the full name of the record or message, or the title of the JSON Schema; undefined if there is none.
 */
export type SubjectOf = (topic: string, recordName: string | undefined) => string

/** The result throws a `SerdeError` with the code `nameless` if the strategy needs a record name and there is none. */
export function subjectNaming(strategy: SubjectNameStrategy, isKey: boolean): SubjectOf {
  if (typeof strategy === 'function') return strategy
  switch (strategy) {
    case 'TopicName':
      return (topic) => `${topic}-${isKey ? 'key' : 'value'}`
    case 'RecordName':
      return (topic, recordName) => named(recordName, topic)
    case 'TopicRecordName':
      return (topic, recordName) => `${topic}-${named(recordName, topic)}`
  }
}

function named(recordName: string | undefined, topic: string): string {
  if (recordName !== undefined) return recordName
  throw new SerdeError('nameless', `topic '${topic}': this subject name strategy requires a schema with a name`)
}
