import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRegistryClient } from '../../src/cli/runtime-connection.ts'
import { hashPassword } from '../../src/http/password-hash.ts'
import { startTestRegistry } from '../support/registry.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const tls = (name: string) => join(import.meta.dirname, '../support/tls', name)

describe('the connection to a runtime', () => {
  it.each([
    [{}, '--registry URL is missing'],
    [{ registry: 'registry:8081' }, 'expected http://HOST:PORT or https://HOST:PORT'],
    [{ registry: 'http://r', user: 'ada' }, 'expected NAME:PASSWORD, or WEIR_PASSWORD to be set'],
    [{ registry: 'https://r', cert: 'me.pem' }, '--cert and --key must be given together'],
    [{ registry: 'https://r', cert: 'none.pem', key: 'none.pem' }, '--cert none.pem: ENOENT'],
    [{ registry: 'https://r', cacert: 'none.pem' }, 'none.pem: ENOENT'],
  ])('is rejected for invalid options: %o', (values, reason) => {
    expect(() => openRegistryClient(values, {})).toThrow(reason)
  })

  it('authenticates with a certificate and a password', async () => {
    const users = join(temporaryDirectory(), 'users')
    writeFileSync(users, `ada: ${await hashPassword('s3:cret')}, readonly\n`)
    const registry = await startTestRegistry({
      listeners: 'https://127.0.0.1:0',
      'ssl.keystore.location': tls('server.pem'),
      'ssl.truststore.location': tls('ca.pem'),
      'ssl.client.authentication': 'REQUIRED',
      'authentication.method': 'BASIC',
      'weir.authentication.users.file': users,
    })
    onTestFinished(() => registry.stop())
    const files = { registry: registry.url, cacert: tls('ca.pem'), cert: tls('client.pem'), key: tls('client.pem') }
    expect(await openRegistryClient({ ...files, user: 'ada:s3:cret' }).subjects()).toEqual([])
    expect(await openRegistryClient({ ...files, user: 'ada' }, { WEIR_PASSWORD: 's3:cret' }).subjects()).toEqual([])
    const named = { ...files, registry: registry.url.replace('//', '//ada:s3%3Acret@') }
    expect(await openRegistryClient(named).subjects()).toEqual([])
    await expect(openRegistryClient(files).subjects()).rejects.toMatchObject({ status: 401 })
    await expect(
      openRegistryClient({ registry: registry.url, cacert: tls('ca.pem') }).subjects(),
    ).rejects.toMatchObject({
      status: 0,
    })
    await expect(openRegistryClient({ registry: registry.url }).subjects()).rejects.toThrow(/certificate/)
  })
})
