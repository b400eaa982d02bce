import type { RawConfig } from '../stores/config-codec.ts'
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
export function overrideBlocks(config: RawConfig, kind: 'source' | 'sink', policy: OverridePolicy): readonly Entry[] {
  return clientsOf(config, kind).flatMap((client) => {
    const prefix = `${client}.override.`
    const keys = Object.keys(config).filter((key) => key.startsWith(prefix))
    return keys.map((name) =>
      toEntry(name, config[name] ?? null, policy.allows(name.slice(prefix.length)), policy.name),
    )
  })
}

function clientsOf(config: RawConfig, kind: 'source' | 'sink'): readonly string[] {
  if (kind === 'source') return config['topic.creation.groups'] === undefined ? ['producer'] : ['producer', 'admin']
  const hasDeadLetters = (config['errors.deadletterqueue.topic.name'] ?? '') !== ''
  return hasDeadLetters ? ['producer', 'consumer', 'admin'] : ['consumer']
}

function toEntry(name: string, value: string | null, isAllowed: boolean, policy: string): Entry {
  const refusal = `The '${policy}' policy does not allow '${name}' to be overridden in the connector configuration.`
  const errors = isAllowed ? [] : [refusal]
  return { definition: null, value: { name, value, recommended_values: [], errors, visible: true } }
}
