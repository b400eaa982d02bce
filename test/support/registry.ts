import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import {
  CompatibilityWorker,
  type CompatibilityWorkerOptions,
} from '../../src/compatibility-worker/compatibility-worker.ts'
import { SchemaOperations } from '../../src/compatibility-worker/schema-operations.ts'
import { ChangeFeed } from '../../src/console/change-feed.ts'
import type { KmsDriver } from '../../src/encryption/kms.ts'
import { localKmsDriver } from '../../src/encryption/local-kms.ts'
import { DekRegistry } from '../../src/registry/dek/dek-registry.ts'
import { KeyRecordCodec } from '../../src/registry/dek/key-record-codec.ts'
import { KeyState } from '../../src/registry/dek/key-state.ts'
import type { LeaderWriter } from '../../src/registry/leadership/leader-writer.ts'
import { registryMetrics } from '../../src/registry/metrics/registry-metrics.ts'
import { modeInScope } from '../../src/registry/queries/effective-config.ts'
import { ParsedSchemas } from '../../src/registry/queries/parsed-schemas.ts'
import { Registry } from '../../src/registry/registry.ts'
import { serveRegistry } from '../../src/registry/rest-server.ts'
import { registryDefaults, registrySettings } from '../../src/registry/settings.ts'
import { RecordCodec } from '../../src/registry/store/record-codec.ts'
import { RegistryState } from '../../src/registry/store/registry-state.ts'
import { checkAnswer } from './registry-openapi.ts'

export type TestRegistry = {
  readonly url: string
  /** One per listener. */
  readonly urls: readonly string[]
  readonly registry: Registry
  /** Keys and values of all records written to the topic. */
  readonly written: readonly { readonly key: string; readonly value: string | null }[]
  /** The same for the topic of the DEK registry. */
  readonly writtenKeys: readonly { readonly key: string; readonly value: string | null }[]
  /** The reasons for which the leader's writer was discarded. */
  readonly writerReplacements: readonly string[]
  /** Sends a request and checks the response against the OpenAPI document. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Resets the registry to empty, because starting another one takes as long as most tests. */
  reset(): void
  stop(): Promise<void>
}

/** Simulated faults and other conditions. */
export type TestFaults = {
  /** The error of each write. */
  readonly writeError?: Error
  /** The error that stops reading of the log. */
  readonly readError?: Error
  /** The error that stops reading of the DEK registry's topic. */
  readonly keyReadError?: Error
  /** Each write waits for this promise. */
  readonly writeGate?: Promise<void>
  /** Called when a follower must catch up with the leader. By default it is always up to date. */
  readonly refresh?: () => Promise<void>
  /** URL of another instance that is the leader; if the key is set to undefined, there is no leader. */
  readonly leaderUrl?: string | undefined
  /** Options of the compatibility worker. */
  readonly compatibilityWorker?: CompatibilityWorkerOptions
  /** KMS drivers in addition to `local-kms` and `test-kms`. */
  readonly kmsDrivers?: readonly KmsDriver[]
}

/** A local KMS with a well-known secret, as in the tests of Confluent's registry. */
const testKmsDriver: KmsDriver = {
  type: 'test-kms',
  open: (key) => localKmsDriver({}).open(key, { secret: 'mysecret' }),
}

/** State of a registry after a reset. Its revisions continue those of the previous state, so that none is repeated. */
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

/** Starts a registry on an in-memory log, whose records are encoded and decoded as in a topic. */
export async function startTestRegistry(
  pairs: Readonly<Record<string, string>> = {},
  faults: TestFaults = {},
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
  const nowMs = () => performance.now()
  const measurements = registryMetrics(metrics, () => isLeader, nowMs)
  const isLeader = !('leaderUrl' in faults)
  const writer: LeaderWriter = {
    append: async (batch) => {
      if (faults.writeError) throw faults.writeError
      await faults.writeGate
      for (const record of batch) {
        const { key, value } = codec.encode(record)
        records.push({ key: String(key), value: value && String(value) })
        const decoded = codec.decode(key, value)
        measurements.onRecord(state.apply(decoded, 1_000 + records.length), decoded)
      }
    },
    appendKeys: async (batch) => {
      if (faults.writeError) throw faults.writeError
      await faults.writeGate
      for (const record of batch) {
        const { key, value } = keyCodec.encode(record)
        keyRecords.push({ key: String(key), value: value && String(value) })
        const decoded = keyCodec.decode(key, value)
        if (decoded) keys.apply(decoded, 1_000 + keyRecords.length, keyRecords.length)
      }
    },
    close: async () => {},
  }
  const compatibilityWorker = new CompatibilityWorker(faults.compatibilityWorker)
  const { onSchemaOperation } = measurements
  const operations = new SchemaOperations({ worker: compatibilityWorker, onOperation: onSchemaOperation, nowMs })
  const emptySchemas = () => new ParsedSchemas({ operations, entriesMax: 100, expiryMs: 60_000, nowMs: () => 0 })
  const decisionContext = { view: state, schemas: emptySchemas(), ...registryDefaults(settings) }
  const writerReplacements: string[] = []
  const leadership = {
    writer: () => (isLeader ? writer : undefined),
    leaderUrl: () => faults.leaderUrl,
    problem: () => undefined,
    replaceWriter: (reason: string) => void writerReplacements.push(reason),
  }
  const registry = new Registry({
    decisionContext,
    leadership,
    compatibilityWorker,
    refresh: faults.refresh ?? (async () => {}),
    storeFailure: () => faults.readError,
  })
  const dekRegistry = new DekRegistry({
    get view() {
      return keys
    },
    writes: registry.writes,
    kmsDrivers: [localKmsDriver({}), testKmsDriver, ...(faults.kmsDrivers ?? [])],
    keysMax: settings['dek.registry.max.keys'],
    isImporting: (subject) => modeInScope(state, subject, decisionContext.defaults) === 'IMPORT',
    storeFailure: () => faults.keyReadError,
  })
  const identity = { clusterId: 'test-cluster', version: '0.0.0' }
  const server = await serveRegistry(registry, {
    settings,
    identity,
    logger: silentLogger(),
    metrics,
    measurements,
    dekRegistry,
    changes: new ChangeFeed(),
    isReady: () => true,
    whyNotReady: () => undefined,
  })
  const url = server.urls[0] ?? ''
  return {
    url,
    urls: server.urls,
    registry,
    written: records,
    writtenKeys: keyRecords,
    writerReplacements,
    call: async (method, path, body) => {
      const answer = await call(`${url}${path}`, method, body)
      checkAnswer(method, path, answer.status, answer.body)
      return answer
    },
    reset: () => {
      state = new NextState(state.revision + 1)
      Object.assign(decisionContext, { view: state, schemas: emptySchemas() })
      records.length = 0
      keys = new KeyState()
      keyRecords.length = 0
      writerReplacements.length = 0
    },
    stop: async () => {
      await server.stop(0)
      compatibilityWorker.close()
    },
  }
}

/** With `node:http`, because `fetch` needs several times the CPU time of the small requests of these tests. */
async function call(url: string, method: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const written = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  const type = { 'content-type': 'application/vnd.schemaregistry.v1+json' }
  const length = { 'content-length': Buffer.byteLength(written) }
  const sent = request(url, { method, headers: body === undefined ? {} : { ...type, ...length } })
  sent.end(written)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const received = await text(response)
  return { status: response.statusCode!, body: received === '' ? undefined : parsed(received) }
}

function parsed(received: string): unknown {
  try {
    return JSON.parse(received)
  } catch {
    return received
  }
}
