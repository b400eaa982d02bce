import { beforeAll, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseProperties } from '../../src/config/properties.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { describeOn, real } from '../env/real.ts'
import { INVALID_VALUES, KAFKA, VALID_VALUES } from '../support/chart-values.ts'
import { type Helm, helmAt, type Rendered } from '../support/helm.ts'
import { kubeApi } from '../support/kube-api.ts'
import { type KubeResources, kubeResources } from '../support/kube-resources.ts'
import { thirdPartyCrds } from '../support/third-party-crds.ts'

const helm = await real('helm')
const kubernetes = await real('kubernetes')

type Rule = { readonly resources?: readonly string[] }

describeOn([helm], 'the charts', () => {
  const charts = helmAt(helm.address.file)

  it.each(Object.entries(VALID_VALUES))('pass helm lint with the values %s', async (_, values) => {
    const { code, stdout } = await charts.call(['lint', 'weir', '--strict', '--values', charts.valuesFile(values)])
    expect(code, stdout).toBe(0)
  })

  it('of the CRDs pass helm lint', async () => {
    const { code, stdout } = await charts.call(['lint', 'weir-crds', '--strict'])
    expect(code, stdout).toBe(0)
  })

  it.each(INVALID_VALUES)('are rejected with the values %j', async (values, reason) => {
    await expect(charts.render(values)).rejects.toThrow(reason)
  })

  it("select the operator's pods by labels that do not depend on the version", async () => {
    const versions = await Promise.all(['1.0.0', '2.0.0'].map((tag) => charts.render({ ...KAFKA, image: { tag } })))
    const selectors = versions.map((objects) => objects.find(({ kind }) => kind === 'Deployment')?.spec?.['selector'])
    expect(selectors[0]).toEqual(selectors[1])
    expect(JSON.stringify(selectors[0])).not.toMatch(/version|chart/)
  })

  it('grant access to namespaces only if an entry needs their labels or deletion, and only to watched namespaces', async () => {
    const entry = { name: 'java', url: 'http://connect:8083' }
    const seen = async (more: object, watchNamespaces: readonly string[] = ['*']) => {
      const operator = { workers: [{ ...entry, ...more }] }
      const objects = await charts.render({ ...KAFKA, watchNamespaces, operator })
      return objects
        .flatMap((object) => (object as unknown as { rules?: readonly Rule[] }).rules ?? [])
        .filter(({ resources }) => resources?.includes('namespaces'))
    }
    const rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }
    const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }
    expect(await seen({})).toEqual([])
    expect(await seen({ onUnreachableDelete: 'Abandon', abandonAfter: '2h' })).toEqual([])
    expect(await seen({ onUnreachableDelete: 'Abandon' })).toEqual([rule])
    expect(await seen({ allowedNamespaces })).toEqual([rule])
    const named = [{ ...rule, resourceNames: ['shop', 'orders'] }]
    expect(await seen({ allowedNamespaces }, ['shop', 'orders'])).toEqual(named)
  })

  it('serve the console, and permit the operator to identify its users, only if it is enabled', async () => {
    const rendered = async (values: object) => {
      const objects = await charts.render({ ...KAFKA, ...values })
      const reviews = objects
        .flatMap((object) => (object as unknown as { rules?: readonly Rule[] }).rules ?? [])
        .flatMap(({ resources = [] }) => resources.filter((name) => name.endsWith('reviews')))
      const services = objects.filter(({ kind, metadata }) => kind === 'Service' && metadata.name === 'weir-console')
      const [operator] = objects.flatMap(podTemplates)
      const { args = [] } = operator!.spec.containers[0] as { readonly args?: readonly string[] }
      return { reviews, services: services.length, args: args.filter((arg) => arg.startsWith('--console')) }
    }
    const webhook = { enabled: false }
    const listener = '--console=http://0.0.0.0:8082'
    expect(await rendered({ webhook })).toEqual({ reviews: [], services: 0, args: [] })
    const both = ['subjectaccessreviews', 'tokenreviews']
    const console = { enabled: true }
    expect(await rendered({ webhook, console })).toEqual({ reviews: both, services: 1, args: [listener] })
    expect(await rendered({ console })).toEqual({ reviews: both, services: 1, args: [listener] })
    expect(await rendered({ webhook, console: { enabled: true, anonymous: true } })).toEqual({
      ...{ reviews: [], services: 1, args: [listener, '--console-anonymous'] },
    })
  })

  it('restart pods when their settings change, and only then', async () => {
    const checksums = async (values: object) => {
      const objects = await charts.render({ ...KAFKA, runtimes: 'Separate', ...values })
      const pods = objects.flatMap((object) => podTemplates(object))
      return Object.fromEntries(
        pods.map(({ metadata }) => [component(metadata.labels), metadata.annotations['checksum/config']]),
      )
    }
    const before = await checksums({})
    const after = await checksums({ registry: { properties: { 'schema.compatibility.level': 'FULL' } } })
    const changed = Object.keys(before).filter((name) => before[name] !== after[name])
    expect(Object.keys(before)).toEqual(['operator', 'registry', 'worker'])
    expect(changed).toEqual(['registry'])
  })

  it('pass on values that YAML would read as another type, and settings of several lines', async () => {
    const certificates = '-----BEGIN CERTIFICATE-----\nabc\\\n-----END CERTIFICATE-----'
    const separate = await charts.render({
      ...KAFKA,
      runtimes: 'Separate',
      operator: { instance: '123' },
      registry: {
        oidc: { issuer: 'https://issuer', audience: '4711', tokenSecretName: 'token' },
        properties: { 'ssl.truststore.certificates': certificates },
      },
    })
    const settings = (program: string, file: string) => {
      const found = separate.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === `weir-${program}`)
      return (found as unknown as { readonly data: Readonly<Record<string, string>> }).data[file]!
    }
    const registry = parseProperties(settings('registry', 'registry.properties'))
    expect(registry.get('ssl.truststore.certificates')?.value).toBe(certificates)
    expect(registry.get('oauthbearer.expected.audience')?.value).toBe('4711')
    expect(parse(settings('operator', 'operator.yaml'))).toMatchObject({ instance: '123' })
    const plugins = { maven: { artifacts: ['a:b:1'], repository: 'https://host/a,b' } }
    const embedded = await charts.render({ ...KAFKA, worker: { java: { enabled: true }, plugins } })
    const env = embedded
      .flatMap(podTemplates)
      .flatMap(({ spec }) => spec.initContainers ?? [])
      .flatMap(({ env = [] }) => env)
    expect(env).toEqual([{ name: 'MAVEN_REPOSITORY', value: 'https://host/a,b' }])
  })

  it.each(Object.entries(VALID_VALUES))('write names of digits as text with the values %s', async (_, values) => {
    const file = charts.valuesFile(withDigits(values))
    const apis = ['--api-versions', 'monitoring.coreos.com/v1']
    const { code, stdout, stderr } = await charts.call([
      ...['template', '7000001', 'weir', '--namespace', '7000002', '--values', file, ...apis],
    ])
    expect(code, stderr).toBe(0)
    const objects = parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS() as unknown)
    expect(objects.flatMap((object) => numbersIn(object, []))).toEqual([])
    expect(JSON.stringify(objects)).toContain('7000003')
  })

  it('deny the topics and the group of the registry to connectors, whatever their names', async () => {
    const settingsOf = async (registry: object) => {
      const objects = await charts.render({ ...KAFKA, runtimes: 'Separate', registry: { properties: registry } })
      const configMap = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-worker'))
      const { data } = configMap as unknown as { readonly data: Readonly<Record<string, string>> }
      const settings = parseProperties(data['worker.properties'] ?? '')
      return ['connector.topics.denied', 'connector.groups.denied'].map((key) => settings.get(key)?.value)
    }
    expect(await settingsOf({})).toEqual([undefined, undefined])
    const renamed = { 'kafkastore.topic': 'team-schemas', 'dek.registry.topic': 'team-keys' }
    expect(await settingsOf({ ...renamed, 'schema.registry.group.id': 'team-registry' })).toEqual([
      'connect-configs,connect-offsets,connect-status,_schemas,_dek_registry_keys,team-schemas,team-keys',
      'connect-cluster,schema-registry,team-registry',
    ])
  })

  it('name volumes so that Secrets, ConfigMaps and volume claims may have any name', async () => {
    const names = ['a.b', '0', 'x'.repeat(100)]
    const plugins = { configMaps: names, claims: names, images: [{ reference: 'registry.example/plugin:1' }] }
    const objects = await charts.render({ ...KAFKA, operator: { secrets: names }, worker: { plugins } })
    const volumes = objects.flatMap(podTemplates).flatMap(({ spec }) => spec.volumes.map(({ name }) => name))
    expect(new Set(volumes).size).toBe(volumes.length)
    expect(volumes.filter((name) => !/^[a-z0-9-]{1,63}$/.test(name))).toEqual([])
  })

  it('scale existing workloads that set no number of replicas and request CPU', async () => {
    const seen: string[] = []
    for (const values of Object.values(VALID_VALUES)) {
      const objects = await charts.render(values)
      for (const { kind, spec } of objects) {
        if (kind !== 'HorizontalPodAutoscaler' && kind !== 'ScaledObject') continue
        const { scaleTargetRef } = spec as { scaleTargetRef: { kind: string; name: string } }
        const target = objects.find(
          (one) => one.kind === scaleTargetRef.kind && one.metadata.name === scaleTargetRef.name,
        )
        expect(target?.spec).not.toHaveProperty('replicas')
        const [container] = podTemplates(target!)[0]!.spec.containers
        expect(container?.resources?.requests?.['cpu']).toBeDefined()
        seen.push(`${kind} ${scaleTargetRef.kind}`)
      }
    }
    expect(new Set(seen)).toEqual(new Set(['HorizontalPodAutoscaler StatefulSet', 'ScaledObject StatefulSet']))
  })

  it('plan the memory of JVMs in addition to that of the worker, whose heap does not change', async () => {
    const worker = {
      java: { enabled: true, locations: 2, heapMebibytes: 1024, overheadMebibytes: 256 },
      resources: { requests: { memory: '1.5Gi' }, limits: { memory: '2G' } },
      heapPercentage: 40,
    }
    const objects = await charts.render({ ...KAFKA, runtimes: 'Separate', worker })
    const [container] = objects
      .flatMap(podTemplates)
      .filter(({ metadata }) => component(metadata.labels) === 'worker')
      .flatMap(({ spec }) => spec.containers)
    const [request, limit] = [1_536 + 2 * 1_280, 1_907 + 2 * 1_280]
    expect(container?.resources).toEqual({
      requests: { cpu: '250m', memory: `${request}Mi` },
      limits: { memory: `${limit}Mi` },
    })
    const percentage = Math.floor((40 * 1_907) / limit)
    expect(container?.env).toContainEqual({
      name: 'NODE_OPTIONS',
      value: `--max-old-space-size-percentage=${percentage}`,
    })
    const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'weir-worker')
    expect(JSON.stringify(settings)).toContain('java.host.heap.max=1024m')
  })

  it.each([
    ['Embedded', { operator: 'weir:1.2-java' }],
    ['Separate', { operator: 'weir:1.2', registry: 'weir:1.2', worker: 'weir:1.2-java' }],
  ])('use the image with Java only for workers, with runtimes %s', async (runtimes, expected) => {
    const values = { ...KAFKA, runtimes, image: { tag: '1.2' }, worker: { java: { enabled: true } } }
    const images = (await charts.render(values))
      .flatMap(podTemplates)
      .map(({ metadata, spec }) => [component(metadata.labels), spec.containers[0]!.image])
    expect(Object.fromEntries(images)).toEqual(expected)
  })

  it('put no password into ConfigMaps or literal environment variables', async () => {
    const objects = await charts.render(VALID_VALUES['everything']!)
    const readable = objects.filter(({ kind }) => kind === 'ConfigMap')
    expect(JSON.stringify(readable)).not.toMatch(/sasl\.(?:password|jaas)|ssl\.\w+\.password|keystore\.key/)
    const variables = objects
      .flatMap(podTemplates)
      .flatMap(({ spec }) => spec.containers.flatMap(({ env = [] }) => env))
    const secret = variables.filter(({ name }) => /PASSWORD|USERNAME|KEYSTORE/.test(name))
    expect(secret.length).toBeGreaterThan(0)
    expect(secret.filter(({ valueFrom }) => valueFrom === undefined)).toEqual([])
  })
})

describeOn([helm, kubernetes], 'a real API server', () => {
  let charts: Helm
  let resources: KubeResources

  beforeAll(async () => {
    charts = helmAt(helm.address.file)
    const control = await startKubernetes()
    resources = kubeResources(kubeApi(control))
    const labels = Object.fromEntries(
      ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
    )
    for (const name of ['weir', 'shop']) {
      await resources.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
    }
    for (const one of thirdPartyCrds()) await resources.define(one as Rendered)
    for (const one of await charts.render(KAFKA)) {
      if (one.kind === 'CustomResourceDefinition') await resources.define(one)
    }
    return () => control.stop()
  })

  it.each(Object.entries(VALID_VALUES))(
    'accepts every object without a warning of Pod Security restricted, with the values %s',
    async (_, values) => {
      const objects = await charts.render(values)
      const pods = objects.flatMap(podTemplates).map(({ metadata, spec }) => ({
        ...{ apiVersion: 'v1', kind: 'Pod', spec },
        metadata: { ...metadata, name: 'of-template', namespace: 'weir' },
      }))
      expect(pods.length).toBeGreaterThan(0)
      const complaints: string[] = []
      for (const object of [...objects, ...pods]) {
        const { status, body, warnings } = await resources.tryApply(object)
        const what = `${object.kind} ${object.metadata.name}`
        if (status >= 300) complaints.push(`${what}: ${JSON.stringify(body['message'])}`)
        for (const warning of warnings) complaints.push(`${what}: ${warning}`)
      }
      expect(complaints).toEqual([])
    },
  )

  it('refuses a privileged pod', async () => {
    const [operator] = (await charts.render(KAFKA)).filter(({ kind }) => kind === 'Deployment').flatMap(podTemplates)
    const spec = { ...operator!.spec, hostNetwork: true }
    const metadata = { name: 'greedy', namespace: 'weir' }
    const { status, body } = await resources.tryApply({ apiVersion: 'v1', kind: 'Pod', metadata, spec })
    expect(status).toBe(403)
    expect(body['message']).toContain('violates PodSecurity "restricted:latest": host namespaces')
  })
})

type PodTemplate = {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly volumes: readonly { readonly name: string }[]
    readonly initContainers?: readonly { readonly env?: readonly { name: string; value?: string }[] }[]
    readonly containers: readonly {
      readonly image: string
      readonly env?: readonly { name: string; value?: string; valueFrom?: object }[]
      readonly resources?: { readonly requests?: Readonly<Record<string, string>> }
    }[]
  }
}

function podTemplates({ kind, spec }: Rendered): readonly PodTemplate[] {
  return kind === 'Deployment' || kind === 'StatefulSet' ? [spec!['template'] as PodTemplate] : []
}

function component(labels: Readonly<Record<string, string>>): string {
  return labels['app.kubernetes.io/component'] ?? ''
}

/** Values that are names in Kubernetes or Kafka. */
const NAMES = /(Name|Key|^secrets|^configMaps|^claims|^pullSecrets|Namespaces|^storageClassName|^connector|^topic)$/

/** Replaces each name by a number that occurs nowhere else. */
function withDigits(values: object): object {
  let next = 7_000_003
  const convert = (value: unknown, isName: boolean): unknown => {
    if (typeof value === 'string') return isName && value !== '*' ? String(next++) : value
    if (Array.isArray(value)) return value.map((item) => convert(item, isName))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(item, NAMES.test(key))]))
  }
  const { image = {}, ...rest } = convert(values, false) as { readonly image?: object }
  return { ...rest, image: { ...image, pullSecrets: [String(next++)] } }
}

/** Paths of the numbers that `withDigits` or the test can have caused. */
function numbersIn(value: unknown, path: readonly string[]): readonly string[] {
  if (typeof value === 'number') return value >= 7_000_000 ? [path.join('.')] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => numbersIn(item, [...path, key]))
}
