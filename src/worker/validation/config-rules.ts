import { trimAsJava } from '../../common/trim-as-java.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
import type { Pattern } from '../../regex/pattern.ts'
import { field, type RawConfig } from '../../sdk/index.ts'
import { problemsOf } from '../configuration/client-settings.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { includesDeadLetters, matchesDeadLetters } from '../configuration/task-config.ts'
import { parseTopicCreationRules } from '../configuration/topic-creation-rules.ts'
import type { ConfigEntry } from './config-entry.ts'
import { ALIASES_MAX } from './transformation-entries.ts'

export type RuleContext = {
  /** The `group.id` of the workers. */
  readonly groupId: string
  readonly exactlyOnceSources: boolean
}

const GROUPS = 'topic.creation.groups'

type Problem = { readonly key: string; readonly message: string }

/** Adds the errors of rules that depend on more than one key, or on the worker. */
export function checkConfigRules(
  entries: readonly ConfigEntry[],
  config: RawConfig,
  plugin: ConnectorPlugin,
  context: RuleContext,
): readonly ConfigEntry[] {
  const problems = [
    ...nameProblems(config),
    ...aliasProblems(config),
    ...(plugin.kind === 'sink' ? sinkProblems(config, context) : sourceProblems(config)),
  ]
  return entries.map((entry) => {
    const errors = problems.filter(({ key }) => key === entry.value.name).map(({ message }) => message)
    return errors.length === 0 ? nonNull(entry) : withErrors(entry, errors)
  })
}

function withErrors(entry: ConfigEntry, errors: readonly string[]): ConfigEntry {
  return { ...entry, value: { ...entry.value, errors: [...entry.value.errors, ...errors] } }
}

/** For an unparsable `tasks.max`, Kafka Connect reports a second error. No other key has this check. */
function nonNull(entry: ConfigEntry): ConfigEntry {
  const isUnreadable = entry.value.name === 'tasks.max' && entry.value.value === null && entry.value.errors.length > 0
  return isUnreadable
    ? withErrors(entry, ['Invalid value null for configuration tasks.max: Value must be non-null'])
    : entry
}

function nameProblems({ name }: RawConfig): readonly Problem[] {
  if (name === undefined) return []
  const trimmed = trimAsJava(name)
  const refuse = (reason: string) => [
    { key: 'name', message: `Invalid value ${trimmed} for configuration name: ${reason}` },
  ]
  if (trimmed === '') return refuse('String may not be empty')
  const controls = [...trimmed]
    .map((char) => char.charCodeAt(0))
    .filter((code) => code < 32 || (code >= 127 && code < 160))
  if (controls.length === 0) return []
  return refuse(`String may not contain control sequences but had the following ASCII chars: ${controls.join(', ')}`)
}

function aliasProblems(config: RawConfig): readonly Problem[] {
  return ['transforms', 'predicates', GROUPS].flatMap((key) => {
    const names = field.listItems(config[key] ?? '')
    if (key !== GROUPS && names.length > ALIASES_MAX) {
      const message = `Invalid value for configuration ${key}: ${names.length} aliases are too many, ${ALIASES_MAX} are the most.`
      return [{ key, message }]
    }
    if (new Set(names).size === names.length) return []
    return [{ key, message: `Invalid value [${names.join(', ')}] for configuration ${key}: Duplicate alias provided.` }]
  })
}

function sinkProblems(config: RawConfig, { groupId }: RuleContext): readonly Problem[] {
  const topics = field.listItems(config['topics'] ?? '')
  const regex = trimAsJava(config['topics.regex'] ?? '')
  return [
    ...topicProblems(topics, regex),
    ...deadLetterProblems(config, topics, regex),
    ...groupProblems(config, groupId),
  ]
}

function topicProblems(topics: readonly string[], regex: string): readonly Problem[] {
  const both = (message: string) => ['topics', 'topics.regex'].map((key) => ({ key, message }))
  return [
    ...topicListProblems(topics),
    ...(regex === '' || toRegex(regex)
      ? []
      : [{ key: 'topics.regex', message: `Invalid value ${regex} for configuration topics.regex: Invalid regex` }]),
    ...(topics.length > 0 && regex !== ''
      ? both('topics and topics.regex are mutually exclusive options, but both are set.')
      : []),
    ...(topics.length === 0 && regex === '' ? both('Must configure one of topics or topics.regex') : []),
  ]
}

function topicListProblems(topics: readonly string[]): readonly Problem[] {
  const refuse = (reason: string) => [
    { key: 'topics', message: `Configuration 'topics' values must not be ${reason}.` },
  ]
  if (new Set(topics).size < topics.length) return refuse('duplicated')
  return topics.includes('') ? refuse('empty') : []
}

function deadLetterProblems(config: RawConfig, topics: readonly string[], regex: string): readonly Problem[] {
  const deadLetters = trimAsJava(config['errors.deadletterqueue.topic.name'] ?? '')
  if (deadLetters === '') return []
  const named = [...new Set(topics)].filter((topic) => topic !== '')
  return [
    ...(named.includes(deadLetters) ? [{ key: 'topics', message: includesDeadLetters(deadLetters, named) }] : []),
    ...(isIncluded(deadLetters, toRegex(regex))
      ? [{ key: 'topics.regex', message: matchesDeadLetters(deadLetters, regex) }]
      : []),
  ]
}

/** The maximum length of a topic name. */
const TOPIC_CHARACTERS_MAX = 249

/**
 * This thread serves requests, so an expression that may backtrack is not evaluated here. The sink task checks it when
 * it starts.
 */
function isIncluded(topic: string, pattern: Pattern | undefined): boolean {
  return pattern !== undefined && topic.length <= TOPIC_CHARACTERS_MAX && pattern.isLinear && pattern.test(topic)
}

function groupProblems(config: RawConfig, groupId: string): readonly Problem[] {
  const key = 'consumer.override.group.id'
  const own = config[key]
  if ((own ?? `connect-${config['name']}`) !== groupId) return []
  const message = `Consumer group ${groupId} conflicts with Connect worker group ${groupId}`
  return [{ key: own === undefined ? 'name' : key, message }]
}

function toRegex(regex: string): Pattern | undefined {
  if (regex === '') return undefined
  try {
    return javaRegex(regex, { whole: true })
  } catch {
    return undefined
  }
}

function sourceProblems(config: RawConfig): readonly Problem[] {
  // Keys of topic creation groups have no entries here, as in Kafka Connect, so their errors are reported for this key.
  return problemsOf(() => parseTopicCreationRules(config)).map(({ message }) => ({ key: GROUPS, message }))
}
