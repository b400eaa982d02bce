import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../../src/common/logging/logger.ts'
import { API_VERSION } from '../../../../src/common/resource-api.ts'
import type { ResourceChange } from '../../../../src/operator/cluster/cluster.ts'
import { KubernetesCluster } from '../../../../src/operator/cluster/kubernetes/kubernetes-cluster.ts'
import { INITIAL_STATUS } from '../../../../src/operator/resources/resource.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { json, type ScriptedApi, scriptedApi } from '../../../support/scripted-api.ts'
import { subjectObject } from '../../../support/subject-object.ts'

const KEY = 'Subject/shop/user'

let script: ScriptedApi
let cluster: KubernetesCluster
let changes: ResourceChange[]

beforeEach(async () => {
  script = await scriptedApi()
  const clock = new FakeClock()
  cluster = new KubernetesCluster({ api: script.api, clock, logger: silentLogger(), identity: 'pod', namespaces: [] })
  onTestFinished(() => cluster.stop())
  changes = []
  const starting = cluster.start()
  for (let watches = 0; watches < 4; ) {
    const { asked, response } = await script.next()
    const isWatch = asked.query.get('watch') === 'true'
    const items = asked.path.endsWith('/subjects') ? [subjectObject(5)] : []
    if (isWatch) response.writeHead(200).flushHeaders()
    else json(response, { metadata: { resourceVersion: '10' }, items })
    watches += isWatch ? 1 : 0
  }
  await starting
  cluster.onChange((change) => changes.push(change))
})

/** The resource is read again, with this version and this version of the schema. */
async function confirm(resourceVersion: number, version: number) {
  const confirming = cluster.confirm(KEY)
  const status = { observedGeneration: 1, version }
  json((await script.next()).response, { items: [subjectObject(resourceVersion, { status })] })
  await confirming
}

describe('a resource of which a write failed', () => {
  it('is read again, until that succeeds, and only then', async () => {
    await cluster.confirm(KEY)
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    json((await script.next()).response, { reason: 'Timeout', message: 'it may have been written' }, 504)
    await expect(writing).rejects.toMatchObject({ status: 504 })
    const failing = cluster.confirm(KEY)
    json((await script.next()).response, { reason: 'Timeout', message: 'not now' }, 504)
    await expect(failing).rejects.toMatchObject({ status: 504 })
    const confirming = cluster.confirm(KEY)
    const { asked, response } = await script.next()
    expect([asked.method, asked.path, Object.fromEntries(asked.query)]).toEqual([
      'GET',
      `/apis/${API_VERSION}/namespaces/shop/subjects`,
      { fieldSelector: 'metadata.name=user' },
    ])
    json(response, { items: [subjectObject(20, { status: { observedGeneration: 1, version: 7 } })] })
    await confirming
    expect(cluster.get(KEY)?.status).toMatchObject({ version: 7 })
    await cluster.confirm(KEY)
  })

  it('is forgotten if it was deleted meanwhile', async () => {
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    ;(await script.next()).response.destroy()
    await expect(writing).rejects.toMatchObject({ status: 0 })
    const confirming = cluster.confirm(KEY)
    json((await script.next()).response, { items: null })
    await confirming
    expect(cluster.get(KEY)).toBeUndefined()
  })

  it.each([
    ['without a response', 504, 'Timeout', 'desired'],
    ['that was rejected', 403, 'Forbidden', 'status'],
  ])('is reconciled after a later change of its status, for a write %s', async (_, status, reason, type) => {
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    json((await script.next()).response, { reason, message: 'failed' }, status)
    await expect(writing).rejects.toMatchObject({ status })
    await confirm(5, 0)
    expect(changes).toEqual([])
    // The write may have arrived by now. What replaces it is written with the version that it had.
    const next = cluster.writeStatus(KEY, { ...INITIAL_STATUS, observedGeneration: 1 })
    const { asked, response } = await script.next()
    expect(asked.body).toMatchObject({ metadata: { resourceVersion: '5' } })
    json(response, subjectObject(11, { status: { observedGeneration: 1, version: 7 } }))
    expect(await next).toBe(true)
    expect(changes).toEqual([{ key: KEY, type }])
  })

  it('is not written while the object has changed since it was read, and is written once it was read again', async () => {
    const message = 'Operation cannot be fulfilled on subjects.weir.dev "uid": the object has been modified'
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    json((await script.next()).response, { reason: 'Conflict', message }, 409)
    expect(await writing).toBe(false)
    await confirm(20, 7)
    expect(cluster.get(KEY)?.status).toMatchObject({ version: 7 })
    expect(changes).toEqual([{ key: KEY, type: 'status' }])
    const again = cluster.writeStatus(KEY, INITIAL_STATUS)
    const { asked, response } = await script.next()
    expect(asked.body).toMatchObject({ metadata: { resourceVersion: '20' } })
    json(response, subjectObject(21))
    expect(await again).toBe(true)
  })
})
