import type { HostAccess, RawConfig, Reaches } from '../../sdk/index.ts'
import { type ClientKind, overrideProblems } from '../configuration/client-settings.ts'
import { accessProblem, invalidValueMessage } from '../host-access/config-value-access.ts'
import type { OverridePolicy } from '../model/override-policy.ts'
import type { ConfigEntry } from './config-entry.ts'

/**
 * The entries of the keys under `producer.override.`, `consumer.override.` and `admin.override.`, for the clients that
 * the connector uses.
 */
export function overrideEntries(
  config: RawConfig,
  kind: 'source' | 'sink',
  policy: OverridePolicy,
  access: HostAccess,
): readonly ConfigEntry[] {
  return clientsOf(config, kind).flatMap((client) => {
    const prefix = `${client}.override.`
    const keys = Object.keys(config).filter((key) => key.startsWith(prefix))
    const wrong = overrideProblems(config, client)
    return keys.map((name) => {
      const problems = wrong.filter(({ key }) => key === name).map(({ message }) => message)
      const refused = policy.allows(name.slice(prefix.length)) ? [] : [refusalOf(name, policy)]
      const value = config[name] ?? ''
      const reaches = reachOf(name.slice(prefix.length))
      const problem = reaches && accessProblem(reaches, value, access)
      const denied = problem === undefined ? [] : [invalidValueMessage(name, problem)]
      return toEntry(name, value, [...refused, ...problems, ...denied])
    })
  })
}

function clientsOf(config: RawConfig, kind: 'source' | 'sink'): readonly ClientKind[] {
  const hasDeadLetters = (config['errors.deadletterqueue.topic.name'] ?? '') !== ''
  const makesTopics = hasDeadLetters || Object.keys(config).some((key) => key.startsWith('topic.creation.'))
  if (kind === 'source') return makesTopics ? ['producer', 'admin'] : ['producer']
  return hasDeadLetters ? ['producer', 'consumer', 'admin'] : ['consumer']
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
