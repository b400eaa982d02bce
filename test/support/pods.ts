import type { KubeApi } from './kube-api.ts'

export type Pod = {
  readonly name: string
  /** The chart's name of the program: `operator`, `registry` or `worker`. */
  readonly component: string
  readonly ip: string
  readonly image: string
  readonly isReady: boolean
  /** Start time of its container, rounded to seconds; 0 if it is not running. */
  readonly startedMs: number
}

type Items = {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
    readonly spec: { readonly containers: readonly { readonly image: string }[] }
    readonly status: {
      readonly podIP?: string
      readonly conditions?: readonly { readonly type: string; readonly status: string }[]
      readonly containerStatuses?: readonly {
        readonly state: { readonly running?: { readonly startedAt: string } }
      }[]
    }
  }[]
}

/** The pods of a namespace that run a Weir program. */
export async function podsOf(api: KubeApi, namespace: string): Promise<readonly Pod[]> {
  const selector = encodeURIComponent('app.kubernetes.io/component in (operator,registry,worker)')
  const { body } = await api.send('GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`)
  return (body as unknown as Items).items.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    component: metadata.labels['app.kubernetes.io/component'] ?? '',
    ip: status.podIP ?? '',
    image: spec.containers[0]?.image ?? '',
    isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    startedMs: Date.parse(status.containerStatuses?.[0]?.state.running?.startedAt ?? '1970-01-01T00:00:00Z'),
  }))
}
