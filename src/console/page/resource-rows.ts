/** A resource as the operator reports it. `object` is the connector or subject that it declares in `runtime`. */
export type ReportedResource = {
  readonly kind: 'Connector' | 'Subject' | 'RegistryMode' | 'File'
  readonly namespace: string
  readonly name: string
  readonly about: string
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly reason: string
  /** What is shown: the reason, or in what state it is Ready. */
  readonly state: string
  readonly message: string
  readonly isStalled: boolean
  readonly tasks?: string
  readonly since: string
  readonly runtime?: string
  readonly object?: string
  /** How the runtime differs from what is declared; absent if it does not. */
  readonly drift?: string
  /** `status.autoRestart` of a Connector. */
  readonly autoRestart?: AutomaticRestarts
}

export type AutomaticRestarts = {
  readonly count: number
  readonly lastRestartTime?: string
  readonly lastRestartReason?: string
  readonly nextRestartTime?: string
  readonly exhausted?: boolean
}

/** A deletion that is under way needs nobody; one that waits for a runtime says so in its message. */
export function needsAttention({ ready, isStalled }: ReportedResource): boolean {
  return isStalled || ready === 'False'
}

/** The resource that declares an object of a runtime. Of several, the one that owns it. */
export function declaringResourceOf(
  resources: readonly ReportedResource[],
  wanted: { readonly kind: string; readonly runtime: string; readonly object: string },
): ReportedResource | undefined {
  const found = resources.filter(
    ({ kind, runtime, object }) => kind === wanted.kind && runtime === wanted.runtime && object === wanted.object,
  )
  return found.find(({ reason }) => reason !== 'Conflict') ?? found[0]
}

/** `search` matches all of its words in kind, namespace, name and message; `ready` is equal. */
export function filterResources(
  resources: readonly ReportedResource[],
  { search = '', ready = '' }: Readonly<Record<string, string>>,
): readonly ReportedResource[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return resources.filter(
    (one) =>
      (ready === '' || one.ready === ready) &&
      words.every((word) => `${one.kind}\n${one.namespace}\n${one.name}\n${one.message}`.toLowerCase().includes(word)),
  )
}

/** Those that need a change first, then the others that are not Ready, then those that differ from the runtime. The order is otherwise that of the operator. */
export function sortResources(resources: readonly ReportedResource[]): readonly ReportedResource[] {
  const rank = (one: ReportedResource) =>
    one.isStalled ? 0 : one.ready === 'False' ? 1 : one.ready === 'Unknown' ? 2 : one.drift !== undefined ? 3 : 4
  return resources.toSorted((a, b) => rank(a) - rank(b))
}
