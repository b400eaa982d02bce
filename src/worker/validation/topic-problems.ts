import { commaSeparated } from '../../config/settings.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { ownOffsetsTopic } from '../stores/offset-store.ts'
import type { TopicAccess, TopicOperation } from '../topic-access/topic-access.ts'
import { type ConfigEntry, withError } from './config-entry.ts'

/** A key whose value names topics, and what the connector does with them. */
type TopicKey = readonly [key: string, operation: TopicOperation | 'store offsets']

const COMMON: readonly TopicKey[] = [['errors.deadletterqueue.topic.name', 'write']]
const BY_KIND: Readonly<Record<ConnectorPlugin['kind'], readonly TopicKey[]>> = {
  sink: [['topics', 'read']],
  source: [['offsets.storage.topic', 'store offsets']],
}

export type TopicContext = {
  readonly access: TopicAccess
  /** Whether a connector uses the topic for records. */
  readonly isDataTopic: (topic: string) => boolean
}

/**
 * Reports topics that the connector may not use as errors of the keys that name them. The task checks each topic again when it uses
 * it, because transformations and plugins can make other names.
 */
export function checkTopics(
  entries: readonly ConfigEntry[],
  config: RawConfig,
  plugin: ConnectorPlugin,
  context: TopicContext,
): readonly ConfigEntry[] {
  const own = plugin.definitions.flatMap(({ name, reaches }): TopicKey[] =>
    reaches === 'read topic' ? [[name, 'read']] : reaches === 'written topic' ? [[name, 'write']] : [],
  )
  const operations = new Map([...COMMON, ...BY_KIND[plugin.kind], ...own])
  return entries.map((entry) => {
    const { name } = entry.value
    const operation = operations.get(name)
    if (operation === undefined) return entry
    const problems =
      operation === 'store offsets'
        ? offsetsTopicProblems(config, context)
        : commaSeparated(config[name] ?? '').flatMap((topic) => context.access.problem(operation, topic) ?? [])
    return problems.reduce(
      (checked, problem) => withError(checked, `Invalid value ${config[name]} for configuration ${name}: ${problem}`),
      entry,
    )
  })
}

function offsetsTopicProblems(config: RawConfig, { access, isDataTopic }: TopicContext): readonly string[] {
  const topic = ownOffsetsTopic(config)
  if (topic === undefined) return []
  const problem = access.offsetsTopicProblem(topic)
  if (problem !== undefined) return [problem]
  // Otherwise a connector could make the topic of another one unusable for records.
  return isDataTopic(topic)
    ? [`the topic '${topic}' has records of a connector, so offsets cannot be stored in it`]
    : []
}
