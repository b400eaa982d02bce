import { field, z } from '../../sdk/index.ts'
import { deadLetterKeys, SINK_DEAD_LETTER_DOCS, SOURCE_DEAD_LETTER_DOCS } from './dead-letter-keys.ts'

// The configuration keys that all connectors share. Names, order, defaults and texts are those of Kafka Connect 4.3.

/** Limit of `tasks.max`, because each task costs a record, a consumer and more. */
const TASKS_MAX = 10_000

/** The limits of Java's `long`, for durations: as a number, the longest is 292 million years. */
const LONG_MIN = -(2 ** 63)
const LONG_MAX = 2 ** 63

/** Keys of sources and sinks. */
export const commonKeys = z.object({
  name: field.text({
    doc: 'Globally unique name to use for this connector.',
    importance: 'HIGH',
    group: 'Common',
    order: 1,
    width: 'MEDIUM',
    displayName: 'Connector name',
  }),
  'connector.class': field.text({
    doc:
      'Name or alias of the class for this connector. Must be a subclass of ' +
      'org.apache.kafka.connect.connector.Connector. If the connector is ' +
      'org.apache.kafka.connect.file.FileStreamSinkConnector, you can either specify this full name,  or ' +
      'use "FileStreamSink" or "FileStreamSinkConnector" to make the configuration a bit shorter',
    importance: 'HIGH',
    group: 'Common',
    order: 2,
    width: 'LONG',
    displayName: 'Connector class',
  }),
  'connector.plugin.version': field
    .text({
      doc: 'Version of the connector.',
      importance: 'MEDIUM',
      group: 'Common',
      order: 3,
      width: 'MEDIUM',
      displayName: 'Connector version',
    })
    .optional(),
  'tasks.max': field
    .int({
      doc: 'Maximum number of tasks to use for this connector.',
      importance: 'HIGH',
      group: 'Common',
      order: 4,
      width: 'SHORT',
      displayName: 'Tasks max',
      min: 1,
      max: TASKS_MAX,
    })
    .default(1),
  'tasks.max.enforce': field
    .boolean({
      doc:
        '(Deprecated) Whether to enforce that the tasks.max property is respected by the connector. By ' +
        'default, connectors that generate too many tasks will fail, and existing sets of tasks that exceed ' +
        'the tasks.max property will also be failed. If this property is set to false, then connectors will ' +
        'be allowed to generate more than the maximum number of tasks, and existing sets of tasks that exceed ' +
        'the tasks.max property will be allowed to run. This property is deprecated and will be removed in an ' +
        'upcoming major release.',
      importance: 'LOW',
      group: 'Common',
      order: 5,
      width: 'SHORT',
      displayName: 'Enforce tasks max',
      recommended: [],
    })
    .default(true),
  'key.converter': field
    .className({
      doc:
        'Converter class used to convert between Kafka Connect format and the serialized form that is written ' +
        'to Kafka. This controls the format of the keys in messages written to or read from Kafka, and since ' +
        'this is independent of connectors it allows any connector to work with any serialization format. ' +
        'Examples of common formats include JSON and Avro.',
      importance: 'LOW',
      group: 'Common',
      order: 6,
      width: 'SHORT',
      displayName: 'Key converter class',
    })
    .optional(),
  'key.converter.plugin.version': field
    .text({
      doc: 'Version of the key converter.',
      importance: 'LOW',
      group: 'Common',
      order: 7,
      width: 'SHORT',
      displayName: 'Key converter version',
    })
    .optional(),
  'value.converter': field
    .className({
      doc:
        'Converter class used to convert between Kafka Connect format and the serialized form that is written ' +
        'to Kafka. This controls the format of the values in messages written to or read from Kafka, and ' +
        'since this is independent of connectors it allows any connector to work with any serialization ' +
        'format. Examples of common formats include JSON and Avro.',
      importance: 'LOW',
      group: 'Common',
      order: 8,
      width: 'SHORT',
      displayName: 'Value converter class',
    })
    .optional(),
  'value.converter.plugin.version': field
    .text({
      doc: 'Version of the value converter.',
      importance: 'LOW',
      group: 'Common',
      order: 9,
      width: 'SHORT',
      displayName: 'Value converter version',
    })
    .optional(),
  'header.converter': field
    .className({
      doc:
        'HeaderConverter class used to convert between Kafka Connect format and the serialized form that is ' +
        'written to Kafka. This controls the format of the header values in messages written to or read from ' +
        'Kafka, and since this is independent of connectors it allows any connector to work with any ' +
        'serialization format. Examples of common formats include JSON and Avro. By default, the ' +
        'SimpleHeaderConverter is used to serialize header values to strings and deserialize them by ' +
        'inferring the schemas.',
      importance: 'LOW',
      group: 'Common',
      order: 10,
      width: 'SHORT',
      displayName: 'Header converter class',
    })
    .optional(),
  'header.converter.plugin.version': field
    .text({
      doc: 'Version of the header converter.',
      importance: 'LOW',
      group: 'Common',
      order: 11,
      width: 'SHORT',
      displayName: 'Header converter version',
    })
    .optional(),
  transforms: field
    .list({
      doc: 'Aliases for the transformations to be applied to records.',
      importance: 'LOW',
      group: 'Transforms',
      order: 12,
      width: 'LONG',
      displayName: 'Transforms',
    })
    .default([]),
  predicates: field
    .list({
      doc: 'Aliases for the predicates used by transformations.',
      importance: 'LOW',
      group: 'Predicates',
      order: 13,
      width: 'LONG',
      displayName: 'Predicates',
    })
    .default([]),
  'config.action.reload': field
    .oneOf(['none', 'restart'] as const, {
      doc:
        'The action that Connect should take on the connector when changes in external configuration ' +
        "providers result in a change in the connector's configuration properties. A value of 'none' " +
        "indicates that Connect will do nothing. A value of 'restart' indicates that Connect should " +
        'restart/reload the connector with the updated configuration properties.The restart may actually be ' +
        'scheduled in the future if the external configuration provider indicates that a configuration value ' +
        'will expire in the future.',
      importance: 'LOW',
      group: 'Common',
      order: 14,
      width: 'MEDIUM',
      displayName: 'Reload Action',
      recommended: [],
      isCaseSensitive: true,
    })
    .default('restart'),
  'errors.retry.timeout': field
    .long({
      doc:
        'The maximum duration in milliseconds that a failed operation will be reattempted. The default is 0, ' +
        'which means no retries will be attempted. Use -1 for infinite retries.',
      importance: 'MEDIUM',
      group: 'Error Handling',
      order: 1,
      width: 'MEDIUM',
      displayName: 'Retry Timeout for Errors',
      min: LONG_MIN,
      max: LONG_MAX,
    })
    .default(0),
  'errors.retry.delay.max.ms': field
    .long({
      doc:
        'The maximum duration in milliseconds between consecutive retry attempts. Jitter will be added to the ' +
        'delay once this limit is reached to prevent thundering herd issues.',
      importance: 'MEDIUM',
      group: 'Error Handling',
      order: 2,
      width: 'MEDIUM',
      displayName: 'Maximum Delay Between Retries for Errors',
      min: 0,
      max: LONG_MAX,
    })
    .default(60000),
  'errors.tolerance': field
    .oneOf(['none', 'all'] as const, {
      doc:
        "Behavior for tolerating errors during connector operation. 'none' is the default value and signals " +
        "that any error will result in an immediate connector task failure; 'all' changes the behavior to " +
        'skip over problematic records.',
      importance: 'MEDIUM',
      group: 'Error Handling',
      order: 3,
      width: 'SHORT',
      displayName: 'Error Tolerance',
      recommended: [],
      isCaseSensitive: true,
    })
    .default('none'),
  'errors.log.enable': field
    .boolean({
      doc:
        'If true, write each error and the details of the failed operation and problematic record to the ' +
        "Connect application log. This is 'false' by default, so that only errors that are not tolerated are " +
        'reported.',
      importance: 'MEDIUM',
      group: 'Error Handling',
      order: 4,
      width: 'SHORT',
      displayName: 'Log Errors',
      recommended: [],
    })
    .default(false),
  'errors.log.include.messages': field
    .boolean({
      doc:
        'Whether to include in the log the Connect record that resulted in a failure. For sink records, the ' +
        'topic, partition, offset, and timestamp will be logged. For source records, the key and value (and ' +
        'their schemas), all headers, and the timestamp, Kafka topic, Kafka partition, source partition, and ' +
        "source offset will be logged. This is 'false' by default, which will prevent record keys, values, " +
        'and headers from being written to log files.',
      importance: 'MEDIUM',
      group: 'Error Handling',
      order: 5,
      width: 'SHORT',
      displayName: 'Log Error Details',
      recommended: [],
    })
    .default(false),
})

/** Additional keys of sources, listed after the common ones. */
export const sourceKeys = z.object({
  'topic.creation.groups': field
    .list({
      doc: 'Groups of configurations for topics created by source connectors',
      importance: 'LOW',
      group: 'Topic Creation',
      order: 1,
      width: 'LONG',
      displayName: 'Topic Creation Groups',
    })
    .default([]),
  'exactly.once.support': field
    .oneOf(['requested', 'required'] as const, {
      doc:
        'Permitted values are requested, required. If set to "required", forces a preflight check for the ' +
        'connector to ensure that it can provide exactly-once semantics with the given configuration. Some ' +
        'connectors may be capable of providing exactly-once semantics but not signal to Connect that they ' +
        'support this; in that case, documentation for the connector should be consulted carefully before ' +
        'creating it, and the value for this property should be set to "requested". Additionally, if the ' +
        'value is set to "required" but the worker that performs preflight validation does not have ' +
        'exactly-once support enabled for source connectors, requests to create or validate the connector ' +
        'will fail.',
      importance: 'MEDIUM',
      group: 'Exactly Once Support',
      order: 2,
      width: 'SHORT',
      displayName: 'Exactly once support',
      recommended: [],
      problem: 'String must be one of (case insensitive): REQUIRED, REQUESTED',
    })
    .default('requested'),
  'transaction.boundary': field
    .oneOf(['poll', 'interval', 'connector'] as const, {
      doc:
        "Permitted values are: poll, interval, connector. If set to 'poll', a new producer transaction will " +
        'be started and committed for every batch of records that each task from this connector provides to ' +
        "Connect. If set to 'connector', relies on connector-defined transaction boundaries; note that not " +
        'all connectors are capable of defining their own transaction boundaries, and in that case, attempts ' +
        "to instantiate a connector with this value will fail. Finally, if set to 'interval', commits " +
        'transactions only after a user-defined time interval has passed.',
      importance: 'MEDIUM',
      group: 'Exactly Once Support',
      order: 3,
      width: 'SHORT',
      displayName: 'Transaction Boundary',
      recommended: [],
      problem: 'String must be one of (case insensitive): INTERVAL, POLL, CONNECTOR',
    })
    .default('poll'),
  'transaction.boundary.interval.ms': field
    .long({
      doc:
        "If 'transaction.boundary' is set to 'interval', determines the interval for producer transaction " +
        'commits by connector tasks. If unset, defaults to the value of the worker-level ' +
        "'offset.flush.interval.ms' property. It has no effect if a different transaction.boundary is " +
        'specified.',
      importance: 'LOW',
      group: 'Exactly Once Support',
      order: 4,
      width: 'SHORT',
      displayName: 'Transaction boundary interval',
      min: 0,
    })
    .optional(),
  'offsets.storage.topic': field
    .text({
      doc:
        'The name of a separate offsets topic to use for this connector. If empty or not specified, the ' +
        'worker’s global offsets topic name will be used. If specified, the offsets topic will be created if ' +
        'it does not already exist on the Kafka cluster targeted by this connector (which may be different ' +
        "from the one used for the worker's global offsets topic if the bootstrap.servers property of the " +
        "connector's producer has been overridden from the worker's). Only applicable in distributed mode; in " +
        'standalone mode, setting this property will have no effect.',
      importance: 'LOW',
      group: 'offsets.topic',
      order: 1,
      width: 'LONG',
      displayName: 'Offsets topic',
      nonEmpty: true,
    })
    .optional(),
  ...deadLetterKeys(SOURCE_DEAD_LETTER_DOCS),
})

/** Additional keys of sinks, listed after the common ones. */
export const sinkKeys = z.object({
  topics: field
    .list({
      doc: 'List of topics to consume, separated by commas',
      importance: 'HIGH',
      group: 'Common',
      order: 4,
      width: 'LONG',
      displayName: 'Topics',
    })
    .default([]),
  'topics.regex': field
    .text({
      doc:
        'Regular expression giving topics to consume. Under the hood, the regex is compiled to a ' +
        '<code>java.util.regex.Pattern</code>. Only one of topics or topics.regex should be specified.',
      importance: 'HIGH',
      group: 'Common',
      order: 4,
      width: 'LONG',
      displayName: 'Topics regex',
    })
    .default(''),
  ...deadLetterKeys(SINK_DEAD_LETTER_DOCS),
})
