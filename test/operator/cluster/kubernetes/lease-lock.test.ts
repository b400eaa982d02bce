import { describe, expect, it } from 'vitest'
import { createLeaseLock } from '../../../../src/operator/cluster/kubernetes/lease-lock.ts'
import { json, scriptedApi } from '../../../support/scripted-api.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/weir/leases'
const { signal } = new AbortController()
const lease = {
  holder: 'pod-7',
  durationMs: 15_000,
  transitions: 2,
  acquiredAt: '2026-01-01T00:00:00.000Z',
  renewedAt: '2026-01-01T00:00:02.000Z',
}
const spec = {
  holderIdentity: 'pod-7',
  leaseDurationSeconds: 15,
  leaseTransitions: 2,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:02.000000Z',
}

async function opened() {
  const script = await scriptedApi()
  return { script, home: createLeaseLock(script.api, 'weir', 'weir-operator') }
}

describe('the Lease of the leader election', () => {
  it('is created only if it does not exist', async () => {
    const { script, home } = await opened()
    const reading = home.read(signal)
    json((await script.next()).response, { kind: 'Status', reason: 'NotFound' }, 404)
    expect(await reading).toBeUndefined()
    const writing = home.write(lease, undefined, signal)
    const { asked, response } = await script.next()
    expect([asked.method, asked.path]).toEqual(['POST', LEASES])
    expect(asked.body).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'weir', name: 'weir-operator' },
      spec,
    })
    json(response, { metadata: { resourceVersion: '8' }, spec }, 201)
    expect(await writing).toEqual({
      version: '8',
      lease: { ...lease, acquiredAt: spec.acquireTime, renewedAt: spec.renewTime },
    })
  })

  it('is updated only if its version has not changed', async () => {
    const { script, home } = await opened()
    const writing = home.write({ ...lease, acquiredAt: spec.acquireTime }, '8', signal)
    const { asked, response } = await script.next()
    expect([asked.method, asked.path]).toEqual(['PUT', `${LEASES}/weir-operator`])
    expect(asked.body).toMatchObject({ metadata: { resourceVersion: '8' }, spec })
    json(response, { kind: 'Status', reason: 'Conflict' }, 409)
    expect(await writing).toBeUndefined()
  })

  it('reports a missing permission with the remedy', async () => {
    const { script, home } = await opened()
    const reading = home.read(signal)
    json((await script.next()).response, { kind: 'Status', reason: 'Forbidden', message: 'leases is forbidden' }, 403)
    await expect(reading).rejects.toMatchObject({ code: 'forbidden' })
  })
})
