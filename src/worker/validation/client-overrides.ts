import type { ClientKind } from '../../broker/client-settings.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { HostAccess, RawConfig, Reaches } from '../../sdk/index.ts'
import { overrideProblems } from '../configuration/client-settings.ts'
import { accessProblem, invalidValueMessage } from '../host-access/config-value-access.ts'
import type { OverridePolicy } from '../model/override-policy.ts'
import type { TopicAccess } from '../topic-access/topic-access.ts'
import type { ConfigEntry } from './config-entry.ts'

/**
 * The entries of the keys under `producer.override.`, `consumer.override.` and `admin.override.`, for the clients that
 * the connector uses. Kafka Connect validates only some of them: keys of the others have an entry only if they are not permitted.
 */
export function overrideEntries(
  config: RawConfig,
  kind: 'source' | 'sink',
  policy: OverridePolicy,
  access: OverrideAccess,
): readonly ConfigEntry[] {
  const listed = listedClientsOf(config, kind)
  return usedClientsOf(config, kind).flatMap((client) => {
    const prefix = `${client}.override.`
    const keys = Object.keys(config).filter((key) => key.startsWith(prefix))
    const isListed = listed.includes(client)
    const wrong = isListed ? overrideProblems(config, client) : []
    const entries = keys.map((name) => {
      const problems = wrong.filter(({ key }) => key === name).map(({ message }) => message)
      const refused = policy.allows(name.slice(prefix.length)) ? [] : [refusalOf(name, policy)]
      const value = config[name] ?? ''
      const problem = problemOf(name, value, access)
      const denied = problem === undefined ? [] : [invalidValueMessage(name, problem)]
      return toEntry(name, value, [...refused, ...problems, ...denied])
    })
    return isListed ? entries : entries.filter(({ value }) => value.errors.length > 0)
  })
}

/** What restricts the values of client settings. */
export type OverrideAccess = { readonly host: HostAccess; readonly topics: Pick<TopicAccess, 'groupProblem'> }

function problemOf(name: string, value: string, { host, topics }: OverrideAccess): string | undefined {
  if (name === 'consumer.override.group.id') return topics.groupProblem(trimAsJava(value))
  const reaches = reachOf(name.replace(/^\w+\.override\./, ''))
  return reaches && accessProblem(reaches, value, host)
}

/** The clients whose keys Kafka Connect validates. */
function listedClientsOf(config: RawConfig, kind: 'source' | 'sink'): readonly ClientKind[] {
  const makesTopics = hasDeadLetters(config) || Object.keys(config).some((key) => key.startsWith('topic.creation.'))
  if (kind === 'source') return makesTopics ? ['producer', 'admin'] : ['producer']
  return hasDeadLetters(config) ? ['producer', 'consumer', 'admin'] : ['consumer']
}

/** A source also describes its topics and may read one, such as that of signals; the worker reads the offsets of a sink. */
function usedClientsOf(config: RawConfig, kind: 'source' | 'sink'): readonly ClientKind[] {
  return kind === 'source' || hasDeadLetters(config) ? ['producer', 'consumer', 'admin'] : ['consumer', 'admin']
}

function hasDeadLetters(config: RawConfig): boolean {
  return trimAsJava(config['errors.deadletterqueue.topic.name'] ?? '') !== ''
}

/** What kind of resource the value of a Kafka client key refers to, if it is subject to `HostAccess`. */
function reachOf(key: string): Reaches | undefined {
  if (/^ssl\..*\.location$/.test(key)) return 'path'
  return key === 'bootstrap.servers' || key === 'sasl.oauthbearer.token.endpoint.url' ? 'url' : undefined
}

function refusalOf(name: string, policy: OverridePolicy): string {
  return `The '${policy.name}' policy does not allow '${name}' to be overridden in the connector configuration.`
}

function toEntry(name: string, value: string | null, errors: readonly string[]): ConfigEntry {
  return { definition: null, value: { name, value, recommended_values: [], errors, visible: true } }
}
