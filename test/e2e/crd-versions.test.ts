import { beforeAll, expect, it } from 'vitest'
import {
  API_GROUP,
  API_VERSION,
  DEPRECATED_VERSIONS,
  deprecationWarning,
  STORED_VERSION,
} from '../../src/common/resource-api.ts'
import { type Kubernetes, startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { alphaDefinitions, type Definition, definitions } from '../support/alpha-definitions.ts'
import { runWeir } from '../support/cli.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { VALID_MANIFESTS } from '../support/manifests.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

const [ALPHA] = DEPRECATED_VERSIONS
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const APPLY = 'application/apply-patch+yaml'
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** One cluster that is upgraded: each test continues where the one before ended. */
describeOn([kubernetes], 'a cluster with objects of v1alpha1', () => {
  let control: Kubernetes
  let api: KubeApi
  beforeAll(async () => {
    control = await startKubernetes()
    api = kubeApi(control)
    return () => control.stop()
  })

  const send = async (...call: Parameters<KubeApi['send']>) => {
    const { status, body, warnings } = await api.send(...call)
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return { body, warnings }
  }
  const pathOf = (version: string, kind: string) =>
    `/apis/${API_GROUP}/${version}/namespaces/default/${kind.toLowerCase()}s`
  const install = (definition: Definition) =>
    api.send('PATCH', `${DEFINITIONS}/${definition.metadata.name}?fieldManager=helm&force=true`, definition, APPLY)
  const isServed = (version: string) =>
    until(`${version} to be served`, WAIT, async () => {
      const kinds = ['Connector', 'Subject', 'RegistryMode']
      const answers = await Promise.all(kinds.map((kind) => api.send('GET', pathOf(version, kind))))
      return answers.every(({ status }) => status === 200)
    })
  /** The identity, the spec and the status of all objects, without their API version and its bookkeeping. */
  const objects = async (version: string) => {
    const lists = await Promise.all(
      ['Connector', 'Subject', 'RegistryMode'].map((kind) => send('GET', pathOf(version, kind))),
    )
    return lists.flatMap(({ body }) =>
      (body['items'] as readonly StoredObject[]).map(({ metadata: { name, uid, generation }, spec, status }) => {
        return { name, uid, generation, spec, status }
      }),
    )
  }
  const storedVersions = async () => {
    const all = await Promise.all(definitions().map(({ metadata: { name } }) => send('GET', `${DEFINITIONS}/${name}`)))
    return all.map(({ body }) => (body['status'] as { storedVersions: readonly string[] }).storedVersions)
  }
  /** The status as the operator writes it, in one of the versions. */
  const writeStatus = (version: string, status: object) =>
    send(
      'PATCH',
      `${pathOf(version, 'Subject')}/written/status?fieldManager=weir-operator&force=true`,
      { apiVersion: `${API_GROUP}/${version}`, kind: 'Subject', metadata: { name: 'written' }, status },
      APPLY,
    )

  it('keeps them when the definitions of this version are installed', async () => {
    for (const definition of alphaDefinitions()) expect((await install(definition)).status).toBe(201)
    await isServed(ALPHA)
    for (const [at, { resource }] of VALID_MANIFESTS.entries()) {
      const manifest = { ...resource, apiVersion: `${API_GROUP}/${ALPHA}`, metadata: { name: `manifest-${at}` } }
      await send('POST', pathOf(ALPHA, resource.kind), manifest)
    }
    const subject = { apiVersion: `${API_GROUP}/${ALPHA}`, kind: 'Subject', spec: { schema: '"int"' } }
    await send('POST', pathOf(ALPHA, 'Subject'), { ...subject, metadata: { name: 'written' } })
    await writeStatus(ALPHA, { observedGeneration: 1, id: 7, version: 2 })
    const before = await objects(ALPHA)
    for (const definition of definitions()) expect((await install(definition)).status).toBe(200)
    await isServed(STORED_VERSION)
    expect(await objects(STORED_VERSION)).toEqual(before)
    expect(await objects(ALPHA)).toEqual(before)
    expect(await storedVersions()).toEqual(definitions().map(() => [ALPHA, STORED_VERSION]))
  })

  it.each(VALID_MANIFESTS)('accepts old manifests with a deprecation warning only: $what', async ({ resource }) => {
    const old = { ...resource, apiVersion: `${API_GROUP}/${ALPHA}` }
    const query = '?dryRun=All&fieldValidation=Strict'
    const { body, warnings } = await send('POST', `${pathOf(ALPHA, resource.kind)}${query}`, old)
    expect(warnings).toEqual([deprecationWarning(`${API_GROUP}/${ALPHA}`)])
    const current = await send('POST', `${pathOf(STORED_VERSION, resource.kind)}${query}`, resource)
    expect(current.warnings).toEqual([])
    expect(body['spec']).toEqual(current.body['spec'])
  })

  it('has one status for operators of both versions: a field that either no longer applies is removed', async () => {
    const status = async () => (await send('GET', `${pathOf(STORED_VERSION, 'Subject')}/written`)).body['status']
    await writeStatus(STORED_VERSION, { observedGeneration: 1, id: 7, latestVersion: 3 })
    expect(await status()).toEqual({ observedGeneration: 1, id: 7, latestVersion: 3 })
    await writeStatus(ALPHA, { observedGeneration: 1, version: 2 })
    expect(await status()).toEqual({ observedGeneration: 1, version: 2 })
  })

  it('refuses the older definitions, which could not read what is stored', async () => {
    const before = await objects(STORED_VERSION)
    for (const definition of alphaDefinitions()) {
      const { status, body } = await install(definition)
      expect(status).toBe(422)
      expect(String(body['message'])).toMatch(/status\.storedVersions.*v1beta1.*spec\.versions/)
    }
    expect(await objects(ALPHA)).toEqual(before)
  })

  it('stores all objects in the current version after weir crds --migrate, so that the old one can be removed', async () => {
    const before = await objects(STORED_VERSION)
    const withoutAlpha = definitions().map(({ spec, ...definition }) => ({
      ...definition,
      spec: { ...spec, versions: spec.versions.filter(({ name }) => name === STORED_VERSION) },
    }))
    for (const definition of withoutAlpha) expect((await install(definition)).status).toBe(422)
    const migrate = () => runWeir(temporaryDirectory(), 'crds', '--migrate', '--kubeconfig', control.kubeconfig)
    const { code, stdout, stderr } = await migrate()
    expect(code, stderr).toBe(0)
    expect(stdout.trim().split('\n')).toEqual(
      definitions().map(({ metadata: { name } }) =>
        expect.stringMatching(new RegExp(`^${name}: \\d+ objects? written, and all are stored as ${STORED_VERSION}$`)),
      ),
    )
    expect(await storedVersions()).toEqual(definitions().map(() => [STORED_VERSION]))
    expect((await migrate()).stdout).toContain(`all objects were stored as ${STORED_VERSION}`)
    for (const definition of withoutAlpha) expect((await install(definition)).status).toBe(200)
    await isServed(STORED_VERSION)
    expect(await objects(STORED_VERSION)).toEqual(before)
    expect((await send('GET', `${pathOf(STORED_VERSION, 'Subject')}/written`)).body['apiVersion']).toBe(API_VERSION)
  })

  it('refuses to migrate to a version that the definitions do not store', async () => {
    for (const { metadata } of definitions()) await send('DELETE', `${DEFINITIONS}/${metadata.name}`)
    await until('the definitions to be deleted', WAIT, async () => {
      const answers = await Promise.all(
        definitions().map(({ metadata }) => api.send('GET', `${DEFINITIONS}/${metadata.name}`)),
      )
      return answers.every(({ status }) => status === 404)
    })
    for (const definition of alphaDefinitions()) expect((await install(definition)).status).toBe(201)
    const { code, stderr } = await runWeir(
      temporaryDirectory(),
      'crds',
      '--migrate',
      '--kubeconfig',
      control.kubeconfig,
    )
    expect(code).toBe(1)
    expect(stderr).toContain('stores v1alpha1, not v1beta1: install the definitions of this version first')
  })
})

type StoredObject = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number }
  readonly spec: object
  readonly status: object
}
