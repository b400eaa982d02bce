import { type ReceivedRequest, type SimulatedResponse, withErrors } from './simulated-http.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Simulation } from './simulation.ts'

export type SimulatedVersion = {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly schema: string
  isDeleted: boolean
}

/** A request that changed something, or was rejected. */
export type RegistryWrite = {
  readonly by: string
  /** `register`, `delete`, `mode` or `config`. */
  readonly operation: string
  /** The subject or the scope; '' is the registry. */
  readonly scope: string
  readonly isPermanent: boolean
  readonly status: number
}

export const REGISTRY_HOST = 'registry:8081'

class RestError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The REST API of a schema registry that compares nothing. Its state outlives everything, as it is in a topic. */
export class SimulatedRegistry {
  readonly process: SimulatedProcess
  readonly #simulation: Simulation
  readonly #onWrite: (write: RegistryWrite) => void
  readonly #versions: SimulatedVersion[] = []
  readonly #modes = new Map<string, string>()
  readonly #levels = new Map<string, string>()
  readonly #ids = new Map<string, number>()

  constructor(simulation: Simulation, onWrite: (write: RegistryWrite) => void) {
    this.#simulation = simulation
    this.#onWrite = onWrite
    this.process = simulation.process('registry')
    const respond = withErrors(simulation, 'registry', (request) => this.#respond(request))
    this.process.run(() => simulation.http.serve(REGISTRY_HOST, respond))
  }

  get modes(): ReadonlyMap<string, string> {
    return this.#modes
  }

  get levels(): ReadonlyMap<string, string> {
    return this.#levels
  }

  /** The versions of a subject that are not deleted. */
  versionsOf(subject: string): readonly SimulatedVersion[] {
    return this.#versions.filter((each) => each.subject === subject && !each.isDeleted)
  }

  /** A client other than Weir registers a schema. */
  register(subject: string, schema: string): void {
    this.#simulation.note('user', `registers a schema in ${subject} directly`)
    this.#register(subject, schema)
  }

  setLevel(subject: string, level: string): void {
    this.#simulation.note('user', `sets the level of ${subject} to ${level} directly`)
    this.#levels.set(subject, level)
  }

  setMode(scope: string, mode: string): void {
    this.#simulation.note('user', `sets the mode of ${scope} to ${mode} directly`)
    this.#modes.set(scope, mode)
  }

  #respond(request: ReceivedRequest): SimulatedResponse {
    const { method, url, from } = request
    const [collection = '', first = '', ...rest] = url.pathname.split('/').slice(1).map(decodeURIComponent)
    const isLookup = method === 'POST' && collection === 'subjects' && rest.length === 0
    const isRead = method === 'GET' || isLookup || collection === 'compatibility'
    const isPermanent = url.searchParams.get('permanent') === 'true'
    const operation = collection !== 'subjects' ? collection : method === 'POST' ? 'register' : 'delete'
    const report = (status: number) => {
      if (isRead) return
      this.#simulation.note('registry', `${method} ${operation} ${first} by ${from.name}: ${status}`)
      this.#onWrite({ by: from.name, operation, scope: first, isPermanent, status })
    }
    try {
      const body = request.body === '' ? {} : (JSON.parse(request.body) as Readonly<Record<string, string>>)
      const response = this.#handle(method, collection, [first, ...rest], { query: url.searchParams, body })
      report(200)
      return json(200, response)
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      const { code, message } = error
      const status = Math.floor(code / 100)
      report(status)
      return json(status, { error_code: code, message })
    }
  }

  #handle(
    method: string,
    collection: string,
    parts: readonly string[],
    { query, body }: { readonly query: URLSearchParams; readonly body: Readonly<Record<string, string>> },
  ): unknown {
    const [first = '', second, third] = parts
    const isGlobal = query.get('defaultToGlobal') === 'true'
    switch (collection) {
      case '':
        return {}
      case 'config':
        return this.#setting(this.#levels, { method, scope: first, isGlobal, value: body['compatibility'] }, CONFIG)
      case 'mode':
        return this.#setting(this.#modes, { method, scope: first, isGlobal, value: body['mode'] }, MODE)
      case 'schemas':
        return first === 'ids' ? this.#byId(Number(second)) : this.#latest(query)
      case 'compatibility':
        return { is_compatible: true, messages: [] }
      case 'subjects':
        if (first === '') return [...new Set(this.#versions.filter(isLive).map(({ subject }) => subject))]
        if (method === 'GET') return this.#read(first, third, query)
        if (method === 'DELETE') return this.#delete(first, query.get('permanent') === 'true')
        return second === undefined ? this.#lookup(first, body['schema']!) : this.#write(first, body['schema']!)
      default:
        throw new RestError(40400, 'not found')
    }
  }

  #setting(
    values: Map<string, string>,
    request: {
      readonly method: string
      readonly scope: string
      readonly isGlobal: boolean
      readonly value: string | undefined
    },
    { key, written, initial, missing }: typeof CONFIG,
  ): unknown {
    const { method, scope, isGlobal, value } = request
    if (method === 'PUT') {
      values.set(scope, value!)
      return { [written]: value }
    }
    const own = values.get(scope)
    if (method === 'GET') {
      const inherited = isGlobal || scope === '' ? (values.get('') ?? initial) : undefined
      const found = own ?? inherited
      if (found === undefined) throw new RestError(missing, `nothing is set for ${scope}`)
      return { [key]: found }
    }
    if (own === undefined) throw new RestError(missing, `nothing is set for ${scope}`)
    values.delete(scope)
    return { [key]: own }
  }

  #read(subject: string, version: string | undefined, query: URLSearchParams): unknown {
    const all = this.#versions.filter((each) => each.subject === subject)
    const found = query.get('deleted') === 'true' ? all : all.filter(isLive)
    if (found.length === 0) throw new RestError(40401, `Subject '${subject}' not found.`)
    if (version === undefined) return found.map((each) => each.version)
    const one = version === 'latest' ? found.at(-1) : found.find((each) => each.version === Number(version))
    if (one === undefined) throw new RestError(40402, `Version ${version} not found.`)
    return toWire(one)
  }

  #lookup(subject: string, schema: string): unknown {
    const versions = this.versionsOf(subject)
    if (versions.length === 0) throw new RestError(40401, `Subject '${subject}' not found.`)
    const found = versions.find((each) => each.schema === schema)
    if (found === undefined) throw new RestError(40403, 'Schema not found')
    return toWire(found)
  }

  #write(subject: string, schema: string): unknown {
    const mode = this.#modes.get(subject) ?? this.#modes.get('') ?? 'READWRITE'
    if (mode === 'READONLY') throw new RestError(42205, `Subject ${subject} is in read-only mode`)
    return toWire(this.#register(subject, schema))
  }

  #register(subject: string, schema: string): SimulatedVersion {
    const known = this.versionsOf(subject).find((each) => each.schema === schema)
    if (known) return known
    const id = this.#ids.get(schema) ?? this.#ids.size + 1
    this.#ids.set(schema, id)
    const versions = this.#versions.filter((each) => each.subject === subject)
    const version = { subject, schema, id, version: (versions.at(-1)?.version ?? 0) + 1, isDeleted: false }
    this.#versions.push(version)
    return version
  }

  #delete(subject: string, isPermanent: boolean): readonly number[] {
    const all = this.#versions.filter((each) => each.subject === subject)
    const live = all.filter(isLive)
    if (isPermanent ? all.length === 0 : live.length === 0)
      throw new RestError(40401, `Subject '${subject}' not found.`)
    if (isPermanent && live.length > 0) throw new RestError(40405, `Subject '${subject}' was not deleted first`)
    if (!isPermanent) for (const each of live) each.isDeleted = true
    else for (const each of all) this.#versions.splice(this.#versions.indexOf(each), 1)
    return (isPermanent ? all : live).map(({ version }) => version)
  }

  #byId(id: number): unknown {
    const found = this.#versions.find((each) => each.id === id)
    if (found === undefined) throw new RestError(40403, 'Schema not found')
    return { schema: found.schema }
  }

  #latest(query: URLSearchParams): unknown {
    const latest = new Map(this.#versions.filter(isLive).map((each) => [each.subject, toWire(each)]))
    const offset = Number(query.get('offset') ?? 0)
    return [...latest.values()].slice(offset, offset + Number(query.get('limit') ?? 1_000))
  }
}

const CONFIG = { key: 'compatibilityLevel', written: 'compatibility', initial: 'BACKWARD', missing: 40408 }
const MODE = { key: 'mode', written: 'mode', initial: 'READWRITE', missing: 40409 }

function isLive({ isDeleted }: SimulatedVersion): boolean {
  return !isDeleted
}

function toWire({ subject, version, id, schema }: SimulatedVersion) {
  return { subject, version, id, schema }
}

function json(status: number, body: unknown): SimulatedResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
