import type { NewTopic } from '../../broker/broker.ts'
import { messageOf } from '../../common/errors.ts'
import { commaSeparated, integerSetting, listSetting, settingsWithPrefix } from '../../config/settings.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { ConfigError, parseConfig, z } from '../../sdk/index.ts'
import { withKeyNames } from './client-settings.ts'

/** How missing topics of a source are created. */
export type TopicCreationRule = {
  readonly applies: (topic: string) => boolean
  readonly topic: Omit<NewTopic, 'name'>
}

const PREFIX = 'topic.creation.'
const DEFAULT = 'default'

/** A count of at least 1, or -1 for the brokers' default. */
const count = (max: number) =>
  integerSetting({ min: -1, max }).refine((value) => value !== 0, 'expected at least 1, or -1')
const expressions = () =>
  listSetting()
    .transform((texts, context) => {
      try {
        return texts.map((text) => javaRegex(text, { whole: true }))
      } catch (error) {
        context.addIssue({ code: 'custom', message: `Invalid regex: ${messageOf(error)}` })
        return z.NEVER
      }
    })
    .default([])

const group = z.object({
  include: expressions(),
  exclude: expressions(),
  partitions: count(2 ** 31 - 1).optional(),
  'replication.factor': count(32_767).optional(),
})

/**
 * The topic creation groups of a source in the order in which they are tried, the default group last. Throws a
 * `ConfigError`.
 */
export function parseTopicCreationRules(config: RawConfig): readonly TopicCreationRule[] {
  if (!Object.keys(config).some((key) => key.startsWith(PREFIX))) return []
  const fallback = parseGroup(DEFAULT, config)
  const missing = (['replication.factor', 'partitions'] as const).filter((key) => fallback[key] === undefined)
  if (missing.length > 0) {
    throw new ConfigError(
      missing.map((name) => {
        const key = `${PREFIX}${DEFAULT}.${name}`
        return { key, message: `Missing required configuration "${key}" which has no default value.` }
      }),
    )
  }
  const groups = commaSeparated(config[`${PREFIX}groups`] ?? '').filter((name) => name !== DEFAULT)
  return [
    ...groups.map((name) => {
      const own = parseGroup(name, config)
      const isIn = (topic: string) => own.include.some((wanted) => wanted.test(topic))
      const applies = (topic: string) => isIn(topic) && !own.exclude.some((unwanted) => unwanted.test(topic))
      return toRule({ ...fallback, ...own, configs: own.configs }, applies)
    }),
    toRule(fallback, () => true),
  ]
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

function toRule(
  { partitions = -1, 'replication.factor': replicationFactor = -1, configs }: ReturnType<typeof parseGroup>,
  applies: TopicCreationRule['applies'],
): TopicCreationRule {
  return {
    applies,
    topic: {
      ...(partitions > 0 && { partitions }),
      ...(replicationFactor > 0 && { replicationFactor }),
      ...(Object.keys(configs).length > 0 && { configs }),
    },
  }
}
