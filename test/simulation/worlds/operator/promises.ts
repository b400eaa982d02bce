import type { ConnectWrite, SimulatedConnect, SimulatedConnector } from '../../simulated-connect.ts'
import type { KubernetesObject, ObjectChange, SimulatedKubernetes } from '../../simulated-kubernetes.ts'
import type { RegistryWrite, SimulatedRegistry } from '../../simulated-registry.ts'
import type { Simulation } from '../../simulation.ts'
import { promise } from '../../world.ts'

const OWNER_KEY = 'weir.owner'
/** The message of a resource whose reconcile ended with an error that only a fault of the operator explains. */
const FAULT = 'internal error of the operator: see its log'

/** A lost response or a crash repeats it. */
const EXECUTIONS_MAX = 5

/** Reasons for which a resource waits for a user. */
const TERMINAL: ReadonlySet<string> = new Set(['AlreadyExists', 'AdoptionRefused', 'Conflict', 'AlreadySet'])

type Servers = {
  readonly api: () => SimulatedKubernetes
  readonly connect: () => SimulatedConnect
  readonly registry: () => SimulatedRegistry
}

type Ready = {
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number
}

/**
 * What the operator promises, as the API server and the runtimes see it: only the holder of the lease writes; it deletes what
 * its deleted resources own, as their policies say; a resource disappears after what it stands for; Ready is reported only of
 * what was applied; and in the end everything is as declared.
 */
export class OperatorPromises {
  readonly #simulation: Simulation
  readonly #servers: Servers
  #broken: string | undefined
  #writes = 0
  /** The process that wrote the lease last; undefined: nobody holds it. */
  #leader: string | undefined
  /** Generations whose configuration the worker had after they were declared. */
  readonly #applied = new Set<string>()
  /** One-time requests that a status reported as handled. */
  readonly #handled = new Set<string>()
  /** How often each of them was executed. */
  readonly #executions = new Map<string, number>()
  /** Connectors whose resource was deleted and said Retain. */
  readonly #retained = new Set<string>()

  constructor(simulation: Simulation, servers: Servers) {
    this.#simulation = simulation
    this.#servers = servers
  }

  /** How often something was changed by an operator. Renewals of the lease do not count. */
  get writes(): number {
    return this.#writes
  }

  /** Throws a `Violation` if one was broken. */
  assertKept(): void {
    promise(this.#broken === undefined, () => this.#broken!)
  }

  objectChanged(change: ObjectChange): void {
    const { before, after, by } = change
    const { kind } = (after ?? before)!
    if (kind === 'Lease') {
      this.#leaseChanged(after, by)
      return
    }
    if (by !== undefined) this.#writtenBy(by, change)
    if (kind !== 'Connector') return
    if (after === undefined) this.#connectorDeleted(before!)
    else this.#connectorChanged(after)
  }

  connectorWritten({ by, operation, name, status, before, query, isLate }: ConnectWrite): void {
    this.#assertLeader(by, `${operation} connector ${name}`)
    const object = this.#servers.api().get('Connector', name)
    const isRequested = operation === 'offsets' || (operation === 'restart' && query.get('onlyFailed') !== 'true')
    if (object !== undefined && isRequested && !isLate && status < 300) this.#assertDue(object, operation)
    if (object !== undefined) this.#noteApplied(object)
    if (status >= 300) return
    this.#writes += 1
    if (operation === 'create' && object !== undefined) this.#retained.delete(name)
    if (operation === 'delete' && before !== undefined) this.#connectorRemoved(name, object, before)
  }

  registryWritten({ by, operation, scope, status }: RegistryWrite): void {
    this.#assertLeader(by, `${operation} ${scope}`)
    // An operator waits for the end of READONLY by trying.
    if (status >= 300) return
    this.#writes += 1
    if (operation !== 'delete') return
    const object = this.#servers.api().get('Subject', scope)
    if (object?.metadata.deletionTimestamp === undefined)
      this.#break(`subject ${scope} is deleted, and no resource of it is`)
    else if (policyOf(object) === 'Retain') this.#break(`subject ${scope} is deleted in spite of its policy`)
  }

  /** What is not as declared; undefined: everything is. */
  unsettled(): string | undefined {
    return (
      this.#unsettledOf('Connector', (object) => this.#unsettledConnector(object)) ??
      this.#unsettledOf('Subject', (object) => this.#unsettledSubject(object)) ??
      this.#unsettledOf('RegistryMode', (object) => this.#unsettledMode(object)) ??
      this.#unsettledLeftover()
    )
  }

  #unsettledOf(kind: string, problemOf: (object: KubernetesObject) => string | undefined): string | undefined {
    for (const object of this.#servers.api().list(kind)) {
      const problem = unsettledResource(object) ?? (isReady(object) ? problemOf(object) : undefined)
      if (problem !== undefined) return `${kind} ${object.metadata.name} ${problem}`
    }
    return undefined
  }

  /** What should have gone with its resource. */
  #unsettledLeftover(): string | undefined {
    const { api, connect, registry } = this.#servers
    const hasNoResource = (kind: string, name: string) => api().get(kind, name) === undefined
    for (const [name, { config }] of connect().connectors)
      if (config[OWNER_KEY] !== undefined && !this.#retained.has(name) && hasNoResource('Connector', name))
        return `connector ${name} has lost its resource`
    for (const [scope, mode] of registry().modes)
      if (hasNoResource('RegistryMode', scope)) return `the mode ${mode} of ${scope} was not restored`
    return undefined
  }

  #unsettledConnector(object: KubernetesObject): string | undefined {
    const connector = this.#servers.connect().connectors.get(object.metadata.name)
    if (connector === undefined) return 'is Ready, and its connector does not exist'
    if (!hasConfig(connector, object)) return `is Ready, and its connector has ${JSON.stringify(connector.config)}`
    const state = String(specOf(object)['state']).toUpperCase()
    for (const [requested, handled] of [restartOf(object), offsetsOperationOf(object)])
      if (requested !== undefined && requested !== handled) return `is Ready, and ${requested} was not done`
    const wrong = [connector, ...connector.tasks].find((each) => each.state !== state)
    return wrong && `is Ready, and its connector or a task is ${wrong.state}`
  }

  #unsettledSubject(object: KubernetesObject): string | undefined {
    const { name } = object.metadata
    const { schema, compatibility } = specOf(object)
    const versions = this.#servers.registry().versionsOf(name)
    if (!versions.some((version) => version.schema === schema)) return 'is Ready, and its schema is not registered'
    const level = this.#servers.registry().levels.get(name)
    return compatibility === undefined || compatibility === level ? undefined : `is Ready, and its level is ${level}`
  }

  #unsettledMode(object: KubernetesObject): string | undefined {
    const mode = this.#servers.registry().modes.get(object.metadata.name)
    return mode === specOf(object)['mode'] ? undefined : `is Ready, and the mode is ${mode}`
  }

  #break(what: string): void {
    this.#broken ??= what
  }

  #leaseChanged(lease: KubernetesObject | undefined, by: string | undefined): void {
    const holder = lease?.spec?.['holderIdentity'] ?? ''
    const leader = holder === '' ? undefined : by
    if (leader === this.#leader) return
    this.#leader = leader
    this.#simulation.note('api', `the lease is held by ${leader ?? 'nobody'}`)
  }

  #writtenBy(by: string, { before, after }: ObjectChange): void {
    const { kind, metadata } = (after ?? before)!
    const { status = 'Unknown', reason = '', message = '' } = (after && readyOf(after)) ?? {}
    const what = after === undefined ? 'disappears' : `Ready=${status} ${reason}`
    this.#simulation.note('api', `${kind} ${metadata.name} of generation ${metadata.generation} by ${by}: ${what}`)
    this.#writes += 1
    if (message === FAULT) this.#break(`${by} reports an internal error for ${kind} ${metadata.name}`)
    this.#assertLeader(by, `${kind} ${metadata.name}`)
  }

  #assertLeader(by: string, what: string): void {
    if (this.#leader !== undefined && this.#leader !== by)
      this.#break(`${by} writes ${what} although ${this.#leader} holds the lease`)
  }

  /** What a user has requested once is not done again after the status says that it was done. */
  #assertDue(object: KubernetesObject, operation: string): void {
    const { name, deletionTimestamp } = object.metadata
    const [requested, handled] = operation === 'restart' ? restartOf(object) : offsetsOperationOf(object)
    if (requested === undefined || deletionTimestamp !== undefined) return
    const id = `${object.metadata.uid} ${operation} ${requested}`
    const isHandled = requested === handled || this.#handled.has(id)
    const executions = (this.#executions.get(id) ?? 0) + 1
    this.#executions.set(id, executions)
    if (isHandled || executions > EXECUTIONS_MAX)
      this.#break(`${operation} ${requested} of connector ${name} is executed again`)
  }

  #connectorChanged(object: KubernetesObject): void {
    const { name, generation } = object.metadata
    this.#noteApplied(object)
    this.#handled.add(`${object.metadata.uid} restart ${restartOf(object)[1]}`)
    this.#handled.add(`${object.metadata.uid} offsets ${offsetsOperationOf(object)[1]}`)
    const isReportedReady = isReady(object) && readyOf(object)?.observedGeneration === generation
    if (isReportedReady && !this.#applied.has(generationOf(object)))
      this.#break(`Connector ${name} is Ready in generation ${generation}, which was never applied`)
  }

  #noteApplied(object: KubernetesObject): void {
    const connector = this.#servers.connect().connectors.get(object.metadata.name)
    if (connector !== undefined && hasConfig(connector, object)) this.#applied.add(generationOf(object))
  }

  /** The operator has deleted a connector. */
  #connectorRemoved(
    name: string,
    object: KubernetesObject | undefined,
    { config }: Readonly<SimulatedConnector>,
  ): void {
    const owner = config[OWNER_KEY]
    const isOwned = owner === ownerOf(name) || (owner === undefined && object?.status?.['configHash'] !== undefined)
    if (object?.metadata.deletionTimestamp === undefined)
      this.#break(`connector ${name} is deleted, and no resource of it is`)
    else if (policyOf(object) === 'Retain') this.#break(`connector ${name} is deleted in spite of its policy`)
    else if (!isOwned) this.#break(`connector ${name} is deleted, which ${owner ?? 'nobody'} owns`)
  }

  /** A resource has disappeared. */
  #connectorDeleted(object: KubernetesObject): void {
    const { name, deletionTimestamp } = object.metadata
    // Also one that is created when a late watch reports the resource after its deletion.
    if (policyOf(object) === 'Retain' || deletionTimestamp === undefined) this.#retained.add(name)
    else if (this.#servers.connect().connectors.get(name)?.config[OWNER_KEY] === ownerOf(name))
      this.#break(`Connector ${name} disappears, and its connector stays`)
  }
}

function unsettledResource(object: KubernetesObject): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return 'is not deleted'
  const ready = readyOf(object)
  if (ready?.observedGeneration !== object.metadata.generation) return 'was not observed in its generation'
  const { status, reason, message } = ready
  // A registry that is read-only by declaration stays so.
  const waits = TERMINAL.has(reason) || reason === 'RegistryReadOnly'
  return status === 'True' || waits ? undefined : `is not Ready: ${reason}: ${message}`
}

function readyOf({ status }: KubernetesObject): Ready | undefined {
  const conditions = (status?.['conditions'] ?? []) as readonly (Ready & { readonly type: string })[]
  return conditions.find(({ type }) => type === 'Ready')
}

function isReady(object: KubernetesObject): boolean {
  return readyOf(object)?.status === 'True'
}

function specOf({ spec = {} }: KubernetesObject): Readonly<Record<string, unknown>> {
  return spec
}

function policyOf(object: KubernetesObject): unknown {
  return specOf(object)['deletionPolicy']
}

function generationOf({ metadata: { uid, generation } }: KubernetesObject): string {
  return `${uid} ${generation}`
}

function ownerOf(name: string): string {
  return `weir/team/${name}`
}

function hasConfig({ config }: Readonly<SimulatedConnector>, object: KubernetesObject): boolean {
  const { config: declared, tasksMax } = specOf(object)
  const { topic } = declared as Readonly<Record<string, string>>
  return config['topic'] === topic && Number(config['tasks.max'] ?? 1) === tasksMax
}

/** The requested restart, and the one that was handled last. */
function restartOf({ metadata, status }: KubernetesObject): readonly [string | undefined, unknown] {
  return [metadata.annotations?.['weir.dev/restart-requested-at'], status?.['lastHandledRestart']]
}

function offsetsOperationOf(object: KubernetesObject): readonly [string | undefined, unknown] {
  type Offsets = { readonly operation?: { readonly id: string }; readonly lastOperationId?: string } | undefined
  const declared = specOf(object)['offsets'] as Offsets
  return [declared?.operation?.id, (object.status?.['offsets'] as Offsets)?.lastOperationId]
}
