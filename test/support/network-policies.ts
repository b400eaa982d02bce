import type { Rendered } from './helm.ts'

type Labels = Readonly<Record<string, string>>
type Selector = { readonly matchLabels?: Labels; readonly matchExpressions?: readonly object[] }
type Peer = { readonly podSelector?: Selector; readonly namespaceSelector?: Selector; readonly ipBlock?: object }
type Rule = {
  readonly from?: readonly Peer[]
  readonly to?: readonly Peer[]
  readonly ports?: readonly { readonly port: number | string; readonly protocol?: string }[]
}
type Policy = {
  readonly podSelector: Selector
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly Rule[]
  readonly egress?: readonly Rule[]
}

/** A pod, or an external endpoint, which has no labels and no namespace. */
export type Endpoint = {
  readonly name: string
  readonly namespace?: string
  readonly namespaceLabels?: Labels
  readonly labels?: Labels
  /** The ports it listens on, by name. */
  readonly ports: Readonly<Record<string, number>>
}

/** The connections that the policies of one namespace allow, as `from > to:port`. An `ipBlock` matches no endpoint. */
export function allowedConnections(policies: readonly Rendered[], ends: readonly Endpoint[]): readonly string[] {
  const namespace = policies[0]?.metadata.namespace
  const specs = policies.map(({ spec }) => spec as Policy)
  const rulesFor = (end: Endpoint, direction: 'Ingress' | 'Egress'): readonly Rule[] | undefined => {
    const own = specs.filter(
      ({ podSelector, policyTypes }) =>
        end.namespace === namespace && policyTypes.includes(direction) && chooses(podSelector, end.labels),
    )
    if (own.length === 0) return undefined
    return own.flatMap(({ ingress = [], egress = [] }) => (direction === 'Ingress' ? ingress : egress))
  }
  const isPeer = (end: Endpoint, { podSelector, namespaceSelector, ipBlock }: Peer) => {
    if (ipBlock !== undefined || end.namespace === undefined) return false
    const isPlace =
      namespaceSelector === undefined ? end.namespace === namespace : chooses(namespaceSelector, end.namespaceLabels)
    return isPlace && chooses(podSelector ?? {}, end.labels)
  }
  const lets = (rules: readonly Rule[] | undefined, other: Endpoint, to: Endpoint, name: string) =>
    rules?.some(({ from, to: targets, ports }) => {
      const peers = from ?? targets
      const isPort = ports?.some(({ port }) => port === name || port === to.ports[name]) ?? true
      return isPort && (peers?.some((peer) => isPeer(other, peer)) ?? true)
    }) ?? true
  return ends.flatMap((from) =>
    ends.flatMap((to) =>
      Object.keys(to.ports)
        .filter((name) => lets(rulesFor(from, 'Egress'), to, to, name) && lets(rulesFor(to, 'Ingress'), from, to, name))
        .map((name) => `${from.name} > ${to.name}:${to.ports[name]}`),
    ),
  )
}

function chooses({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels = {}): boolean {
  if (matchExpressions.length > 0) throw new Error('expressions are not read here')
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value)
}
