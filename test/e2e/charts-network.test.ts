import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { KAFKA, VALID_VALUES } from '../support/chart-values.ts'
import { helmAt, type Rendered } from '../support/helm.ts'
import { allowedConnections, type Endpoint } from '../support/network-policies.ts'

const helm = await real('helm')

type Template = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly { readonly ports: readonly { name: string; containerPort: number }[] }[]
  }
}

/** What is there beside the release, by what a policy can know of it. */
const NEIGHBOUR: Endpoint = { name: 'neighbour', namespace: 'weir', labels: { app: 'shop' }, ports: {} }
const STRANGER: Endpoint = { name: 'stranger', namespace: 'elsewhere', labels: { app: 'shop' }, ports: {} }
const DNS = { name: 'dns', namespace: 'kube-system', labels: { app: 'dns' }, ports: { dns: 53 } }
const OUTSIDE: Endpoint = { name: 'outside', ports: { https: 443, postgres: 5432, kafka: 9092 } }

describeOn([helm], 'the network policies', () => {
  const charts = helmAt(helm.address.file)
  const podsIn = (objects: readonly Rendered[]): readonly Endpoint[] =>
    objects
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map(({ spec, metadata }) => {
        const { metadata: pod, spec: own } = spec!['template'] as Template
        const ports = own.containers[0]!.ports.map(({ name, containerPort }) => [name, containerPort])
        return { name: metadata.name, namespace: 'weir', labels: pod.labels, ports: Object.fromEntries(ports) }
      })
  const allowed = async (values: object, more: readonly Endpoint[] = []) => {
    const objects = await charts.render(values)
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
    const ends = [...podsIn(objects), NEIGHBOUR, STRANGER, DNS, OUTSIDE, ...more]
    const outer = new Set([NEIGHBOUR, STRANGER, DNS, OUTSIDE, ...more].map(({ name }) => name))
    // Between others there is nothing to say.
    return allowedConnections(policies, ends).filter(
      (way) =>
        !way
          .split(/ > |:/)
          .slice(0, 2)
          .every((name) => outer.has(name)),
    )
  }

  it('allow only the connections that the programs and their namespace need', async () => {
    const values = { ...KAFKA, runtimes: 'Separate', networkPolicy: { enabled: true } }
    expect((await allowed(values)).toSorted()).toEqual([
      // The API server, which calls the webhook, is nobody that a policy could name.
      'dns > weir-operator:9443',
      'neighbour > weir-operator:8080',
      'neighbour > weir-operator:9443',
      'neighbour > weir-registry:8081',
      'neighbour > weir-worker:8083',
      'outside > weir-operator:9443',
      'stranger > weir-operator:9443',
      'weir-operator > dns:53',
      'weir-operator > outside:443',
      'weir-operator > weir-registry:8081',
      'weir-operator > weir-worker:8083',
      'weir-registry > dns:53',
      'weir-registry > outside:9092',
      'weir-registry > weir-registry:8081',
      // Where connectors go is their affair.
      'weir-worker > dns:53',
      'weir-worker > outside:443',
      'weir-worker > outside:5432',
      'weir-worker > outside:9092',
      'weir-worker > weir-operator:8080',
      'weir-worker > weir-operator:9443',
      'weir-worker > weir-registry:8081',
      'weir-worker > weir-worker:8083',
    ])
  })

  it('admit to the console only the peers in the values', async () => {
    const values = { ...KAFKA, console: { enabled: true }, networkPolicy: { enabled: true } }
    const toConsole = async (more: object) =>
      (await allowed({ ...values, networkPolicy: { enabled: true, ...more } })).filter((way) => way.endsWith(':8082'))
    expect(await toConsole({})).toEqual([])
    expect(await toConsole({ consoleFrom: [{ podSelector: { matchLabels: { app: 'shop' } } }] })).toEqual([
      'neighbour > weir-operator:8082',
    ])
  })

  it('admit the peers in the values instead of the namespace', async () => {
    const reader: Endpoint = { ...STRANGER, name: 'reader', namespaceLabels: { streams: 'allowed' } }
    const monitor: Endpoint = {
      ...{ ...STRANGER, name: 'monitor' },
      namespaceLabels: { 'kubernetes.io/metadata.name': 'monitoring' },
    }
    const ways = await allowed(VALID_VALUES['everything']!, [reader, monitor])
    expect(ways.filter((way) => / > streams-\w+:80\d\d$/.test(way)).toSorted()).toEqual([
      'monitor > streams-operator:8080',
      'monitor > streams-registry:8081',
      'monitor > streams-worker:8083',
      // Of the workers the values name nobody.
      'neighbour > streams-worker:8083',
      'reader > streams-registry:8081',
      'streams-operator > streams-registry:8081',
      'streams-operator > streams-worker:8083',
      'streams-registry > streams-registry:8081',
      'streams-worker > streams-registry:8081',
      'streams-worker > streams-worker:8083',
    ])
  })

  it('do not restrict outgoing connections of pods that run connectors', async () => {
    const ways = await allowed({ ...KAFKA, networkPolicy: { enabled: true } })
    expect(ways.filter((way) => way.startsWith('weir-operator > outside'))).toEqual([
      'weir-operator > outside:443',
      'weir-operator > outside:5432',
      'weir-operator > outside:9092',
    ])
  })
})
