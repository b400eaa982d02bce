import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ApiError } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { certificatesFromFiles, certificatesFromSecret } from '../../../src/operator/admission/certificate-source.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeSecrets } from '../../support/fake-secrets.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const DAY_MS = 86_400_000

function replica(api: FakeSecrets, clock: FakeClock) {
  return certificatesFromSecret({
    api,
    namespace: 'shop',
    name: 'weir-webhook',
    subjectAltNames: ['webhook.shop.svc'],
    clock,
  })
}

it('is created by the first replica, and shared by all', { tags: ['slow'] }, async () => {
  const [api, clock] = [new FakeSecrets(), new FakeClock()]
  const [one, other] = [replica(api, clock), replica(api, clock)]
  let first: unknown
  api.meanwhile = async () => {
    first = await other()
  }
  expect(await one()).toEqual(first)
  expect(api.writes).toBe(1)
})

it('is renewed before it expires, by one replica', async () => {
  const [api, clock] = [new FakeSecrets(), new FakeClock()]
  const [one, other] = [replica(api, clock), replica(api, clock)]
  const before = await one()
  await clock.advance(59 * DAY_MS)
  expect(await one()).toEqual(before)
  await clock.advance(DAY_MS)
  let renewed: unknown
  api.meanwhile = async () => {
    renewed = await other()
  }
  const after = await one()
  expect(after).toEqual(renewed)
  expect(after).toMatchObject({ ca: before.ca, cert: expect.not.stringContaining(before.cert) })
  expect(api.writes).toBe(2)
})

it.each([
  ['is empty', {}],
  ['contains other data', { 'tls.crt': 'YQ==', 'tls.key': 'YQ==', 'ca.crt': 'YQ==', 'ca.key': 'YQ==' }],
])('is created again when the Secret %s', async (_, data) => {
  const [api, clock] = [new FakeSecrets(), new FakeClock()]
  api.stored = { metadata: { resourceVersion: 'x' }, data }
  expect((await replica(api, clock)()).cert).toContain('BEGIN CERTIFICATE')
})

it('stops retrying after repeated conflicts, and reports the error of the last write', async () => {
  const clock = new FakeClock()
  const refusing = (status: number) => ({
    send: async ({ method }: { readonly method: string }) => {
      throw method === 'GET' ? new ApiError(404, 'NotFound', '') : new ApiError(status, 'No', `HTTP ${status}`)
    },
  })
  for (const status of [409, 403]) {
    await expect(replica(refusing(status) as unknown as FakeSecrets, clock)()).rejects.toThrow(`HTTP ${status}`)
  }
})

it('is read from the current files, with or without a CA', async () => {
  const directory = temporaryDirectory()
  for (const name of ['tls.crt', 'tls.key']) writeFileSync(join(directory, name), name)
  const source = certificatesFromFiles(directory)
  expect(await source()).toEqual({ cert: 'tls.crt', key: 'tls.key' })
  copyFileSync(join(directory, 'tls.crt'), join(directory, 'ca.crt'))
  writeFileSync(join(directory, 'tls.crt'), 'renewed')
  expect(await source()).toEqual({ cert: 'renewed', key: 'tls.key', ca: 'tls.crt' })
})
