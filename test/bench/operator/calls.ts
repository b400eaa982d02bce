import type { KubeApi } from '../../support/kube-api.ts'

/** Number of calls by kind since the start of the counting process. */
export type Calls = ReadonlyMap<string, number>

/** Resources that an operator uses. `leases` includes those of the API server itself, one call every 10 s. */
const OURS = new Set(['connectors', 'subjects', 'registrymodes', 'events', 'configmaps', 'leases', 'secrets'])

/** Requests that the API server received for these resources, by name such as `APPLY subjects/status`. */
export async function apiCalls(api: KubeApi): Promise<Calls> {
  const { body } = await api.send('GET', '/metrics')
  return sumOf(String(body['message']), 'apiserver_request_total', ({ resource = '', subresource = '', verb = '' }) =>
    OURS.has(resource) ? `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}` : undefined,
  )
}

/** Requests of an operator to its runtimes, by name such as `worker GET /connectors/{}`. */
export async function runtimeCalls(metricsUrl: string): Promise<Calls> {
  const text = await (await fetch(metricsUrl)).text()
  return sumOf(text, 'weir_runtime_requests_total', ({ endpoint = '' }) => endpoint)
}

export function difference(after: Calls, before: Calls): Calls {
  return new Map([...after].map(([call, count]) => [call, count - (before.get(call) ?? 0)]))
}

export function countOf(calls: Calls, pattern = /./): number {
  return [...calls].reduce((sum, [call, count]) => (pattern.test(call) ? sum + count : sum), 0)
}

/** Formats the calls per object, most frequent first. */
export function perObject(calls: Calls, objects: number): string {
  return [...calls]
    .filter(([, count]) => count > objects / 100)
    .toSorted(([, left], [, right]) => right - left)
    .map(([call, count]) => `${(count / objects).toFixed(2)} ${call}`)
    .join(', ')
}

type Labels = Readonly<Record<string, string>>

function sumOf(metrics: string, family: string, nameOf: (labels: Labels) => string | undefined): Calls {
  const calls = new Map<string, number>()
  for (const [, labels = '', count] of metrics.matchAll(new RegExp(`^${family}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const name = nameOf(
      Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    )
    if (name !== undefined) calls.set(name, (calls.get(name) ?? 0) + Number(count))
  }
  return calls
}
