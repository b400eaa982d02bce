import { type JavaPattern, javaRegex, javaReplacement, regexField } from '../../../../java-compat/java-regex.ts'
import { field } from '../../../../sdk/index.ts'
import type { TopicNamingSettings, TopicRoute } from '../events/topic-naming.ts'

const group = 'Topics'
const STRATEGIES = [
  'io.debezium.schema.SchemaTopicNamingStrategy',
  'io.debezium.schema.SchemaUnicodeTopicNamingStrategy',
  'io.debezium.schema.SchemaRegexTopicNamingStrategy',
  'io.debezium.schema.DefaultTopicNamingStrategy',
  'io.debezium.schema.DefaultUnicodeTopicNamingStrategy',
  'io.debezium.schema.DefaultRegexTopicNamingStrategy',
] as const

const regex = (key: string, doc: string) => regexField(key, { doc, importance: 'LOW', group }).optional()
const replacement = (doc: string) => field.text({ doc, importance: 'LOW', group }).optional()

/** The names of topics, as with Debezium. */
export const namingKeys = {
  'topic.prefix': field.parsed(
    field.text({
      doc: 'Name of the database server: the first part of all topics, and the key of stored offsets.',
      importance: 'HIGH',
      group,
      nonEmpty: true,
    }),
    (text) => {
      if (/^[\w.-]+$/.test(text)) return text
      throw new Error(
        `Invalid value ${text} for configuration topic.prefix: it may have letters, digits, '_', '-' and '.'`,
      )
    },
  ),
  'topic.delimiter': field
    .text({ doc: 'Between the prefix, the schema and the table in names of topics.', group })
    .default('.'),
  'topic.naming.strategy': field
    .oneOf(STRATEGIES, {
      doc:
        'Names of topics. `Schema…`: PREFIX.SCHEMA.TABLE; `Default…`: PREFIX.TABLE. Characters that a topic cannot have become `_`, with ' +
        '`…Unicode` they and `_` become `_uXXXX`. `…Regex`: `topic.regex` replaces names.',
      importance: 'LOW',
      group,
    })
    .default('io.debezium.schema.SchemaTopicNamingStrategy'),
  'topic.regex': regex(
    'topic.regex',
    'With a `…Regex` strategy: a regular expression. A topic whose whole name matches is replaced.',
  ),
  'topic.replacement': replacement(
    'With a `…Regex` strategy: the new name of a topic that matches, with `$1` for a group.',
  ),
  'topic.key.enforce.uniqueness': field
    .boolean({
      doc: 'With a `…Regex` strategy: whether keys have a field that names their table, because tables may share a topic.',
      importance: 'LOW',
      group,
    })
    .default(true),
  'topic.key.field.name': field
    .text({ doc: 'With a `…Regex` strategy: the name of the field.', importance: 'LOW', group })
    .default('__dbz__physicalTableIdentifier'),
  'topic.key.field.regex': regex(
    'topic.key.field.regex',
    'With a `…Regex` strategy: a regular expression. If it matches the topic before its replacement, `topic.key.field.replacement` is the ' +
      'value of the field. Otherwise the value is that topic.',
  ),
  'topic.key.field.replacement': replacement(
    'With a `…Regex` strategy: the value of the field, with `$1` for a group.',
  ),
  'topic.transaction': field
    .text({ doc: 'Topic of the metadata of transactions, after the prefix.', importance: 'LOW', group })
    .default('transaction'),
  'topic.heartbeat.prefix': field
    .text({ doc: 'Prefix of the topic of heartbeats.', importance: 'LOW', group })
    .default('__debezium-heartbeat'),
}

export type NamingConfig = {
  readonly [Key in
    | 'topic.prefix'
    | 'topic.delimiter'
    | 'topic.naming.strategy'
    | 'topic.transaction'
    | 'topic.heartbeat.prefix']: string
} & {
  readonly [Key in 'topic.regex' | 'topic.replacement' | 'topic.key.field.regex' | 'topic.key.field.replacement']?:
    | string
    | undefined
} & { readonly 'topic.key.enforce.uniqueness': boolean; readonly 'topic.key.field.name': string }

/** The first key that the strategy needs and that is missing. */
export function namingProblem(config: NamingConfig): { readonly key: string; readonly message: string } | undefined {
  if (!hasRegex(config)) return undefined
  const missing = (['topic.regex', 'topic.replacement'] as const).find((key) => !config[key])
  if (missing !== undefined) return { key: missing, message: `${config['topic.naming.strategy']} needs ${missing}` }
  if (config['topic.key.field.regex'] !== undefined && config['topic.key.field.replacement'] === undefined) {
    return { key: 'topic.key.field.replacement', message: 'topic.key.field.regex needs topic.key.field.replacement' }
  }
  return undefined
}

export function namingSettings(config: NamingConfig): TopicNamingSettings {
  const strategy = config['topic.naming.strategy']
  const hasKeyField = hasRegex(config) && config['topic.key.enforce.uniqueness']
  return {
    prefix: config['topic.prefix'],
    delimiter: config['topic.delimiter'],
    transactionTopic: config['topic.transaction'],
    heartbeatPrefix: config['topic.heartbeat.prefix'],
    hasSchema: strategy.includes('.Schema'),
    isUnicode: strategy.includes('Unicode'),
    route: hasRegex(config) ? routeOf(config['topic.regex'], config['topic.replacement']) : undefined,
    keyField: hasKeyField
      ? {
          name: config['topic.key.field.name'],
          route: routeOf(config['topic.key.field.regex'], config['topic.key.field.replacement']),
        }
      : undefined,
  }
}

function hasRegex(config: NamingConfig): boolean {
  return config['topic.naming.strategy'].includes('Regex')
}

/** The expression must match the whole topic. */
function routeOf(expression: string | undefined, text: string | undefined): TopicRoute | undefined {
  if (expression === undefined || text === undefined) return undefined
  const [whole, first]: readonly JavaPattern[] = [javaRegex(expression, { whole: true }), javaRegex(expression)]
  const replace = javaReplacement(text)
  return (topic) => (whole!.test(topic) ? first!.replaceFirst(topic, replace) : undefined)
}
