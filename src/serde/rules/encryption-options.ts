import { createDekRegistryClient } from '../../clients/dek-registry.ts'
import type { Endpoint } from '../../clients/http.ts'
import type { KmsDriver } from '../../encryption/kms.ts'
import { localKmsDriver } from '../../encryption/local-kms.ts'
import { DekStore } from './dek-store.ts'

/** How values are encrypted and decrypted where the rules of a schema demand it. */
export type EncryptionOptions = {
  /**
   * Configuration of the KMS, by key: what Confluent's clients take as `rule.executors._default_.param.KEY`, for instance
   * `secret` of the local KMS. Keys may have that prefix.
   */
  readonly params?: Readonly<Record<string, string>>
  /** KMS drivers beside the one of `local-kms`. */
  readonly kms?: readonly KmsDriver[]
  /** How many keys are remembered. Default 1,000. */
  readonly deksMax?: number
  /** The time in ms since 1970, which decides when a key has expired. Default `Date.now`. */
  readonly now?: () => number
}

const PARAM_PREFIX = 'rule.executors._default_.param.'

export function openDekStore(endpoint: Endpoint, options: EncryptionOptions = {}): DekStore {
  const { params = {}, kms = [], deksMax = 1_000, now = Date.now } = options
  const plain = Object.entries(params).map(([key, value]) => [
    key.startsWith(PARAM_PREFIX) ? key.slice(PARAM_PREFIX.length) : key,
    value,
  ])
  return new DekStore({
    registry: createDekRegistryClient(endpoint),
    drivers: [...kms, localKmsDriver()],
    params: Object.fromEntries(plain),
    deksMax,
    now,
  })
}
