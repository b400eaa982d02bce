import type { KubeApi } from '../../support/kube-api.ts'

/** How often each call was made since the process that counts them started. */
export type Calls = ReadonlyMap<string, number>

/** Kinds that an operator asks for; the API server's leases of its own are among them, one call in ten seconds. */
const OURS = new Set(['connectors', 'subjects', 'registrymodes', 'events', 'configmaps', 'leases', 'secrets'])

/** `APPLY subjects/status`: what an API server was asked, as far as an operator asks it. */
export async function apiCalls(api: KubeApi): Promise<Calls> {
  const { body } = await api.send('GET', '/metrics')
  return sumOf(String(body['message']), 'apiserver_request_total', ({ resource = '', subresource = '', verb = '' }) =>
    OURS.has(resource) ? `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}` : undefined,
  )
}

/** `worker GET /connectors/{}`: what an operator asked its runtimes. */
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

/** The most frequent first, each for one of `objects`. */
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
