import { expect, it } from 'vitest'
import { ApiError, type KubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import type { WriteRequest } from '../../../src/operator/admission/admission-review.ts'
import { denyUnauthorizedDelete, denyUnauthorizedWrite } from '../../../src/operator/admission/authorization.ts'

const hard = { schema: '"int"', deletionPolicy: 'HardDelete' }

/** An API server that decides about permissions and records the requests. */
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

it('allows HardDelete to a user with the verb harddelete', async () => {
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

it('denies HardDelete to other users, and names the missing permission', async () => {
  expect(await denyUnauthorizedWrite(proposed(hard), apiThat(false))).toEqual({
    allowed: false,
    reason: 'Forbidden',
    message:
      'spec.deletionPolicy: HardDelete needs the verb harddelete on subjects.weir.dev in namespace shop, which jo does not have: the role weir-admin grants it',
  })
  const force = { mode: 'IMPORT', force: true }
  expect((await denyUnauthorizedWrite(proposed(force, undefined, 'RegistryMode'), apiThat(false)))?.message).toMatch(
    /^spec\.force: true needs the verb force on registrymodes/,
  )
})

it('denies HardDelete when the API server cannot check the permission', async () => {
  const refused = await denyUnauthorizedWrite(
    proposed(hard),
    apiThat(new ApiError(403, 'Forbidden', 'you may not ask')),
  )
  expect(refused?.message).toContain('the permission of jo could not be checked: you may not ask')
})

it.each([
  ['without HardDelete', { schema: '"int"', deletionPolicy: 'SoftDelete' }, undefined, 0],
  ['that had HardDelete before', hard, hard, 0],
  ['that had HardDelete before, while it was suspended', hard, { ...hard, suspend: true }, 1],
  ['that had another deletionPolicy before', hard, { deletionPolicy: 'Retain' }, 1],
])('requests an access review for a Subject %s: case %#', async (_, spec, before, times) => {
  const api = apiThat(false)
  await denyUnauthorizedWrite(proposed(spec, before), api)
  expect(api.asked).toHaveLength(times)
})

const deletion = (spec: object, username = 'jo', kind: WriteRequest['kind'] = 'Subject') => ({
  ...proposed(spec, undefined, kind),
  by: { username },
})

it('allows the deletion of a HardDelete Subject only to users with the verb harddelete', async () => {
  expect(await denyUnauthorizedDelete(deletion(hard), apiThat(true))).toBeUndefined()
  expect(await denyUnauthorizedDelete(deletion(hard), apiThat(false))).toMatchObject({
    allowed: false,
    reason: 'Forbidden',
  })
  const unknown = await denyUnauthorizedDelete(
    deletion(hard),
    apiThat(new ApiError(403, 'Forbidden', 'you may not ask')),
  )
  expect(unknown?.message).toContain('could not be checked')
})

it('requests no access review for the deletion of other Subjects', async () => {
  const api = apiThat(false)
  expect(await denyUnauthorizedDelete(deletion({ schema: '"int"', deletionPolicy: 'SoftDelete' }), api)).toBeUndefined()
  expect(
    await denyUnauthorizedDelete(deletion({ mode: 'IMPORT', force: true }, 'jo', 'RegistryMode'), api),
  ).toBeUndefined()
  expect(api.asked).toEqual([])
})

it('allows the deletion of a HardDelete Subject with its namespace, but not by the garbage collector', async () => {
  const by = (name: string) =>
    denyUnauthorizedDelete(deletion(hard, `system:serviceaccount:kube-system:${name}`), apiThat(false))
  expect(await by('namespace-controller')).toBeUndefined()
  expect(await by('generic-garbage-collector')).toMatchObject({ allowed: false })
})
