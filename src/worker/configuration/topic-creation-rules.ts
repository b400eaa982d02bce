import type { NewTopic } from '../../broker/broker.ts'
import { messageOf } from '../../common/errors.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
import { ConfigError, field, parseConfig, type RawConfig, z } from '../../sdk/index.ts'
import { withKeyNames } from './client-settings.ts'

/** How missing topics of a source are created. */
export type TopicCreationRule = {
  readonly applies: (topic: string) => boolean
  readonly topic: Omit<NewTopic, 'name'>
}

const PREFIX = 'topic.creation.'
const DEFAULT = 'default'

const info = (doc: string) => ({ doc })
/** A count of at least 1, or -1 for the brokers' default. */
const isCount = (value: number) => value === -1 || value >= 1
const expressions = (doc: string) =>
  field
    .list(info(doc))
    .transform((texts, context) => {
      try {
        return texts.map((text) => javaRegex(text, { whole: true }))
      } catch (error) {
        context.addIssue({ code: 'custom', message: `Syntax error in regular expression: ${messageOf(error)}` })
        return z.NEVER
      }
    })
    .prefault('')

/** The keys of a group, with the messages of Kafka Connect's `TopicCreationConfig`. */
const group = z.object({
  include: expressions('Topics of the group.'),
  exclude: expressions('Topics that are not in the group.'),
  partitions: field
    .int(info('Partitions of a new topic.'))
    .refine(isCount, "Number of partitions must be positive, or -1 to use the broker's default")
    .optional(),
  'replication.factor': field
    .short(info('Replication factor of a new topic.'))
    .refine(
      isCount,
      "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster, or -1 to use the broker's default",
    )
    .optional(),
})

/**
 * The topic creation groups of a source in the order in which they are tried, the default group last. Throws a
 * `ConfigError`.
 */
export function parseTopicCreationRules(config: RawConfig): readonly TopicCreationRule[] {
  if (!Object.keys(config).some((key) => key.startsWith(PREFIX))) return []
  const fallback = parseGroup(DEFAULT, withoutExpressions(config))
  const missing = (['replication.factor', 'partitions'] as const).filter((key) => fallback[key] === undefined)
  if (missing.length > 0) {
    throw new ConfigError(
      missing.map((name) => {
        const key = `${PREFIX}${DEFAULT}.${name}`
        return { key, message: `Missing required configuration "${key}" which has no default value.` }
      }),
    )
  }
  const groups = new Set(field.listItems(config[`${PREFIX}groups`] ?? '').filter((name) => name !== DEFAULT))
  return [
    ...[...groups].map((name) => {
      const own = parseGroup(name, config)
      const isIn = (topic: string) => own.include.some((wanted) => wanted.test(topic))
      const applies = (topic: string) => isIn(topic) && !own.exclude.some((unwanted) => unwanted.test(topic))
      const sized = own['replication.factor'] === undefined ? DEFAULT : name
      return toRule({ ...fallback, ...own, configs: own.configs }, applies, sized)
    }),
    toRule(fallback, () => true, DEFAULT),
  ]
}

/** The default group is for all other topics. */
function withoutExpressions(config: RawConfig): RawConfig {
  const ignored = ['include', 'exclude'].map((key) => `${PREFIX}${DEFAULT}.${key}`)
  return Object.fromEntries(Object.entries(config).filter(([key]) => !ignored.includes(key)))
}

/** The topic's settings by the first rule that applies, or the brokers' defaults. */
export function newTopic(name: string, rules: readonly TopicCreationRule[]): NewTopic {
  return { name, ...rules.find(({ applies }) => applies(name))?.topic }
}

function parseGroup(name: string, config: RawConfig) {
  const prefix = `${PREFIX}${name}.`
  const written = settingsWithPrefix(prefix, config)
  const parsed = withKeyNames(
    (key) => `${prefix}${key}`,
    () => parseConfig<typeof group>(group, written),
  )
  // Other keys of the group are topic configurations.
  const configs = Object.fromEntries(Object.entries(written).filter(([key]) => !Object.hasOwn(group.shape, key)))
  const known = Object.entries(parsed).filter(([, value]) => value !== undefined)
  return { ...(Object.fromEntries(known) as z.infer<typeof group>), configs }
}

/** `sized` is the group that has the replication factor. */
function toRule(
  { partitions = -1, 'replication.factor': replicationFactor = -1, configs }: ReturnType<typeof parseGroup>,
  applies: TopicCreationRule['applies'],
  sized: string,
): TopicCreationRule {
  return {
    applies,
    topic: {
      ...(partitions > 0 && { partitions }),
      ...(replicationFactor > 0 && {
        replicationFactor,
        replicationSetting: `${PREFIX}${sized}.replication.factor`,
      }),
      ...(Object.keys(configs).length > 0 && { configs }),
    },
  }
}
