import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { installCrds } from '../support/crds.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { logOf, startOperatorWith, type Verb } from '../support/operator-process.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

// All tests of the operator run with the generated permissions, so these suffice. This file tests that each is necessary.
describeOn([kubernetes], 'an operator without the permission', () => {
  let api: KubeApi
  let runtimes: readonly string[]

  beforeAll(async () => {
    api = kubeApi(kubernetes.address)
    await installCrds(api)
    const registry = await startRegistryProcess(['--data', join(partDirectory('registry'), 'data')], {})
    runtimes = ['--registry', registry.url, '--worker', 'http://127.0.0.1:1']
    return () => registry.kill()
  })

  /** A Subject with its schema in a ConfigMap, and with a finalizer. */
  async function declared() {
    const place = await createTestNamespace(api)
    const configMaps = `/api/v1/namespaces/${place.namespace}/configmaps`
    await api.send('POST', configMaps, { metadata: { name: 'schemas' }, data: { user: '"int"' } })
    const schemaFrom = { configMapKeyRef: { name: 'schemas', key: 'user' } }
    await place.apply('Subject', 'user', { subject: place.namespace, schemaFrom, deletionPolicy: 'SoftDelete' })
    return place
  }

  const complains = (log: string, { verb, resource }: Verb) => log.includes(`cannot ${verb} resource \\"${resource}\\"`)

  it.each([
    { verb: 'watch', resource: 'subjects' },
    { verb: 'watch', resource: 'configmaps' },
    { verb: 'patch', resource: 'subjects' },
    { verb: 'patch', resource: 'subjects/status' },
    { verb: 'create', resource: 'leases' },
    { verb: 'get', resource: 'leases' },
    { verb: 'update', resource: 'leases' },
  ])('to $verb $resource logs it', async (withheld) => {
    const { namespace } = await declared()
    const operator = await startOperatorWith(runtimes, kubernetes.address, namespace, withheld)
    await until(`a complaint that it may not ${withheld.verb} ${withheld.resource}`, WAIT, () =>
      complains(logOf(operator), withheld),
    )
  })

  it.each([
    { verb: 'list', resource: 'subjects' },
    { verb: 'list', resource: 'configmaps' },
  ])('to $verb $resource does not start', async (withheld) => {
    const { namespace } = await declared()
    const starting = startOperatorWith(runtimes, kubernetes.address, namespace, withheld)
    const failed = await starting.then(String, (error: Error) => error.message)
    expect(failed).toContain('weir operator died')
    expect(failed).toContain(`cannot ${withheld.verb} resource`)
  })

  it('to get configmaps reports it in the status of the resource', async () => {
    const { namespace, condition, object } = await declared()
    await startOperatorWith(runtimes, kubernetes.address, namespace, { verb: 'get', resource: 'configmaps' })
    await condition('subjects', 'user', 'Stalled', 'True/Forbidden')
    const { status } = await object('subjects', 'user')
    expect(status?.conditions.find(({ type }) => type === 'Ready')?.message).toContain(
      'cannot get resource "configmaps"',
    )
  })

  it.each(['create', 'patch'])('to %s events continues without Events', async (verb) => {
    const { namespace, condition, events } = await declared()
    const operator = await startOperatorWith(runtimes, kubernetes.address, namespace, { verb, resource: 'events' })
    onTestFinished(() => operator.kill())
    await condition('subjects', 'user', 'Ready', 'True/Succeeded')
    await operator.stop()
    expect(await events('user')).toEqual(verb === 'create' ? [] : ['Registered by weir.dev/operator'])
  })
})
