import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { issueCertificate } from '../../../src/operator/admission/issue-certificate.ts'
import { startTestConsole } from '../../support/operator-console.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const connector = (more: object = {}) => ({ class: 'FileStreamSource', tasksMax: 2, config: { file: '/a' }, ...more })

describe('the console of an operator in a cluster', () => {
  it('serves the page to everybody, and data only with a Kubernetes token that the API server accepts', async () => {
    const { get } = await startTestConsole()
    expect((await get('/ui')).status).toBe(200)
    const paths = ['/ui/api/session', '/ui/api/resources', '/ui/api/operator', '/ui/runtimes/worker/default/connectors']
    for (const path of [...paths, '/ui/%61pi/resources', '/ui/api/resources/', '/%75i/runtimes/worker/default/a']) {
      const none = await get(path)
      expect([path, none.status, none.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Bearer realm="kubernetes"',
      ])
      expect((await get(path, 'nobody')).status).toBe(401)
    }
    expect(await (await get('/ui/api/session', 'admin')).json()).toMatchObject({
      user: { name: 'admin' },
      hasResources: true,
      runtimes: [
        { kind: 'worker', name: 'default' },
        { kind: 'registry', name: 'default' },
      ],
    })
  })

  it('shows the resources that the user may list, and no others', async () => {
    const { get, cluster } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    cluster.apply('Subject', 'orders-value', { schema: '"int"' })
    const namesFor = async (token: string) =>
      ((await (await get('/ui/api/resources', token)).json()) as { name: string }[]).map(({ name }) => name)
    expect(await namesFor('admin')).toEqual(['orders-value', 'orders'])
    expect(await namesFor('viewer')).toEqual(['orders'])
    expect(await namesFor('stranger')).toEqual([])
    expect((await get('/ui/api/resources/Connector/default/orders', 'viewer')).status).toBe(200)
    const refused = await get('/ui/api/resources/Connector/default/orders', 'stranger')
    const missing = await get('/ui/api/resources/Connector/default/none', 'viewer')
    expect([refused.status, missing.status]).toEqual([404, 404])
    expect(await refused.text()).toBe((await missing.text()).replace('none', 'orders'))
  })

  it('passes requests on for users who may read the resources of a runtime, and changes for those who may update all', async () => {
    const { send, get, cluster, received } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    const sessionOf = async (token: string) =>
      ((await (await get('/ui/api/session', token)).json()) as { runtimes: object[] }).runtimes
    expect(await sessionOf('viewer')).toEqual([expect.objectContaining({ kind: 'worker', isReadOnly: true })])
    expect(await sessionOf('stranger')).toEqual([])
    const passOn = async (token: string, method: string, path: string) =>
      (await send(method, `/ui/runtimes/worker/default${path}`, { 'kubernetes-authorization': `Bearer ${token}` }))
        .status
    expect(await passOn('stranger', 'GET', '/connectors')).toBe(403)
    expect(await passOn('viewer', 'PUT', '/connectors/orders/pause')).toBe(403)
    expect(await passOn('viewer', 'PUT', '/connector-plugins/a%2Fb/config/validate')).toBe(403)
    expect(received).toEqual([])
    expect(await passOn('viewer', 'GET', '/connectors')).toBe(200)
    expect(await passOn('viewer', 'PUT', '/connector-plugins/a/config/validate')).toBe(200)
    expect(await passOn('admin', 'PUT', '/connectors/orders/pause')).toBe(200)
    expect(received.map(({ url }) => url)).toEqual([
      '/connectors',
      '/connector-plugins/a/config/validate',
      '/connectors/orders/pause',
    ])
  })

  it('passes requests that read records on only for users with the verb readrecords, however their paths are written', async () => {
    const { send, cluster, received } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    const passOn = async (token: string, path: string) =>
      (await send('GET', `/ui/runtimes/worker/default${path}`, { 'kubernetes-authorization': `Bearer ${token}` }))
        .status
    const paths = [
      '/ui/api/topics/orders/records',
      '/ui/api/topics/orders/records?from=end',
      '/ui/api/topics/orders/records/0/0',
      '/ui/api/topics/a%2Fb/%72ecords',
      '/%75i/api/topics/orders/%2572ecords',
      '/ui//api/topics/orders/records',
      '/ui/api/connectors/orders/dead-letters',
      '/ui/api/connectors/orders/dead%2dletters/0/0',
    ]
    for (const token of ['viewer', 'admin']) for (const path of paths) expect(await passOn(token, path)).toBe(403)
    expect(received).toEqual([])
    for (const path of paths) expect(await passOn('reader', path)).toBe(200)
    for (const path of [
      '/ui/api/topics',
      '/ui/api/topics/records',
      '/ui/api/topics/orders/groups',
      '/connectors/records',
    ])
      expect(await passOn('viewer', path)).toBe(200)
  })

  it('passes previews of connectors on only for users who may also change connectors, because they resolve placeholders', async () => {
    const { send, cluster, received } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    const passOn = async (token: string, path: string) =>
      (await send('POST', `/ui/runtimes/worker/default${path}`, { 'kubernetes-authorization': `Bearer ${token}` }))
        .status
    const paths = [
      '/ui/api/connectors/orders/preview',
      '/ui/api/connectors/orders/preview/',
      '/ui/api/connectors/a%2Fb/%70review?x=1',
      '/%75i//api/connectors/orders/%2570review',
    ]
    for (const token of ['viewer', 'reader', 'admin', 'stranger'])
      for (const path of paths) expect(await passOn(token, path)).toBe(403)
    expect(received).toEqual([])
    for (const path of paths) expect(await passOn('owner', path)).toBe(200)
    expect(await passOn('admin', '/ui/api/connectors/orders/dead-letters/replay')).toBe(200)
  })

  it('keeps browsers from running a response of a runtime as a page of the console', async () => {
    const { send, cluster } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    const headers = { 'kubernetes-authorization': 'Bearer viewer' }
    const response = await send('GET', '/ui/runtimes/worker/default/connectors', headers)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toBe('sandbox')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('sends the Kubernetes token of a user to no runtime', async () => {
    const { send, received } = await startTestConsole()
    await send('GET', '/ui/runtimes/worker/default/connectors', {
      'kubernetes-authorization': 'Bearer admin',
      authorization: 'Basic abc',
    })
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Basic abc'])
    expect(JSON.stringify(received[0]?.headers)).not.toContain('Bearer admin')
    // A Kubernetes token in the header of the runtime does not count.
    const wrong = await send('GET', '/ui/runtimes/worker/default/connectors', { authorization: 'Bearer admin' })
    expect([wrong.status, received.length]).toEqual([401, 1])
  })

  it('grants nothing that the API server cannot check, and asks it again after that', async () => {
    const { get, api } = await startTestConsole()
    api.isDown = true
    const failed = await get('/ui/api/resources', 'admin')
    expect(failed.status).toBe(503)
    expect(await failed.json()).toMatchObject({ message: expect.stringContaining('cannot check the permission') })
    api.isDown = false
    expect((await get('/ui/api/resources', 'admin')).status).toBe(200)
  })

  it('asks the API server again after half a minute, so that a removed permission ends', async () => {
    const { get, api, clock } = await startTestConsole()
    await get('/ui/api/session', 'admin')
    const first = api.reviews.length
    await get('/ui/api/session', 'admin')
    expect(api.reviews.length).toBe(first)
    await clock.advance(30_001)
    await get('/ui/api/session', 'admin')
    expect(api.reviews.length).toBe(2 * first)
  })

  it('serves HTTPS with a certificate, and with a renewed one without a restart', { tags: ['slow'] }, async () => {
    const directory = temporaryDirectory()
    const renew = async (name: string) => {
      const { cert, key } = await issueCertificate([name], Date.now())
      writeFileSync(join(directory, 'tls.key'), key)
      writeFileSync(join(directory, 'tls.crt'), cert)
    }
    await renew('first.example')
    const { url } = await startTestConsole({ listener: 'https://127.0.0.1:0', certificates: directory })
    const nameOf = async () => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { subjectaltname } = socket.getPeerCertificate()
      socket.destroy()
      return subjectaltname
    }
    expect(await nameOf()).toBe('DNS:first.example')
    await renew('second.example')
    await until(
      'the renewed certificate',
      { everyMs: 50, timeoutMs: 30_000 },
      async () => (await nameOf()) === 'DNS:second.example',
    )
  })

  it('asks the API server again after five seconds about what it denied, so that a granted permission begins', async () => {
    const { get, cluster, clock, permissions } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector())
    const shown = async () => (await (await get('/ui/api/resources', 'stranger')).json()) as readonly object[]
    expect(await shown()).toEqual([])
    permissions['stranger'] = ['list connectors default']
    expect(await shown()).toEqual([])
    await clock.advance(5_001)
    expect(await shown()).toHaveLength(1)
  })

  it('shows everything to everybody if users are not identified', async () => {
    const { get, cluster } = await startTestConsole({ isAnonymous: true })
    cluster.apply('Connector', 'orders', connector())
    expect(await (await get('/ui/api/resources')).json()).toHaveLength(1)
    expect(await (await get('/ui/api/session')).json()).toMatchObject({ user: null })
  })
})

describe('a declaration', () => {
  it('has the manifest with masked secrets, and the last comparison of the operator', async () => {
    const { get, cluster } = await startTestConsole()
    const config = { file: '/a', 'db.password': 'hunter2' }
    const key = cluster.apply('Connector', 'orders', connector({ config, driftPolicy: 'Report' }))
    const synced = { type: 'Synced', status: 'False', reason: 'Drifted', message: 'differs in file' } as const
    await cluster.writeStatus(key, {
      observedGeneration: 1,
      conditions: [{ ...synced, observedGeneration: 1, lastTransitionTime: '' }],
    })
    const response = await get('/ui/api/resources/Connector/default/orders', 'admin')
    const found = (await response.json()) as { manifest: string }
    expect(found).toMatchObject({
      isMasked: true,
      driftPolicy: 'Report',
      isSuspended: false,
      synced: { status: 'False', reason: 'Drifted', message: 'differs in file' },
    })
    expect(found.manifest).toMatch(new RegExp(`^apiVersion: ${API_VERSION}\nkind: Connector\n`))
    expect(found.manifest).toContain('db.password: "[hidden]"')
    expect(found.manifest).not.toContain('hunter2')
    expect(await (await get('/ui/api/resources', 'admin')).json()).toEqual([
      expect.objectContaining({ drift: 'differs in file', runtime: 'default', object: 'orders' }),
    ])
  })

  it('is compared with the configuration that the user has read, as reconcilers compare it', async () => {
    const { compare, cluster } = await startTestConsole()
    cluster.apply('Connector', 'orders', connector({ config: { file: '/a', 'db.password': 'hunter2' } }))
    const declared = {
      name: 'orders',
      'connector.class': 'FileStreamSource',
      'tasks.max': '2',
      file: '/a',
      'db.password': 'hunter2',
      'weir.owner': 'weir/default/orders',
    }
    expect(await compare('orders', declared)).toEqual({ differences: [], notCompared: [], missing: [] })
    expect(await compare('orders', { ...declared, 'tasks.max': ' 2', 'db.password': '[hidden]' })).toEqual({
      differences: [],
      notCompared: ['db.password'],
      missing: [],
    })
    const { file: _, ...without } = declared
    expect(await compare('orders', { ...without, topic: 't', 'db.password': 'other' })).toEqual({
      differences: [
        { key: 'db.password', declared: '[hidden]', running: '[hidden]' },
        { key: 'file', declared: '/a', running: null },
        { key: 'topic', declared: null, running: 't' },
      ],
      notCompared: [],
      missing: [],
    })
  })

  it('does not tell whether a guess of a value from a Secret is right', async () => {
    const { compare, cluster } = await startTestConsole({ allowsInlineSecrets: true })
    cluster.secrets.set('default/db', { password: 'hunter2' })
    const valuesFrom = [{ key: 'url', secretKeyRef: { name: 'db', key: 'password' }, resolve: 'Operator' }]
    cluster.apply('Connector', 'orders', connector({ config: {}, valuesFrom }))
    const running = { name: 'orders', 'connector.class': 'FileStreamSource', 'tasks.max': '2' }
    const [right, wrong] = [
      await compare('orders', { ...running, url: 'hunter2' }),
      await compare('orders', { ...running, url: 'wrong' }),
    ]
    expect(right).toEqual({ differences: [], notCompared: ['url'], missing: [] })
    expect(wrong).toEqual(right)
  })

  it('shows values from ConfigMaps only to users who may read ConfigMaps', async () => {
    const { get, compare, cluster, permissions } = await startTestConsole()
    permissions['viewer'] = ['list connectors default', 'list subjects default']
    cluster.configMaps.set('default/shared', { region: 'eu', topic: 'orders', schema: '"long"' })
    const configFrom = [{ configMapRef: { name: 'shared' } }]
    const valuesFrom = [{ key: 'zone', configMapKeyRef: { name: 'shared', key: 'region' } }]
    cluster.apply('Connector', 'orders', connector({ configFrom, valuesFrom, config: { file: '/a', topic: 'own' } }))
    const running = { name: 'orders', 'connector.class': 'FileStreamSource', 'tasks.max': '2', region: 'us' }
    const own = [
      { key: 'file', declared: '/a', running: null },
      { key: 'topic', declared: 'own', running: null },
    ]
    expect(await compare('orders', running, 'viewer')).toMatchObject({ differences: own, notCompared: ['region'] })
    expect(await compare('orders', running, 'admin')).toMatchObject({
      differences: [
        own[0],
        { key: 'region', declared: 'eu', running: 'us' },
        { key: 'schema', declared: '"long"', running: null },
        own[1],
        { key: 'zone', declared: 'eu', running: null },
      ],
      notCompared: [],
    })
    const schemaFrom = { configMapKeyRef: { name: 'shared', key: 'schema' } }
    cluster.apply('Subject', 'orders-value', { schemaFrom })
    const schemaFor = async (token: string) =>
      (await (await get('/ui/api/resources/Subject/default/orders-value', token)).json()) as { subject: object }
    expect((await schemaFor('viewer')).subject).toEqual({ schemaType: 'AVRO' })
    expect((await schemaFor('admin')).subject).toEqual({ schema: '"long"', schemaType: 'AVRO' })
  })
})

it('The state of the operator names its leader and the runtimes whose configuration is invalid', async () => {
  const { get } = await startTestConsole()
  expect(await (await get('/ui/api/operator', 'admin')).json()).toEqual({
    leadership: { identity: 'a', leader: 'b', isForbidden: false },
    isConfigValid: true,
    invalidRuntimes: [{ kind: 'worker', name: 'broken', error: 'url is missing' }],
  })
})
