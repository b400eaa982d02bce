import { createHmac, timingSafeEqual } from 'node:crypto'
import { WorkerError } from '../model/worker-error.ts'
import type { SessionKey } from '../stores/config-codec.ts'

// Workers of a group sign internal requests with the session key, which is stored in the config topic: read access to
// that topic proves that a worker belongs to the group.

export const SIGNATURE_HEADER = 'x-connect-authorization'
export const ALGORITHM_HEADER = 'x-connect-request-signature-algorithm'

/** Java names of the algorithms, and the names that `createHmac` uses. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  HmacSHA1: 'sha1',
  HmacSHA224: 'sha224',
  HmacSHA256: 'sha256',
  HmacSHA384: 'sha384',
  HmacSHA512: 'sha512',
}

/** Returns the headers that sign a body. Throws when the algorithm is unknown. */
export function signatureHeaders(
  key: SessionKey,
  algorithm: string,
  body: Uint8Array,
): Readonly<Record<string, string>> {
  return { [SIGNATURE_HEADER]: digest(key, algorithm, body).toString('base64'), [ALGORITHM_HEADER]: algorithm }
}

/**
 * Throws a `WorkerError`: `unsigned` when the signature is missing or its algorithm is not accepted,
 * `session_key_unknown` when this worker has no key yet, `signature_wrong` when the signature does not match.
 */
export function verifySignature(
  headers: Readonly<Record<string, unknown>>,
  body: Uint8Array,
  key: SessionKey | undefined,
  algorithms: readonly string[],
): void {
  const signature = headers[SIGNATURE_HEADER]
  const algorithm = headers[ALGORITHM_HEADER]
  if (typeof signature !== 'string' || typeof algorithm !== 'string') {
    throw new WorkerError('unsigned', 'Internal request missing required signature')
  }
  if (!algorithms.includes(algorithm) || ALGORITHMS[algorithm] === undefined) {
    throw new WorkerError(
      'unsigned',
      `the signature algorithm '${algorithm}' is not in inter.worker.verification.algorithms`,
    )
  }
  if (!key) throw new WorkerError('session_key_unknown', 'this worker has not yet read the session key of its group')
  const expected = digest(key, algorithm, body)
  const given = Buffer.from(signature, 'base64')
  if (given.length === expected.length && timingSafeEqual(given, expected)) return
  throw new WorkerError('signature_wrong', 'Internal request contained invalid signature.')
}

function digest(key: SessionKey, algorithm: string, body: Uint8Array): Buffer {
  return createHmac(ALGORITHMS[algorithm] ?? algorithm, Buffer.from(key.key, 'base64'))
    .update(body)
    .digest()
}
