import { field } from '../../sdk/index.ts'

type Docs = { readonly topic: string; readonly replication: string; readonly context: string }

const REPLICATION = "Replication factor used to create the dead letter queue topic when it doesn't already exist."

/** The documentation texts of Kafka Connect 4.3. */
export const SINK_DEAD_LETTER_DOCS: Docs = {
  topic:
    'The name of the topic to be used as the dead letter queue (DLQ) for messages that result in an error ' +
    'when processed by this sink connector, or its transformations or converters. The topic name is blank ' +
    'by default, which means that no messages are to be recorded in the DLQ.',
  replication: REPLICATION,
  context:
    'If true, add headers containing error context to the messages written to the dead letter queue. To ' +
    'avoid clashing with headers from the original record, all error context header keys, all error ' +
    'context header keys will start with <code>__connect.errors.</code>',
}

const BEYOND = 'Beyond Kafka Connect, where sources have no dead letter queue. '

export const SOURCE_DEAD_LETTER_DOCS: Docs = {
  topic:
    `${BEYOND}The topic for records of this source that cannot be transformed, converted or written; they are ` +
    'written as they would have been, or as JSON when no converter got that far, as the header ' +
    '<code>__connect.errors.content</code> says. Of one that is too large for this topic, too, key and headers are kept. ' +
    'Blank by default: none are kept.',
  replication: BEYOND + REPLICATION,
  context: `${BEYOND}If true, headers that start with <code>__connect.errors.</code> say what happened to a record.`,
}

export function deadLetterKeys(docs: Docs) {
  return {
    'errors.deadletterqueue.topic.name': field
      .text({
        doc: docs.topic,
        importance: 'MEDIUM',
        group: 'Error Handling',
        order: 6,
        width: 'MEDIUM',
        displayName: 'Dead Letter Queue Topic Name',
      })
      .default(''),
    'errors.deadletterqueue.topic.replication.factor': field
      .short({
        doc: docs.replication,
        importance: 'MEDIUM',
        group: 'Error Handling',
        order: 7,
        width: 'MEDIUM',
        displayName: 'Dead Letter Queue Topic Replication Factor',
      })
      .default(3),
    'errors.deadletterqueue.context.headers.enable': field
      .boolean({
        doc: docs.context,
        importance: 'MEDIUM',
        group: 'Error Handling',
        order: 8,
        width: 'MEDIUM',
        displayName: 'Enable Error Context Headers',
        recommended: [],
      })
      .default(false),
  }
}
