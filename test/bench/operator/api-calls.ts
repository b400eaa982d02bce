import type { KubeApi } from '../../support/kube-api.ts'

/** What an API server was asked since it started, as far as an operator asks it. */
export type ApiCalls = { readonly all: number; readonly statusWrites: number }

const OURS = new Set(['connectors', 'subjects', 'registrymodes', 'events', 'configmaps', 'leases', 'secrets'])

/** Out of its own metrics. Its leases of its own are among them, one call in ten seconds. */
export async function apiCalls(api: KubeApi): Promise<ApiCalls> {
  const { body } = await api.send('GET', '/metrics')
  let [all, statusWrites] = [0, 0]
  for (const [, labels = '', count] of String(body['message']).matchAll(/^apiserver_request_total\{(.*?)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    if (!OURS.has(label('resource'))) continue
    all += Number(count)
    if (label('subresource') === 'status' && label('verb') !== 'GET') statusWrites += Number(count)
  }
  return { all, statusWrites }
}
