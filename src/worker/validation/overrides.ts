import type { HostAccess, Reaches } from '../../sdk/index.ts'
import { type ClientKind, overrideProblems } from '../configuration/client-settings.ts'
import type { RawConfig } from '../stores/config-codec.ts'
import { accessProblem, refusal } from './access.ts'
import type { Entry } from './entries.ts'

/** Which settings of its Kafka clients a connector may choose itself, by the names of Kafka Connect's policies. */
export type OverridePolicy = {
  readonly name: string
  /** `key` is the client's own, without the prefix. */
  readonly allows: (key: string) => boolean
}

const PRINCIPAL_KEYS = ['sasl.jaas.config', 'sasl.mechanism', 'security.protocol']

/** `allowed` counts for the policy `Allowlist` only. Undefined for a policy that does not exist. */
export function parseOverridePolicy(name: string, allowed: readonly string[]): OverridePolicy | undefined {
  const policies: Readonly<Record<string, OverridePolicy['allows']>> = {
    All: () => true,
    None: () => false,
    Principal: (key) => PRINCIPAL_KEYS.includes(key),
    Allowlist: (key) => allowed.includes(key),
  }
  const short = name.replace(/^.*\.|ConnectorClientConfigOverridePolicy$/g, '')
  const allows = policies[short]
  return allows && { name: short, allows }
}

/** The keys under `producer.override.`, `consumer.override.` and `admin.override.` of those clients that it will have. */
export function overrideBlocks(
  config: RawConfig,
  kind: 'source' | 'sink',
  policy: OverridePolicy,
  access: HostAccess,
): readonly Entry[] {
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
      const denied = problem === undefined ? [] : [refusal(name, problem)]
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

/** What a key of Kafka's clients leads to. */
function reachOf(key: string): Reaches | undefined {
  if (/^ssl\..*\.location$/.test(key)) return 'path'
  return key === 'bootstrap.servers' || key === 'sasl.oauthbearer.token.endpoint.url' ? 'url' : undefined
}

function refusalOf(name: string, policy: OverridePolicy): string {
  return `The '${policy.name}' policy does not allow '${name}' to be overridden in the connector configuration.`
}

function toEntry(name: string, value: string | null, errors: readonly string[]): Entry {
  return { definition: null, value: { name, value, recommended_values: [], errors, visible: true } }
}
