import { join } from 'node:path'
import { hashPassword } from '../../../src/http/password-hash.ts'
import { freePort } from '../../env/ports.ts'
import { partDirectory } from '../../env/workspace.ts'
import type { Settings } from '../settings.ts'
import { startFilled } from './filled-registry.ts'
import type { Call } from './load-client.ts'

/** A registry with TLS, BASIC authentication and an audit log of changes. */
export type ProductionRegistry = {
  readonly url: string
  /** PEM file with the certificate and its key. */
  readonly certificateFile: string
  /** Adds the credentials of a user to a request. */
  readonly authenticated: (call: Call) => Call
  readonly stop: () => Promise<void>
}

const USER = 'bench'
const PASSWORD = 'a password of the benchmark'

export async function startProductionRegistry(settings: Settings, schemas: number): Promise<ProductionRegistry> {
  const certificateFile = join(import.meta.dirname, '../../support/tls/server-rsa.pem')
  const url = `https://127.0.0.1:${await freePort()}`
  const { stop } = await startFilled(settings, schemas, 'production', {
    // The first listener shows when the registry is ready.
    listeners: `http://127.0.0.1:${await freePort()},${url}`,
    'ssl.keystore.location': certificateFile,
    'authentication.method': 'BASIC',
    'weir.authentication.users': `${USER}: ${await hashPassword(PASSWORD)}, admin`,
    'audit.log.file': join(partDirectory('audit'), 'audit.jsonl'),
  })
  const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  return {
    url,
    certificateFile,
    authenticated: (call) => ({ ...call, headers: { ...call.headers, authorization } }),
    stop,
  }
}
