const SCRIPT_REMEDY =
  'It needs a script engine in a JVM: install io.debezium:debezium-scripting and the jars of the engine. Without a JVM, FilterByExpression filters by an expression, and ExtractTopic$Value routes by a field.'

/** What to do about classes that public configurations name and that are not installed, by the beginning of their names. */
const REMEDIES: readonly (readonly [prefix: string, remedy: string])[] = [
  ['io.debezium.transforms.Filter', SCRIPT_REMEDY],
  ['io.debezium.transforms.ContentBasedRouter', SCRIPT_REMEDY],
  [
    'io.debezium.transforms.',
    'It runs in a JVM: install it with weir plugins install io.debezium:debezium-core:3.4.0.Final.',
  ],
  [
    'com.github.jcustenborder.kafka.connect.transform.common.',
    'It runs in a JVM: install it with weir plugins install com.github.jcustenborder.kafka.connect:kafka-connect-transform-common:0.1.0.14.',
  ],
  [
    'io.confluent.connect.transforms.',
    'It runs in a JVM, but is not in Maven Central: unpack the archive confluentinc-kafka-connect-transforms below plugin.path.',
  ],
  [
    'io.aiven.kafka.connect.transforms.',
    'It runs in a JVM, but is not in Maven Central: unpack the archive of transforms-for-apache-kafka-connect below plugin.path.',
  ],
  ['com.redhat.insights.expandjsonsmt.ExpandJSON', 'JsonParse parses JSON in fields without a JVM.'],
]

/** Undefined for a class about which nothing is known. */
export function classRemedy(className: string): string | undefined {
  return REMEDIES.find(([prefix]) => className.startsWith(prefix))?.[1]
}
