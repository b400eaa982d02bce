import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../../src/common/logging/logger.ts'
import { API_VERSION } from '../../../../src/common/resource-api.ts'
import type { ResourceChange } from '../../../../src/operator/cluster/cluster.ts'
import { KubernetesCluster } from '../../../../src/operator/cluster/kubernetes/kubernetes-cluster.ts'
import { INITIAL_STATUS } from '../../../../src/operator/resources/resource.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { type ApiRequest, json, type ScriptedApi, scriptedApi } from '../../../support/scripted-api.ts'
import { subjectObject } from '../../../support/subject-object.ts'

const KEY = 'Subject/shop/user'

let script: ScriptedApi
let cluster: KubernetesCluster
let changes: ResourceChange[]
/** Open watches, by the plural of their kind. */
let watches: Map<string, ServerResponse>

const pluralOf = ({ path }: ApiRequest) => path.slice(path.lastIndexOf('/') + 1)

/** Responds to lists with `objects` and keeps watches open, until a watch of each kind is open. */
async function started(objects: readonly { readonly kind: string }[] = [], { of = cluster, count = 4 } = {}) {
  const starting = of.start()
  while (watches.size < count) {
    const { asked, response } = await script.next()
    const plural = pluralOf(asked)
    if (asked.query.get('watch') === 'true') {
      response.writeHead(200).flushHeaders()
      watches.set(plural, response)
    } else {
      const items = objects.filter(({ kind }) => `${kind.toLowerCase()}s` === plural)
      json(response, { metadata: { resourceVersion: '10' }, items })
    }
  }
  await starting
}

async function happens(type: string, object: object, plural = 'subjects') {
  const count = changes.length
  watches.get(plural)!.write(`${JSON.stringify({ type, object })}\n`)
  await expect.poll(() => changes.length).toBeGreaterThan(count)
  return changes.at(-1)
}

beforeEach(async () => {
  script = await scriptedApi()
  changes = []
  watches = new Map()
  const parts = { api: script.api, clock: new FakeClock(), logger: silentLogger(), identity: 'pod-7' }
  cluster = new KubernetesCluster({ ...parts, namespaces: [] })
  cluster.onChange((change) => changes.push(change))
  onTestFinished(() => cluster.stop())
})

describe('KubernetesCluster', () => {
  it('has listed all resources when it is started', async () => {
    await started([subjectObject(5)])
    expect(cluster.list('Subject')).toHaveLength(1)
    expect(cluster.get(KEY)).toMatchObject({ spec: { schema: '"int"', schemaType: 'AVRO' }, status: INITIAL_STATUS })
    expect(changes).toEqual([{ key: KEY, type: 'desired' }])
  })

  it('distinguishes changes by users from its own status writes', async () => {
    await started([subjectObject(5)])
    expect(await happens('MODIFIED', subjectObject(11, { status: { observedGeneration: 1 } }))).toEqual({
      key: KEY,
      type: 'status',
    })
    const annotated = subjectObject(12, { metadata: { annotations: { 'weir.dev/reconcile-requested-at': '1' } } })
    expect(await happens('MODIFIED', annotated)).toEqual({ key: KEY, type: 'desired' })
    expect(await happens('DELETED', subjectObject(13))).toEqual({ key: KEY, type: 'deleted' })
    expect(cluster.get(KEY)).toBeUndefined()
  })

  it('keeps an object that it cannot read beside the resources, until it can', async () => {
    await started([subjectObject(5, { spec: { schema: '"int"', schemaType: 'XML' } })])
    expect(cluster.get(KEY)).toBeUndefined()
    expect(cluster.unreadable(KEY)).toMatchObject({
      metadata: { name: 'user', generation: 1 },
      reason: expect.stringContaining("spec.schemaType: 'XML' is not allowed"),
    })
    expect(changes).toEqual([{ key: KEY, type: 'deleted' }])
    watches
      .get('subjects')!
      .write(
        `${JSON.stringify({ type: 'MODIFIED', object: subjectObject(11, { spec: { schemaType: 'XML' }, status: {} }) })}\n`,
      )
    expect(await happens('MODIFIED', subjectObject(12, { metadata: { generation: 2 } }))).toEqual({
      key: KEY,
      type: 'desired',
    })
    expect(changes).toHaveLength(2)
    expect([cluster.get(KEY)?.spec.schema, cluster.unreadable(KEY)]).toEqual(['"int"', undefined])
  })

  it('reports a removed finalizer as a change by a user, but not an added one', async () => {
    await started([subjectObject(5)])
    const held = { finalizers: ['weir.dev/subject'] }
    expect(await happens('MODIFIED', subjectObject(11, { metadata: held }))).toEqual({ key: KEY, type: 'status' })
    expect(await happens('MODIFIED', subjectObject(12))).toEqual({ key: KEY, type: 'desired' })
  })

  it('reports resources that are missing in a repeated list as deleted', async () => {
    await started([subjectObject(5)])
    watches.get('subjects')!.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })}\n`)
    const other = subjectObject(20, { metadata: { name: 'other', uid: 'u-2' } })
    json((await script.next()).response, { metadata: { resourceVersion: '20' }, items: [other] })
    await expect
      .poll(() => changes.slice(1))
      .toEqual([
        { key: KEY, type: 'deleted' },
        { key: 'Subject/shop/other', type: 'desired' },
      ])
    expect([cluster.get(KEY), cluster.list('Subject').length]).toEqual([undefined, 1])
  })

  it('applies the status with its own field manager, and updates its cache at once', async () => {
    await started([subjectObject(5)])
    const writing = cluster.writeStatus(KEY, { ...INITIAL_STATUS, observedGeneration: 1 })
    const { asked, response } = await script.next()
    expect([asked.method, asked.path]).toEqual(['PATCH', `/apis/${API_VERSION}/namespaces/shop/subjects/user/status`])
    expect(Object.fromEntries(asked.query)).toEqual({ fieldManager: 'weir-operator', force: 'true' })
    expect(asked.body).toMatchObject({
      metadata: { uid: 'u-1', resourceVersion: '5' },
      status: { observedGeneration: 1 },
    })
    json(response, subjectObject(20, { status: { observedGeneration: 1 } }))
    await writing
    expect(cluster.get(KEY)?.status.observedGeneration).toBe(1)
    // A delayed watch event does not replace a newer version.
    await happens('MODIFIED', {
      ...subjectObject(21),
      metadata: { ...subjectObject(21).metadata, name: 'other', uid: 'u-2' },
    })
    watches.get('subjects')!.write(`${JSON.stringify({ type: 'MODIFIED', object: subjectObject(15) })}\n`)
    await happens('MODIFIED', {
      ...subjectObject(22),
      metadata: { ...subjectObject(22).metadata, name: 'other', uid: 'u-2', generation: 2 },
    })
    expect(cluster.get(KEY)?.status.observedGeneration).toBe(1)
  })

  it('writes keys of a ConfigMap with its own field manager, and does not overwrite keys of others', async () => {
    await started()
    const writing = cluster.writeConfigMap('shop', 'saved', { 'offsets.json': '{}' })
    const { asked, response } = await script.next()
    expect([asked.method, asked.path]).toEqual(['PATCH', '/api/v1/namespaces/shop/configmaps/saved'])
    // Without force.
    expect(Object.fromEntries(asked.query)).toEqual({ fieldManager: 'weir-operator-export' })
    expect(asked.body).toMatchObject({ kind: 'ConfigMap', data: { 'offsets.json': '{}' } })
    json(response, {})
    expect(await writing).toBe(true)
    const requeue = cluster.writeConfigMap('shop', 'saved', { 'offsets.json': '{}' })
    json((await script.next()).response, { code: 409, reason: 'Conflict', message: 'conflict with "kubectl"' }, 409)
    expect(await requeue).toBe(false)
  })

  it('adds and removes its finalizer without changing others', async () => {
    await started([subjectObject(5, { metadata: { finalizers: ['example.com/theirs'] } })])
    expect(cluster.get(KEY)?.metadata.finalizers).toEqual([])
    const on = cluster.setFinalizer(KEY, true)
    const first = await script.next()
    expect(first.asked.path).toBe(`/apis/${API_VERSION}/namespaces/shop/subjects/user`)
    expect(first.asked.query.get('fieldManager')).toBe('weir-operator-finalizer')
    expect(first.asked.body).toMatchObject({ metadata: { uid: 'u-1', finalizers: ['weir.dev/subject'] } })
    json(first.response, subjectObject(20, { metadata: { finalizers: ['example.com/theirs', 'weir.dev/subject'] } }))
    await on
    expect(cluster.get(KEY)?.metadata.finalizers).toEqual(['weir.dev/subject'])
    const off = cluster.setFinalizer(KEY, false)
    const second = await script.next()
    expect(second.asked.body).toMatchObject({ metadata: { finalizers: [] } })
    json(second.response, subjectObject(21, { metadata: { finalizers: ['example.com/theirs'] } }))
    await off
  })

  it('removes its finalizer also where another field manager owns it, as after a restore of the object', async () => {
    const finalizers = ['example.com/theirs', 'weir.dev/subject']
    await started([subjectObject(5, { metadata: { finalizers } })])
    const off = cluster.setFinalizer(KEY, false)
    // A server-side apply keeps what others own.
    json((await script.next()).response, subjectObject(5, { metadata: { finalizers } }))
    const { asked, response } = await script.next()
    expect([asked.method, asked.path]).toEqual(['PATCH', `/apis/${API_VERSION}/namespaces/shop/subjects/user`])
    expect(asked.contentType).toBe('application/json-patch+json')
    expect(asked.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u-1' },
      { op: 'test', path: '/metadata/finalizers/1', value: 'weir.dev/subject' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ])
    json(response, subjectObject(21, { metadata: { finalizers: ['example.com/theirs'] } }))
    await off
    expect(cluster.get(KEY)?.metadata.finalizers).toEqual([])
  })

  it('does not restore a deleted resource from the response to the removal of its finalizer', async () => {
    await started([subjectObject(5, { metadata: { finalizers: ['weir.dev/subject'] } })])
    const off = cluster.setFinalizer(KEY, false)
    const { response } = await script.next()
    expect(await happens('DELETED', subjectObject(21))).toEqual({ key: KEY, type: 'deleted' })
    json(response, subjectObject(20))
    await off
    expect([cluster.get(KEY), cluster.list('Subject')]).toEqual([undefined, []])
    // It does not replace an object that was deleted and created again in the meantime.
    await happens('ADDED', subjectObject(30, { metadata: { uid: 'u-2' } }))
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    const late = await script.next()
    watches
      .get('subjects')!
      .write(`${JSON.stringify({ type: 'DELETED', object: subjectObject(31, { metadata: { uid: 'u-2' } }) })}\n`)
    expect(await happens('ADDED', subjectObject(32, { metadata: { uid: 'u-3' } }))).toEqual({
      key: KEY,
      type: 'desired',
    })
    json(late.response, subjectObject(33, { metadata: { uid: 'u-2' } }))
    await writing
    expect(cluster.get(KEY)?.metadata.uid).toBe('u-3')
  })

  it.each([
    ['no longer exists', 404, 'NotFound', 'subjects "user" not found'],
    ['no longer exists when it is applied', 409, 'Conflict', 'subjects "user": uid mismatch: no existing object'],
    [
      'was replaced by another one with the same name',
      422,
      'Invalid',
      'Subject.weir.dev "user" is invalid: metadata.uid: Invalid value: "u-1": field is immutable',
    ],
  ])('ignores that an object %s', async (_, status, reason, message) => {
    await started([subjectObject(5)])
    const writing = cluster.setFinalizer(KEY, true)
    json((await script.next()).response, { kind: 'Status', reason, message }, status)
    await expect(writing).resolves.toBeUndefined()
  })

  it('rejects with the error of a rejected write', async () => {
    await started([subjectObject(5)])
    const writing = cluster.writeStatus(KEY, INITIAL_STATUS)
    const message = 'subjects.weir.dev "user" is forbidden'
    json((await script.next()).response, { kind: 'Status', reason: 'Forbidden', message }, 403)
    await expect(writing).rejects.toMatchObject({ code: 'forbidden', message })
  })

  it('ignores an object that cannot be parsed, and logs why', async () => {
    await started([subjectObject(5)])
    expect(await happens('MODIFIED', subjectObject(11, { metadata: { generation: 2 }, spec: { schema: 3 } }))).toEqual({
      key: KEY,
      type: 'deleted',
    })
    expect(cluster.list('Subject')).toEqual([])
    expect(cluster.manifestErrors()).toEqual([{ key: KEY, file: KEY, message: expect.stringContaining('spec.schema') }])
    await happens('MODIFIED', subjectObject(12))
    expect(cluster.manifestErrors()).toEqual([])
    expect(cluster.list('Subject')).toHaveLength(1)
  })

  it('reports a change of a ConfigMap for the resources that refer to it', async () => {
    const schemaFrom = { configMapKeyRef: { name: 'schemas', key: 'user' } }
    await started([subjectObject(5, { spec: { schemaFrom } })])
    const map = (version: number, name = 'schemas') => ({
      metadata: { namespace: 'shop', name, uid: name, resourceVersion: String(version) },
    })
    for (const [type, version] of [
      ['ADDED', 11],
      ['MODIFIED', 12],
      ['DELETED', 13],
    ] as const) {
      expect(await happens(type, map(version), 'configmaps')).toEqual({ key: KEY, type: 'desired' })
    }
    const count = changes.length
    const others = [map(14, 'other'), { metadata: { ...map(15).metadata, namespace: 'elsewhere' } }]
    for (const object of others) watches.get('configmaps')!.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    await happens('ADDED', map(16), 'configmaps')
    expect(changes).toHaveLength(count + 1)
  })

  it('reports changed labels and the deletion of a namespace for its resources, and no other change of it', async () => {
    await started([subjectObject(5)])
    expect(cluster.namespace('shop')).toBeUndefined()
    const space = (version: number, metadata: object = {}) => ({
      metadata: { name: 'shop', uid: 's', resourceVersion: String(version), labels: { team: 'a' }, ...metadata },
    })
    const following = cluster.watchNamespaces()
    const list = await script.next()
    expect([list.asked.path, list.asked.accept]).toEqual([
      '/api/v1/namespaces',
      expect.stringContaining('PartialObjectMetadataList'),
    ])
    expect(cluster.namespace('shop')).toBeUndefined()
    json(list.response, { metadata: { resourceVersion: '10' }, items: [space(9)] })
    await following
    expect(cluster.namespace('shop')).toEqual({ labels: { team: 'a' }, isTerminating: false })
    expect(cluster.namespace('elsewhere')).toBeNull()
    expect(changes.at(-1)).toEqual({ key: KEY, type: 'desired' })
    const { response } = await script.next()
    response.writeHead(200).flushHeaders()
    watches.set('namespaces', response)
    const count = changes.length
    const same = space(11, { annotations: { note: 'new' } })
    const elsewhere = { metadata: { ...space(12).metadata, name: 'elsewhere' } }
    for (const object of [same, elsewhere]) response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
    const declared = { key: KEY, type: 'desired' }
    expect(await happens('MODIFIED', space(13, { labels: { team: 'b' } }), 'namespaces')).toEqual(declared)
    expect(changes).toHaveLength(count + 1)
    const going = space(14, { labels: { team: 'b' }, deletionTimestamp: '2026-01-02T00:00:00Z' })
    expect(await happens('MODIFIED', going, 'namespaces')).toEqual(declared)
    expect(cluster.namespace('shop')).toEqual({ labels: { team: 'b' }, isTerminating: true })
    expect(await happens('DELETED', going, 'namespaces')).toEqual(declared)
    expect(cluster.namespace('shop')).toBeNull()
  })

  it('watches only its own namespaces, each by name, and retries after a missing permission', async () => {
    const parts = { api: script.api, clock: new FakeClock(), logger: silentLogger(), identity: 'pod-7' }
    const scoped = new KubernetesCluster({ ...parts, namespaces: ['shop'] })
    onTestFinished(() => scoped.stop())
    const refused = scoped.watchNamespaces()
    const first = await script.next()
    expect(first.asked.query.get('fieldSelector')).toBe('metadata.name=shop')
    json(first.response, { kind: 'Status', reason: 'Forbidden', message: 'cannot list resource "namespaces"' }, 403)
    await expect(refused).rejects.toMatchObject({ code: 'forbidden' })
    expect(scoped.namespace('shop')).toBeUndefined()
    const requeue = scoped.watchNamespaces()
    json((await script.next()).response, { metadata: { resourceVersion: '10' }, items: [] })
    await requeue
    expect(scoped.namespace('shop')).toBeNull()
    expect((await script.next()).asked.query.get('fieldSelector')).toBe('metadata.name=shop')
  })

  it('reports no namespace when it is stopped before all are listed, and does not list afterwards', async () => {
    await started([subjectObject(5)])
    const following = cluster.watchNamespaces()
    await script.next()
    const count = changes.length
    await cluster.stop()
    await following
    await cluster.watchNamespaces()
    expect([cluster.namespace('shop'), changes.length]).toEqual([undefined, count])
    expect(script.asked.filter(({ path }) => path === '/api/v1/namespaces')).toHaveLength(1)
  })

  it('watches only the metadata of Secrets, and only if this is enabled', async () => {
    const parts = { api: script.api, clock: new FakeClock(), logger: silentLogger(), identity: 'pod-7' }
    expect(cluster.secretVersion('shop', 's3')).toBeUndefined()
    const watching = new KubernetesCluster({ ...parts, namespaces: [], watchesSecrets: true })
    onTestFinished(() => watching.stop())
    const told: ResourceChange[] = []
    watching.onChange((change) => told.push(change))
    const valuesFrom = [{ key: 'k', secretKeyRef: { name: 's3', key: 'secret' } }]
    const object = { ...subjectObject(5, { spec: { class: 'Datagen', valuesFrom } }), kind: 'Connector' }
    await started([object], { of: watching, count: 5 })
    expect(watching.secretVersion('shop', 's3')).toBe('')
    const secret = { metadata: { namespace: 'shop', name: 's3', uid: 's3', resourceVersion: '11' } }
    watches.get('secrets')!.write(`${JSON.stringify({ type: 'ADDED', object: secret })}\n`)
    const declared = { key: 'Connector/shop/user', type: 'desired' }
    await expect.poll(() => told).toEqual([declared, declared])
    expect(watching.secretVersion('shop', 's3')).toBe('11')
    expect(script.asked.filter(({ path }) => path.endsWith('/secrets')).map(({ accept }) => accept)).toEqual([
      expect.stringContaining('PartialObjectMetadataList'),
      expect.stringContaining('PartialObjectMetadata'),
    ])
  })

  it('reads the content of a Secret on request', async () => {
    await started()
    const reading = cluster.secret('shop', 's3')
    const { asked, response } = await script.next()
    expect(asked.path).toBe('/api/v1/namespaces/shop/secrets/s3')
    json(response, { metadata: { resourceVersion: '7' }, data: { secret: Buffer.from('hunter2').toString('base64') } })
    expect(await reading).toEqual({ version: '7', data: new Map([['secret', 'hunter2']]) })
  })

  it('reads a ConfigMap, and returns undefined for a missing one', async () => {
    await started()
    const [there, gone] = [cluster.configMap('shop', 'schemas'), cluster.configMap('shop', 'none')]
    for (let at = 0; at < 2; at++) {
      const { asked, response } = await script.next()
      if (pluralOf(asked) === 'none') json(response, { kind: 'Status', reason: 'NotFound' }, 404)
      else json(response, { data: { user: '"int"' } })
    }
    expect([await there, await gone]).toEqual([new Map([['user', '"int"']]), undefined])
  })

  it('writes nothing to an unknown object', async () => {
    await started()
    await cluster.writeStatus(KEY, INITIAL_STATUS)
    await cluster.setFinalizer(KEY, true)
    await cluster.stop()
    expect(script.asked.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})
