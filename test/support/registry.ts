import type { FastifyInstance } from 'fastify'
import { silentLogger } from '../../src/config/logger.ts'
import { createMetrics } from '../../src/config/metrics.ts'
import type { KmsDriver } from '../../src/encryption/kms.ts'
import { localKmsDriver } from '../../src/encryption/local-kms.ts'
import {
  CompatibilityWorker,
  type CompatibilityWorkerOptions,
} from '../../src/registry/compatibility-worker/compatibility-worker.ts'
import { DekRegistry } from '../../src/registry/dek/dek-registry.ts'
import { KeyRecordCodec } from '../../src/registry/dek/key-record-codec.ts'
import { KeyState } from '../../src/registry/dek/key-state.ts'
import { Forwarder } from '../../src/registry/leadership/forwarding.ts'
import type { LeaderWriter } from '../../src/registry/leadership/leader-election.ts'
import { registryMetrics } from '../../src/registry/metrics/metrics.ts'
import { modeInScope } from '../../src/registry/queries/effective-config.ts'
import { ParsedSchemas } from '../../src/registry/queries/parsed-schemas.ts'
import { Registry } from '../../src/registry/registry.ts'
import { Api } from '../../src/registry/routes/api.ts'
import { registryRoutes } from '../../src/registry/routes/main.ts'
import { serveRegistry } from '../../src/registry/server.ts'
import { registryDefaults, registrySettings } from '../../src/registry/settings.ts'
import { RecordCodec } from '../../src/registry/store/record-codec.ts'
import { RegistryState } from '../../src/registry/store/state.ts'
import { checkAnswer } from './registry-openapi.ts'

export type TestRegistry = {
  readonly url: string
  /** One a listener. */
  readonly urls: readonly string[]
  readonly registry: Registry
  /** Keys and values as they went to the topic. */
  readonly written: readonly { readonly key: string; readonly value: string | null }[]
  /** The same of the topic of the DEK registry. */
  readonly writtenKeys: readonly { readonly key: string; readonly value: string | null }[]
  /** Why pens were given up. */
  readonly dropped: readonly string[]
  /** Its routes, for an app of a test's own. */
  routes(app: FastifyInstance): Promise<void>
  /** The answer is held to the OpenAPI document. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Empty, as if nothing had been written yet: to start another costs as much as most tests. */
  startOver(): void
  stop(): Promise<void>
}

/** What is not as it should be. */
export type Trouble = {
  /** What every write fails with. */
  readonly store?: Error
  /** Why the log can't be followed any further. */
  readonly unreadable?: Error
  /** Why the topic of the DEK registry can't be followed any further. */
  readonly unreadableKeys?: Error
  /** What every write waits for. */
  readonly storing?: Promise<void>
  /** How a follower catches up with the leader. Default: it needs nothing. */
  readonly refresh?: () => Promise<void>
  /** Another instance leads, there; or none, when it is undefined. */
  readonly leaderUrl?: string | undefined
  /** Other limits of what is examined in a process of its own. */
  readonly examiner?: CompatibilityWorkerOptions
  /** KMSs besides `local-kms` and `test-kms`. */
  readonly kmsDrivers?: readonly KmsDriver[]
}

/** As in the tests of the original: a local KMS whose secret everybody knows. */
const testKmsDriver: KmsDriver = {
  type: 'test-kms',
  open: (key) => localKmsDriver({}).open(key, { secret: 'mysecret' }),
}

const NO_FORWARDING = { headers: [], connectTimeoutMs: 1, readTimeoutMs: 1 }

/** Of a registry that starts over: no revision is one that the state before it had. */
class NextState extends RegistryState {
  readonly #firstRevision: number

  constructor(firstRevision: number) {
    super()
    this.#firstRevision = firstRevision
  }

  override get revision(): number {
    return this.#firstRevision + super.revision
  }
}

/** A registry over a log in memory, through the real bytes of its records. */
export async function startTestRegistry(
  pairs: Readonly<Record<string, string>> = {},
  trouble: Trouble = {},
): Promise<TestRegistry> {
  const written = Object.entries({ listeners: 'http://127.0.0.1:0', ...pairs })
  const settings = registrySettings(written.map(([key, value]) => ({ key, value, source: 'test' }))).values
  let state: RegistryState = new RegistryState()
  const codec = new RecordCodec()
  const records: { key: string; value: string | null }[] = []
  const keyCodec = new KeyRecordCodec()
  const keyRecords: { key: string; value: string | null }[] = []
  let keys = new KeyState()
  const metrics = createMetrics()
  const { observe, elected: _, ...counted } = registryMetrics(metrics, () => leads)
  const leads = !('leaderUrl' in trouble)
  const writer: LeaderWriter = {
    append: async (batch) => {
      if (trouble.store) throw trouble.store
      await trouble.storing
      for (const record of batch) {
        const { key, value } = codec.encode(record)
        records.push({ key: String(key), value: value && String(value) })
        const decoded = codec.decode(key, value)
        observe(state.apply(decoded, 1_000 + records.length), decoded)
      }
    },
    appendKeys: async (batch) => {
      if (trouble.store) throw trouble.store
      await trouble.storing
      for (const record of batch) {
        const { key, value } = keyCodec.encode(record)
        keyRecords.push({ key: String(key), value: value && String(value) })
        const decoded = keyCodec.decode(key, value)
        if (decoded) keys.apply(decoded, 1_000 + keyRecords.length, keyRecords.length)
      }
    },
    close: async () => {},
  }
  const emptySchemas = () => new ParsedSchemas({ entriesMax: 100, expiryMs: 60_000, nowMs: () => 0 })
  const decisionContext = { view: state, schemas: emptySchemas(), ...registryDefaults(settings) }
  const dropped: string[] = []
  const leadership = {
    writer: () => (leads ? writer : undefined),
    leaderUrl: () => trouble.leaderUrl,
    replaceWriter: (reason: string) => void dropped.push(reason),
  }
  const examiner = new CompatibilityWorker(trouble.examiner)
  const registry = new Registry({
    decisionContext,
    leadership,
    compatibilityWorker: examiner,
    refresh: trouble.refresh ?? (async () => {}),
    storeFailure: () => trouble.unreadable,
    ...counted,
  })
  const dekRegistry = new DekRegistry({
    get view() {
      return keys
    },
    writes: registry.writes,
    kmsDrivers: [localKmsDriver({}), testKmsDriver, ...(trouble.kmsDrivers ?? [])],
    keysMax: settings['dek.registry.max.keys'],
    isImporting: (subject) => modeInScope(state, subject, decisionContext.defaults) === 'IMPORT',
    storeFailure: () => trouble.unreadableKeys,
  })
  const identity = { clusterId: 'test-cluster', version: '0.0.0' }
  const server = await serveRegistry(registry, {
    settings,
    identity,
    logger: silentLogger(),
    metrics,
    ...counted,
    dekRegistry,
    ready: () => true,
  })
  const url = server.urls[0] ?? ''
  return {
    url,
    urls: server.urls,
    registry,
    written: records,
    writtenKeys: keyRecords,
    dropped,
    routes: (app) =>
      registryRoutes(app, new Api(registry, settings, new Forwarder(NO_FORWARDING)), identity, dekRegistry),
    call: async (method, path, body) => {
      const answer = await call(`${url}${path}`, method, body)
      checkAnswer(method, path, answer.status, answer.body)
      return answer
    },
    startOver: () => {
      state = new NextState(state.revision + 1)
      Object.assign(decisionContext, { view: state, schemas: emptySchemas() })
      records.length = 0
      keys = new KeyState()
      keyRecords.length = 0
      dropped.length = 0
    },
    stop: async () => {
      await server.stop(0)
      examiner.close()
    },
  }
}

async function call(url: string, method: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const json = { 'content-type': 'application/vnd.schemaregistry.v1+json' }
  const response = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body), headers: json }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
