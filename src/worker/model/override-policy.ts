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
