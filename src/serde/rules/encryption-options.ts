import { createDekRegistryClient } from '../../clients/dek-registry-client.ts'
import type { Endpoint } from '../../clients/http-client.ts'
import type { KmsDriver } from '../../encryption/kms.ts'
import { localKmsDriver } from '../../encryption/local-kms.ts'
import { DekStore } from './dek-store.ts'

/** Options for encryption and decryption by the rules of a schema. */
export type EncryptionOptions = {
  /**
   * KMS configuration: the parameters that Confluent's clients take as `rule.executors._default_.param.KEY`, such as
   * `secret` for the local KMS. Keys may include that prefix.
   */
  readonly params?: Readonly<Record<string, string>>
  /** KMS drivers in addition to the one for `local-kms`. */
  readonly kms?: readonly KmsDriver[]
  /** Maximum number of cached keys. Default: 1,000. */
  readonly deksMax?: number
  /** Returns the time in ms since 1970, which determines whether a key has expired. Default: `Date.now`. */
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
