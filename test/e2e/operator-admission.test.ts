import { X509Certificate } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { API, installCrds } from '../support/crds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { startOperator, startOperatorWith } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'the admission webhook of a real API server', () => {
  let control: Kubernetes
  let api: KubeApi

  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    await installCrds(api)
    return () => control.stop()
  })

  /** Starts an operator and waits until the API server calls its webhook. */
  async function startWithWebhook({
    more = [],
    namespace,
  }: {
    readonly more?: readonly string[]
    readonly namespace?: string
  } = {}) {
    const testNamespace = await createTestNamespace(api, namespace)
    const listener = `https://127.0.0.1:${await freePort()}`
    const operator = await startOperator(control, testNamespace.namespace, ['--webhook', listener, ...more])
    // The API server calls the webhook only after it has observed the configuration.
    await until('the webhook to deny an invalid Subject', WAIT, async () => {
      const { status } = await testNamespace.tryApply('Subject', 'probe', { schema: 'no schema' }, { dryRun: true })
      return status === 422
    })
    return { ...testNamespace, ...operator }
  }

  it('denies an incompatible Subject in a dry run, with the violated rule, the version and the path', async () => {
    const { apply, tryApply, condition, registryUrl } = await startWithWebhook()
    await apply('Subject', 'user', { schema: record([]), compatibility: 'BACKWARD' })
    await condition('subjects', 'user', 'Ready', 'True/Succeeded')
    const wrong = { schema: record([{ name: 'email', type: 'string' }]), compatibility: 'BACKWARD' }
    const refused = await tryApply('Subject', 'user', wrong, { dryRun: true })
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ reason: 'Incompatible' })
    expect(refused.body['message']).toContain('version 1: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: ')
    const right = { schema: record([{ name: 'email', type: 'string', default: '' }]), compatibility: 'BACKWARD' }
    expect((await tryApply('Subject', 'user', right, { dryRun: true })).status).toBe(200)
    expect(await createRegistryClient({ url: registryUrl }).versions('user')).toEqual([1])
  })

  it('denies what a reconcile would report as Stalled, with the same reason', async () => {
    const { apply, tryApply, condition } = await startWithWebhook()
    const refusal = async (kind: string, name: string, spec: object) => {
      const { status, body } = await tryApply(kind, name, spec)
      return status === 422 ? `${body['reason']}: ${body['message']}` : status
    }
    const datagen = { class: 'Datagen', config: { 'kafka.topic': 'orders', quickstart: 'orders' } }
    expect(await refusal('Connector', 'c', { ...datagen, config: { quickstart: 'orders' } })).toMatch(
      /^ConfigInvalid: .*kafka\.topic: Missing required/s,
    )
    expect(await refusal('Connector', 'c', { ...datagen, class: 'Datagem' })).toMatch(/^PluginNotFound: .*Datagem/)

    await apply('Connector', 'first', { ...datagen, name: 'orders' })
    await condition('connectors', 'first', 'Ready', 'True/Succeeded')
    expect(await refusal('Connector', 'second', { ...datagen, name: 'orders' })).toMatch(
      /^Conflict: .*managed by Connector .*\/first/,
    )

    await apply('Subject', 'a', refersTo('b'))
    expect(await refusal('Subject', 'b', refersTo('a'))).toMatch(/^ReferenceCycle: .*b → a → b/)

    await apply('Subject', 'taken', { schema: '"int"' })
    await condition('subjects', 'taken', 'Ready', 'True/Succeeded')
    const entering = { scope: { type: 'Subject', subject: 'taken' }, mode: 'IMPORT' }
    expect(await refusal('RegistryMode', 'm', entering)).toMatch(/^ScopeNotEmpty: /)
  })

  /** An editor and an administrator of a namespace, with the roles of `weir crds --rbac`. */
  async function people(namespace: string) {
    /** A user with this role of `weir crds --rbac` in the namespace. */
    const person = async (role: string) => {
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
      await api.send('POST', accounts, { metadata: { name: role } })
      await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name: role },
        subjects: [{ kind: 'ServiceAccount', name: role, namespace }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      })
      const { body } = await api.send('POST', `${accounts}/${role}/token`, { spec: {} })
      return kubeApi({ ...control, token: (body['status'] as { token: string }).token })
    }
    const [editor, admin] = [await person('weir-edit'), await person('weir-admin')]
    // An administrator has the role of an editor, too.
    await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'admin-edits' },
      subjects: [{ kind: 'ServiceAccount', name: 'weir-admin', namespace }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'weir-edit' },
    })
    const subjects = `${API}/namespaces/${namespace}/subjects`
    const declare = (by: KubeApi, name: string, deletionPolicy: string, finalizers: readonly string[] = []) =>
      by.send('POST', subjects, {
        apiVersion: API_VERSION,
        kind: 'Subject',
        metadata: { name, finalizers },
        spec: { schema: '"int"', deletionPolicy },
      })
    await until('the editor to be known', WAIT, async () => (await declare(editor, 'a', 'SoftDelete')).status !== 403)
    return { editor, admin, declare, subjects }
  }

  it('allows deletionPolicy HardDelete only to users with the verb harddelete', async () => {
    const { namespace } = await startWithWebhook()
    const { editor, admin, declare } = await people(namespace)
    const refused = await declare(editor, 'b', 'HardDelete')
    expect(refused.status).toBe(403)
    expect(refused.body['message']).toContain('needs the verb harddelete on subjects.weir.dev')
    expect((await declare(admin, 'c', 'HardDelete')).status).toBe(201)
  })

  it('allows the deletion of a HardDelete Subject only to users with the verb harddelete, and to nobody while the operator does not run', async () => {
    const { namespace, program } = await startWithWebhook()
    const { editor, admin, declare, subjects } = await people(namespace)
    for (const name of ['one', 'two']) expect((await declare(admin, name, 'HardDelete')).status).toBe(201)
    const deletionOf = async (name: string) =>
      ((await api.send('GET', `${subjects}/${name}`)).body['metadata'] as { deletionTimestamp?: string } | undefined)
        ?.deletionTimestamp
    const needed = 'needs the verb harddelete on subjects.weir.dev'
    // `kubectl delete` and `replace --force` send this; `delete --all` sends the other one.
    const refused = await editor.send('DELETE', `${subjects}/one`)
    expect([refused.status, refused.body['message']]).toEqual([403, expect.stringContaining(needed)])
    expect((await editor.send('DELETE', subjects)).body['message']).toContain(needed)
    expect([await deletionOf('one'), await deletionOf('two')]).toEqual([undefined, undefined])

    // An edit during the deletion cannot make it delete more.
    expect((await declare(editor, 'going', 'SoftDelete', ['example.com/hold'])).status).toBe(201)
    expect((await editor.send('DELETE', `${subjects}/going`)).status).toBe(200)
    const change = (what: object) => editor.send('PATCH', `${subjects}/going`, what, 'application/merge-patch+json')
    const changed = await change({ spec: { deletionPolicy: 'HardDelete' } })
    expect([changed.status, changed.body['message']]).toEqual([403, expect.stringContaining(needed)])
    expect((await change({ metadata: { finalizers: [] } })).status).toBe(200)

    expect((await admin.send('DELETE', `${subjects}/one`)).status).toBe(200)
    await until('the Subject to be gone', WAIT, async () => (await api.send('GET', `${subjects}/one`)).status === 404)
    await program.stop()
    expect((await admin.send('DELETE', `${subjects}/two`)).status).toBe(500)
    expect(await deletionOf('two')).toBeUndefined()
  })

  it('allows with a warning what depends on resources that do not exist yet', async () => {
    const { tryApply, namespace } = await startWithWebhook()
    const early = await tryApply('Subject', 'early', refersTo('later'))
    expect(early).toMatchObject({
      status: 201,
      warnings: [`ReferencePending: there is no Subject later in namespace ${namespace}`],
    })
  })

  it('does not check a suspended resource until it is resumed', async () => {
    const { tryApply } = await startWithWebhook()
    const suspended = { schema: 'no schema', suspend: true }
    expect((await tryApply('Subject', 'resting', suspended)).status).toBe(201)
    expect((await tryApply('Subject', 'resting', { schema: 'no schema' })).status).toBe(422)
  })

  it('allows every resource while the webhook is unavailable, and later changes of their labels', async () => {
    const { tryApply, program, namespace } = await startWithWebhook()
    await program.kill()
    expect((await tryApply('Subject', 'unjudged', { schema: 'no schema' })).status).toBe(201)
    await startWithWebhook({ namespace })
    const path = `${API}/namespaces/${namespace}/subjects/unjudged`
    const label = (spec: object) =>
      api.send('PATCH', path, { metadata: { labels: { team: 'a' } }, ...spec }, 'application/merge-patch+json')
    expect((await label({})).status).toBe(200)
    expect((await label({ spec: { schema: 'still none' } })).status).toBe(422)
  })

  it('allows with a warning what it cannot check because a runtime is unavailable', async () => {
    const { namespace, tryApply } = await createTestNamespace(api)
    const [listener, nowhere] = [`https://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
    await startOperatorWith(['--webhook', listener, '--registry', nowhere, '--worker', nowhere], control, namespace)
    const of = { Subject: { schema: 'no schema' }, Connector: { class: 'Nothing', config: {} } }
    for (const [kind, spec] of Object.entries(of)) {
      await until(`a warning about a ${kind}`, WAIT, async () => {
        const { status, warnings } = await tryApply(kind, 'unjudged', spec, { dryRun: true })
        return status === 201 && warnings.some((text) => text.startsWith('allowed without validation: '))
      })
    }
  })

  it('issues a certificate, which the next process uses too', async () => {
    const { namespace, program } = await startWithWebhook()
    const first = await bundle(api, namespace)
    expect(new X509Certificate(first).ca).toBe(true)
    await program.kill()
    await startWithWebhook({ namespace })
    expect(await bundle(api, namespace)).toBe(first)
  })

  it('serves TLS with a certificate read from files', async () => {
    const directory = temporaryDirectory()
    for (const name of ['tls.crt', 'ca.crt']) copyFileSync(control.tls.certFile, join(directory, name))
    copyFileSync(control.tls.keyFile, join(directory, 'tls.key'))
    const { namespace } = await startWithWebhook({ more: ['--webhook-certificates', directory] })
    expect((await bundle(api, namespace)).trim()).toBe(control.ca.trim())
  })
})

/** The CA that the API server trusts for the webhook of this installation. */
async function bundle(api: KubeApi, namespace: string): Promise<string> {
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const { body } = await api.send('GET', `${configurations}/weir-${namespace}`)
  const [webhook] = body['webhooks'] as { clientConfig: { caBundle: string } }[]
  return Buffer.from(webhook?.clientConfig.caBundle ?? '', 'base64').toString()
}

const refersTo = (name: string) => ({ schema: '"int"', references: [{ name: 'r', subjectRef: { name } }] })

function record(fields: readonly object[]): string {
  return JSON.stringify({ type: 'record', name: 'User', fields })
}
