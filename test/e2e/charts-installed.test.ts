import { beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type KubernetesAddress, startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { helmIn, type Release, runRelease } from '../support/chart-release.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { runLua } from '../support/lua.ts'
import { type Sandbox, startSandbox } from '../support/sandbox.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'

const [helm, kubernetes, sandboxes] = [await real('helm'), await real('kubernetes'), await real('sandbox')]
const NAMESPACE = 'weir'
const VALUES = { kafka: { embedded: { enabled: true } }, argocd: { enabled: true } }

type Health = { readonly status: string; readonly message: string }
type Customizations = Readonly<Record<string, string>>

/** One release through its life: each test goes on where the one before left it. */
describeOn([helm, kubernetes, sandboxes], 'the installed chart', () => {
  let address: KubernetesAddress
  let api: KubeApi
  let sandbox: Sandbox
  let release: Release
  let weir: ReturnType<typeof helmIn>
  let place: Awaited<ReturnType<typeof createTestNamespace>>
  let customizations: Customizations

  beforeAll(async () => {
    const control = await startKubernetes()
    address = control
    api = kubeApi(address)
    sandbox = await startSandbox(sandboxes.address)
    await sandbox.offer(Number(new URL(address.url).port))
    release = runRelease({ name: 'weir', namespace: NAMESPACE, address }, sandbox)
    weir = helmIn(NAMESPACE, helm.address.file, address)
    return async () => {
      await release.stop()
      await sandbox.stop()
      await control.stop()
    }
  })

  const healthOf = async (plural: string, name: string): Promise<Health> => {
    const object = (await place.object(plural, name)) as unknown as { readonly kind: string }
    return runLua(customizations[`resource.customizations.health.weir.dev_${object.kind}`]!, object)
  }

  it('installs an operator that works with the settings and privileges of its Deployment', async () => {
    await weir.call('install', 'weir', 'weir', '--create-namespace', ...weir.values(VALUES))
    await release.settled('operator')
    expect(release.logOf('weir-operator-0')).not.toMatch(/forbidden|EROFS|EACCES/i)
    const { body } = await sandbox.ask(8080, '/metrics')
    expect(body).toContain('kafka_connect_worker_metrics_connector_count')
    expect(body).toContain('kafka_schema_registry_master_slave_role')
  })

  it('passes helm test', async () => {
    expect(await weir.call('test', 'weir', '--timeout', '3m')).toContain('Phase:          Succeeded')
    expect(release.logOf('weir-test').trim().split('\n')).toEqual([
      'ok no Subject remains of an earlier test',
      'ok the Subject is Ready',
      'ok the registry has the subject',
      'ok the Subject is deleted',
      'ok the registry no longer has the subject',
    ])
  })

  it('reports the health of resources to Argo CD', async () => {
    const metadata = { name: 'weir-argocd', namespace: NAMESPACE }
    const found = await release.resources.get<{ data: Customizations }>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    })
    customizations = found!.data
    place = await createTestNamespace(api, NAMESPACE)
    await place.apply('Subject', 'orders-value', { schema: '{"type": "string"}' })
    await place.apply('Subject', 'bad-value', { schema: '{"type": "strong"}' })
    await place.apply('Connector', 'orders', {
      class: 'Datagen',
      config: { 'kafka.topic': 'orders', quickstart: 'orders' },
    })
    await place.apply('Connector', 'asleep', { class: 'Datagen', suspend: true })
    await place.apply('RegistryMode', 'frozen', { scope: { type: 'Subject', subject: 'archive' }, mode: 'READONLY' })
    const becomes = async (plural: string, name: string, wanted: string) => {
      let seen: Health | undefined
      await until(`${name} to be ${wanted}`, WAIT, async () => {
        seen = await healthOf(plural, name)
        return seen.status === wanted
      }).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(seen)}`)
      })
      return seen!.message
    }
    await becomes('subjects', 'orders-value', 'Healthy')
    await becomes('connectors', 'orders', 'Healthy')
    await becomes('registrymodes', 'frozen', 'Healthy')
    await becomes('connectors', 'asleep', 'Suspended')
    expect(await becomes('subjects', 'bad-value', 'Degraded')).toContain('SchemaInvalid')
  })

  it('provides actions for Argo CD', async () => {
    type Object = { readonly metadata: object; readonly spec: object }
    const path = `/apis/${API_VERSION}/namespaces/${NAMESPACE}/connectors/orders`
    const { 'discovery.lua': discovery, definitions } = parse(
      customizations['resource.customizations.actions.weir.dev_Connector']!,
    ) as { 'discovery.lua': string; definitions: readonly { name: string; 'action.lua': string }[] }
    const now = async () => (await api.send('GET', path)).body as unknown as Object
    const act = async (name: string) => {
      const changed = await runLua<Object>(definitions.find((each) => each.name === name)!['action.lua'], await now())
      // Argo CD sends what has changed.
      const patch = {
        metadata: { annotations: (changed.metadata as { annotations?: object }).annotations },
        spec: changed.spec,
      }
      const { status, body } = await api.send('PATCH', path, patch, 'application/merge-patch+json')
      expect(status, JSON.stringify(body)).toBe(200)
    }
    const isOff = async () => {
      const actions = await runLua<Record<string, { disabled: boolean }>>(discovery, await now())
      return Object.keys(actions)
        .filter((name) => actions[name]!.disabled)
        .toSorted()
    }
    expect(definitions.map(({ name }) => name).toSorted()).toEqual([
      'pause',
      'reconcile',
      'restart',
      'restart-failed',
      'resume',
      'stop',
    ])
    expect(await isOff()).toEqual(['restart-failed', 'resume'])
    await act('restart')
    await until(
      'the restart',
      WAIT,
      async () => 'lastHandledRestart' in ((await place.object('connectors', 'orders')).status ?? {}),
    )
    await act('stop')
    await until('the stop', WAIT, async () => {
      const { status } = (await place.object('connectors', 'orders')) as { status?: { state?: string } }
      return status?.state === 'STOPPED'
    })
    expect(await isOff()).toEqual(['restart', 'restart-failed', 'stop'])
    await act('resume')
    await place.condition('connectors', 'orders', 'Ready', 'True/Succeeded')
  })

  it('keeps all resources during upgrade, rollback, uninstall and the next installation', async () => {
    const identities = async () => {
      const all = await Promise.all(
        ['connectors', 'subjects', 'registrymodes'].map(async (plural) => {
          const { body } = await api.send('GET', `/apis/${API_VERSION}/namespaces/${NAMESPACE}/${plural}`)
          const items = body['items'] as readonly { metadata: { name: string; uid: string }; spec: object }[]
          return items.map(({ metadata: { name, uid }, spec }) => ({ name, uid, spec }))
        }),
      )
      return all.flat()
    }
    const before = await identities()
    expect(before.map(({ name }) => name)).toEqual(['asleep', 'orders', 'bad-value', 'orders-value', 'frozen'])
    const changed = { ...VALUES, watchNamespaces: ['*'], operator: { offsetsExport: true } }
    await weir.call('upgrade', 'weir', 'weir', ...weir.values(changed))
    await release.settled('operator')
    await place.condition('subjects', 'orders-value', 'Ready', 'True/Succeeded')
    expect(await identities()).toEqual(before)
    await weir.call('rollback', 'weir', '1')
    await release.settled('operator')
    expect(await identities()).toEqual(before)
    await weir.call('uninstall', 'weir')
    expect(await identities()).toEqual(before)
    const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/weir-weir'
    expect((await api.send('GET', webhooks)).status).toBe(404)
    await weir.call('install', 'weir', 'weir', ...weir.values(VALUES))
    await release.settled('operator')
    expect(await identities()).toEqual(before)
  })
})
