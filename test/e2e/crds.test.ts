import { beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { crdFiles } from '../../src/operator/crd-files.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'
import { RESOURCE_KINDS } from '../../src/operator/resources/resource.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { boundaryCasesOf } from '../support/crd-bounds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { IMMUTABLE_FIELD_CHANGES, INVALID_MANIFESTS, type Manifest, VALID_MANIFESTS } from '../support/manifests.ts'
import { until } from '../support/until.ts'

const GROUP = `/apis/${API_VERSION}/namespaces/default`
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WAIT = { everyMs: 20, timeoutMs: 120_000 }

const kubernetes = await real('kubernetes')

/** A control plane of this file's own: the definitions are made here, and by nobody before. */
describeOn([kubernetes], 'the CRDs on a real API server', () => {
  let api: KubeApi

  beforeAll(async () => {
    const control = await startKubernetes()
    api = kubeApi(control)
    for (const { text } of crdFiles()) {
      const definition = parse(text) as { metadata: { name: string }; spec: { names: { plural: string } } }
      const { status, body } = await api.send('POST', CRDS, definition)
      expect(status, JSON.stringify(body)).toBe(201)
      await until('the definition', WAIT, async () => {
        const list = await api.send('GET', `${GROUP}/${definition.spec.names.plural}`)
        return list.status === 200
      })
    }
    return () => control.stop()
  })

  const create = (resource: Manifest) =>
    api.send('POST', `${GROUP}/${resource.kind.toLowerCase()}s?dryRun=All&fieldValidation=Strict`, resource)

  it.each(VALID_MANIFESTS)('accept what the operator accepts: $what', async ({ resource }) => {
    expect(parseResource(resource).errors).toEqual([])
    const { status, body } = await create(resource)
    expect(status, JSON.stringify(body)).toBe(201)
    // Its defaults are ours.
    const declared = parseResource(resource).declared!
    expect(body['spec']).toEqual(JSON.parse(JSON.stringify(declared.spec)))
    expect(body['status']).toEqual({ observedGeneration: -1 })
  })

  it.each(INVALID_MANIFESTS)('refuse what the operator refuses: $what', async ({ resource, message }) => {
    const ours = parseResource(resource).errors.map((fault) => fault.message)
    expect(ours.join('\n')).toMatch(message)
    const { status, body } = await create(resource)
    expect([400, 422], JSON.stringify(body)).toContain(status)
    expect(String(body['message'])).toMatch(message)
  })

  it.each(RESOURCE_KINDS)('judge each field of a %s at its bounds and past them as we do', async (kind) => {
    const { at, past } = boundaryCasesOf(kind)
    const otherwise: string[] = []
    for (const { what, resource } of at) {
      const { status, body } = await create(resource)
      if (status !== 201) otherwise.push(`${what}: ${body['message']}`)
    }
    for (const { what, resource, field } of past) {
      const { status, body } = await create(resource)
      const message = String(body['message'])
      if ((status !== 400 && status !== 422) || !message.includes(field))
        otherwise.push(`${what}: ${status} ${message}`)
    }
    expect(otherwise).toEqual([])
  })

  it.each(IMMUTABLE_FIELD_CHANGES)('refuse changes of the immutable field $field', async ({ before, after, field }) => {
    const name = `moved-${field.toLowerCase()}`
    const first = { ...before, metadata: { name } }
    const plural = `${first.kind.toLowerCase()}s`
    expect((await api.send('POST', `${GROUP}/${plural}`, first)).status).toBe(201)
    const patch = { spec: after }
    const { status, body } = await api.send(
      'PATCH',
      `${GROUP}/${plural}/${name}`,
      patch,
      'application/merge-patch+json',
    )
    expect(status).toBe(422)
    expect(String(body['message'])).toContain(`${field} is immutable`)
  })
})
