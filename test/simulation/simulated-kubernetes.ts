import { isDeepStrictEqual } from 'node:util'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type ReceivedRequest, type ResponseStream, type SimulatedResponse, withErrors } from './simulated-http.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

export type KubernetesObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly generation: number
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, string>>
}

/** A change of an object. `by` is the name of the process that wrote it; undefined: a user. */
export type ObjectChange = {
  readonly before?: KubernetesObject
  /** Absent: it was deleted. */
  readonly after?: KubernetesObject
  readonly by?: string
}

type WatchEvent = { readonly version: number; readonly plural: string; readonly line: string }
type Watch = {
  readonly plural: string
  readonly namespace: string | undefined
  readonly connection: ResponseStream
  readonly timers: readonly NodeJS.Timeout[]
}
type Path = {
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** Users, and what they declare. */
export type Declaration = {
  readonly kind: string
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, string>>
}

export const API_HOST = 'api:6443'
const NAMESPACE = 'team'
const BOOKMARK_MS = 60_000

class StatusError extends Error {
  readonly code: number
  readonly reason: string

  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

/**
 * An API server with the parts that an operator uses: lists and watches, server-side apply of statuses, finalizers and
 * ConfigMaps, leases with their versions, and Events. Its state outlives everything; what lies between it and its clients is
 * simulated. A watch may be late, break, or fall silent, and the versions that it could continue from may expire.
 */
export class SimulatedKubernetes {
  readonly process: SimulatedProcess
  readonly #simulation: Simulation
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #watches = new Set<Watch>()
  readonly #onChange: (change: ObjectChange) => void
  #log: WatchEvent[] = []
  #version = 1
  #uid = 0
  /** Versions up to this one have expired. */
  #expired = 0
  /** How long watches are late. */
  lagMs = 0

  /** `onChange` is called for each change, at once. */
  constructor(simulation: Simulation, onChange: (change: ObjectChange) => void) {
    this.#simulation = simulation
    this.#onChange = onChange
    this.process = simulation.process('api')
    const respond = withErrors(simulation, 'api', (request) => this.#respond(request))
    this.process.run(() => simulation.http.serve(API_HOST, respond))
  }

  get(kind: string, name: string): KubernetesObject | undefined {
    return this.#objects.get(keyOf(pluralOf(kind), NAMESPACE, name))
  }

  list(kind: string): readonly KubernetesObject[] {
    return this.#listed(pluralOf(kind), undefined)
  }

  /** `kubectl apply`: creates the object, or replaces its spec and its annotations. */
  apply({ kind, name, spec, annotations = {} }: Declaration): void {
    const plural = pluralOf(kind)
    const before = this.get(kind, name)
    const declared = { spec, annotations }
    if (before === undefined) {
      this.#store(plural, undefined, {
        apiVersion: API_VERSION,
        kind,
        metadata: { ...this.#newMetadata(NAMESPACE, name), annotations },
        spec,
      })
      return
    }
    if (isDeepStrictEqual({ spec: before.spec, annotations: before.metadata.annotations }, declared)) return
    const isOtherSpec = !isDeepStrictEqual(before.spec, spec)
    const generation = before.metadata.generation + (isOtherSpec ? 1 : 0)
    this.#store(plural, before, { ...before, metadata: { ...before.metadata, annotations, generation }, spec })
  }

  /** `kubectl delete --wait=false`. */
  remove(kind: string, name: string): void {
    const before = this.get(kind, name)
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return
    const { metadata } = before
    if ((metadata.finalizers ?? []).length === 0) {
      this.#store(pluralOf(kind), before, undefined)
      return
    }
    const deleted = { ...metadata, deletionTimestamp: this.#now(), generation: metadata.generation + 1 }
    this.#store(pluralOf(kind), before, { ...before, metadata: deleted })
  }

  /** A ConfigMap of users. Undefined deletes it. */
  applyConfigMap(name: string, data: Readonly<Record<string, string>> | undefined): void {
    const before = this.#objects.get(keyOf('configmaps', NAMESPACE, name))
    if (data === undefined) {
      if (before) this.#store('configmaps', before, undefined)
      return
    }
    const metadata = before?.metadata ?? this.#newMetadata(NAMESPACE, name)
    this.#store('configmaps', before, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  }

  /** Forgets the history: a watch of an older version gets the response "expired". */
  compact(): void {
    this.#expired = this.#version
    this.#log = []
    this.#simulation.note('api', 'the versions of the past have expired')
  }

  /** Ends the watches of a client, or of all. `isSilent`: nobody is told. */
  breakWatches(client: string | undefined, isSilent: boolean): void {
    for (const { connection } of this.#watches) {
      if (client !== undefined && connection.client.name !== client) continue
      if (isSilent) connection.silence()
      else connection.breakOff()
    }
    this.#simulation.note('api', `watches of ${client ?? 'all'} ${isSilent ? 'fall silent' : 'break off'}`)
  }

  #respond(request: ReceivedRequest): SimulatedResponse {
    try {
      return this.#handle(request)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return statusResponse(error)
    }
  }

  #handle(request: ReceivedRequest): SimulatedResponse {
    const { method, url } = request
    const path = parsePath(url.pathname)
    const { name } = path
    if (method === 'GET') {
      if (name !== undefined) return json(200, this.#found(path))
      return url.searchParams.get('watch') === 'true' ? this.#watch(path, url) : this.#list(path, url)
    }
    if (path.plural === 'events') return json(201, {})
    const body = JSON.parse(request.body) as KubernetesObject
    if (method === 'POST') return this.#create(path, body, request.from.name)
    if (method === 'PUT') return this.#replace(path, body, request.from.name)
    if (path.plural === 'configmaps') return this.#applyConfigMap(path, body, request.from.name)
    return this.#patch(path, request, body)
  }

  #list({ plural, namespace }: Path, url: URL): SimulatedResponse {
    const only = url.searchParams.get('fieldSelector')?.replace('metadata.name=', '')
    const items = this.#listed(plural, namespace).filter(
      ({ metadata: { name } }) => only === undefined || name === only,
    )
    return json(200, { metadata: { resourceVersion: String(this.#version) }, items })
  }

  #listed(plural: string, namespace: string | undefined): readonly KubernetesObject[] {
    const prefix = namespace === undefined ? `${plural}/` : `${plural}/${namespace}/`
    return [...this.#objects].flatMap(([key, object]) => (key.startsWith(prefix) ? [object] : []))
  }

  #watch({ plural, namespace }: Path, url: URL): SimulatedResponse {
    const from = Number(url.searchParams.get('resourceVersion') ?? 0)
    if (from < this.#expired) {
      const object = {
        kind: 'Status',
        status: 'Failure',
        code: 410,
        reason: 'Expired',
        message: 'too old resource version',
      }
      return {
        status: 200,
        body: '',
        stream: (connection) => {
          connection.write(`${JSON.stringify({ type: 'ERROR', object })}\n`)
          connection.end()
        },
      }
    }
    const seconds = Number(url.searchParams.get('timeoutSeconds') ?? 300)
    return {
      status: 200,
      body: '',
      stream: (connection) => {
        const bookmarks = setInterval(() => connection.write(this.#bookmark()), BOOKMARK_MS)
        const end = setTimeout(() => connection.end(), seconds * 1_000)
        const watch: Watch = { plural, namespace, connection, timers: [bookmarks, end] }
        this.#watches.add(watch)
        connection.onClose = () => {
          this.#watches.delete(watch)
          clearInterval(bookmarks)
          clearTimeout(end)
        }
        for (const event of this.#log) if (event.version > from && event.plural === plural) connection.write(event.line)
      },
    }
  }

  #bookmark(): string {
    const metadata = { resourceVersion: String(this.#version) }
    return `${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`
  }

  #create({ plural, namespace = NAMESPACE }: Path, body: KubernetesObject, by: string): SimulatedResponse {
    const { name } = body.metadata
    if (this.#objects.has(keyOf(plural, namespace, name)))
      throw new StatusError(409, 'AlreadyExists', `${plural} "${name}" already exists`)
    const metadata = { ...body.metadata, ...this.#newMetadata(namespace, name) }
    return json(201, this.#store(plural, undefined, { ...body, metadata }, by))
  }

  #replace(path: Path, body: KubernetesObject, by: string): SimulatedResponse {
    const before = this.#found(path)
    const { resourceVersion } = body.metadata
    if (resourceVersion !== before.metadata.resourceVersion) throw outdated()
    return json(200, this.#store(path.plural, before, { ...body, metadata: before.metadata }, by))
  }

  /** A server-side apply of the status or of the finalizers, or a JSON patch that removes a finalizer. */
  #patch(path: Path, { headers, from }: ReceivedRequest, body: KubernetesObject): SimulatedResponse {
    const before = this.#found(path)
    const { uid } = before.metadata
    if (String(headers['content-type']).startsWith('application/json-patch'))
      throw new Error('the simulated API server knows no JSON patches: a finalizer has another manager')
    // The API server ignores the uid in a status.
    if (body.metadata.uid !== uid && path.subresource !== 'status')
      throw new StatusError(422, 'Invalid', `${body.kind} "${path.name}" is invalid: metadata.uid: field is immutable`)
    const { resourceVersion } = body.metadata
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) throw outdated()
    if (path.subresource === 'status')
      return json(200, this.#store(path.plural, before, { ...before, status: body.status! }, from.name))
    const finalizers = body.metadata.finalizers ?? []
    const isAdded = finalizers.some((finalizer) => !before.metadata.finalizers?.includes(finalizer))
    const isDeleted = before.metadata.deletionTimestamp !== undefined
    if (isAdded && isDeleted)
      throw new StatusError(
        422,
        'Invalid',
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted',
      )
    const after = { ...before, metadata: { ...before.metadata, finalizers } }
    if (!isDeleted || finalizers.length > 0) return json(200, this.#store(path.plural, before, after, from.name))
    this.#store(path.plural, before, undefined, from.name)
    return json(200, after)
  }

  #applyConfigMap({ plural, namespace = NAMESPACE, name = '' }: Path, body: KubernetesObject, by: string) {
    const before = this.#objects.get(keyOf(plural, namespace, name))
    const metadata = before?.metadata ?? this.#newMetadata(namespace, name)
    const data = { ...before?.data, ...body.data }
    return json(200, this.#store(plural, before, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, by))
  }

  #found({ plural, namespace = NAMESPACE, name = '' }: Path): KubernetesObject {
    const found = this.#objects.get(keyOf(plural, namespace, name))
    if (found === undefined) throw new StatusError(404, 'NotFound', `${plural} "${name}" not found`)
    return found
  }

  /** A write that changes nothing keeps the version. Returns the object as it is stored. */
  #store(plural: string, before: KubernetesObject | undefined, after: KubernetesObject, by?: string): KubernetesObject
  #store(plural: string, before: KubernetesObject, after: undefined, by?: string): undefined
  #store(
    plural: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
    by?: string,
  ): KubernetesObject | undefined {
    if (before !== undefined && after !== undefined && isDeepStrictEqual(before, after)) return before
    this.#version += 1
    const { metadata } = (after ?? before)!
    const key = keyOf(plural, metadata.namespace, metadata.name)
    const object = { ...(after ?? before)!, metadata: { ...metadata, resourceVersion: String(this.#version) } }
    if (after === undefined) this.#objects.delete(key)
    else this.#objects.set(key, object)
    const type = after === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED'
    const event = { version: this.#version, plural, line: `${JSON.stringify({ type, object })}\n` }
    if (plural !== 'leases') {
      this.#log.push(event)
      this.#send(event, metadata.namespace)
    }
    this.#onChange({ ...(before && { before }), ...(after && { after: object }), ...(by !== undefined && { by }) })
    return after && object
  }

  #send({ plural, line }: WatchEvent, namespace: string): void {
    for (const watch of this.#watches) {
      if (watch.plural !== plural || (watch.namespace !== undefined && watch.namespace !== namespace)) continue
      watch.connection.write(line, this.lagMs)
    }
  }

  #newMetadata(namespace: string, name: string): KubernetesObject['metadata'] {
    this.#uid += 1
    return {
      name,
      namespace,
      uid: `uid-${this.#uid}`,
      resourceVersion: '',
      generation: 1,
      creationTimestamp: this.#now(),
    }
  }

  #now(): string {
    return new Date(this.process.wallMs).toISOString().replace(/\.\d+Z$/, 'Z')
  }
}

function parsePath(path: string): Path {
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4)
  const [first = '', namespace = '', ...rest] = parts
  if (first !== 'namespaces' || rest.length === 0) {
    const [plural = '', name, subresource] = parts
    return { plural, ...(name !== undefined && { name }), ...(subresource !== undefined && { subresource }) }
  }
  const [plural = '', name, subresource] = rest
  return { plural, namespace, ...(name !== undefined && { name }), ...(subresource !== undefined && { subresource }) }
}

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`
}

function keyOf(plural: string, namespace: string, name: string): string {
  return `${plural}/${namespace}/${name}`
}

function json(status: number, body: unknown): SimulatedResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function statusResponse({ code, reason, message }: StatusError): SimulatedResponse {
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code })
}

function outdated(): StatusError {
  return new StatusError(
    409,
    'Conflict',
    'the object has been modified; please apply your changes to the latest version',
  )
}
