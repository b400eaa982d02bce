import { expect, it } from 'vitest'
import { ApiError, type KubernetesApi } from '../../../src/clients/kubernetes/api.ts'
import type { WriteRequest } from '../../../src/operator/admission/admission-review.ts'
import { denyUnauthorizedDelete, denyUnauthorizedWrite } from '../../../src/operator/admission/authorization.ts'

const hard = { schema: '"int"', deletionPolicy: 'HardDelete' }

/** An API server that knows who may, and remembers what it was asked. */
function apiThat(allows: boolean | Error) {
  const asked: unknown[] = []
  const send = async ({ body }: { readonly body?: unknown }) => {
    asked.push((body as { spec: unknown }).spec)
    if (allows instanceof Error) throw allows
    return { status: { allowed: allows } }
  }
  return { asked, send: send as KubernetesApi['send'] }
}

const proposed = (spec: object, before?: object, kind: WriteRequest['kind'] = 'Subject') =>
  ({
    kind,
    object: { metadata: { name: 'orders', namespace: 'shop' }, spec },
    ...(before && { before: { spec: before } }),
    by: { username: 'jo', groups: ['team'] },
  }) as unknown as WriteRequest

it('lets those declare HardDelete who are granted it', async () => {
  const api = apiThat(true)
  expect(await denyUnauthorizedWrite(proposed(hard), api)).toBeUndefined()
  expect(api.asked).toEqual([
    {
      user: 'jo',
      groups: ['team'],
      resourceAttributes: {
        group: 'weir.dev',
        resource: 'subjects',
        verb: 'harddelete',
        namespace: 'shop',
        name: 'orders',
      },
    },
  ])
})

it('refuses all others, and says what they lack', async () => {
  expect(await denyUnauthorizedWrite(proposed(hard), apiThat(false))).toEqual({
    allowed: false,
    reason: 'Forbidden',
    message:
      'spec.deletionPolicy: HardDelete needs the verb harddelete on subjects.weir.dev in namespace shop, which jo is not granted; the role weir-admin grants it',
  })
  const force = { mode: 'IMPORT', force: true }
  expect((await denyUnauthorizedWrite(proposed(force, undefined, 'RegistryMode'), apiThat(false)))?.message).toMatch(
    /^spec\.force: true needs the verb force on registrymodes/,
  )
})

it('refuses when nobody can say', async () => {
  const refused = await denyUnauthorizedWrite(
    proposed(hard),
    apiThat(new ApiError(403, 'Forbidden', 'you may not ask')),
  )
  expect(refused?.message).toContain('could not be found out whether jo has it: you may not ask')
})

it.each([
  ['without it', { schema: '"int"', deletionPolicy: 'SoftDelete' }, undefined, 0],
  ['that had it before', hard, hard, 0],
  ['that had it before, while nobody was asked', hard, { ...hard, suspend: true }, 1],
  ['that had another before', hard, { deletionPolicy: 'Retain' }, 1],
])('asks about a Subject %s: %#', async (_, spec, before, times) => {
  const api = apiThat(false)
  await denyUnauthorizedWrite(proposed(spec, before), api)
  expect(api.asked).toHaveLength(times)
})

const deletion = (spec: object, username = 'jo', kind: WriteRequest['kind'] = 'Subject') => ({
  ...proposed(spec, undefined, kind),
  by: { username },
})

it('lets those delete a HardDelete Subject who are granted it, and nobody else', async () => {
  expect(await denyUnauthorizedDelete(deletion(hard), apiThat(true))).toBeUndefined()
  expect(await denyUnauthorizedDelete(deletion(hard), apiThat(false))).toMatchObject({
    allowed: false,
    reason: 'Forbidden',
  })
  const unknown = await denyUnauthorizedDelete(
    deletion(hard),
    apiThat(new ApiError(403, 'Forbidden', 'you may not ask')),
  )
  expect(unknown?.message).toContain('could not be found out')
})

it('asks about no deletion that keeps the schemas', async () => {
  const api = apiThat(false)
  expect(await denyUnauthorizedDelete(deletion({ schema: '"int"', deletionPolicy: 'SoftDelete' }), api)).toBeUndefined()
  expect(
    await denyUnauthorizedDelete(deletion({ mode: 'IMPORT', force: true }, 'jo', 'RegistryMode'), api),
  ).toBeUndefined()
  expect(api.asked).toEqual([])
})

it('lets a namespace be deleted with what is in it, but not by the garbage collector', async () => {
  const by = (name: string) =>
    denyUnauthorizedDelete(deletion(hard, `system:serviceaccount:kube-system:${name}`), apiThat(false))
  expect(await by('namespace-controller')).toBeUndefined()
  expect(await by('generic-garbage-collector')).toMatchObject({ allowed: false })
})
