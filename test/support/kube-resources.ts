import { expect } from 'vitest'
import type { KubeApi, KubeResponse } from './kube-api.ts'
import { until } from './until.ts'

/** A Kubernetes object as declared in a manifest. */
export type Declared = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object }
  readonly spec?: object
}
type Served = { readonly name: string; readonly kind: string; readonly namespaced: boolean }

const APPLY = 'application/apply-patch+yaml'
const WAIT = { everyMs: 25, timeoutMs: 120_000 }

/** Reads and writes objects of any kind. */
export function kubeResources(api: KubeApi) {
  const served = new Map<string, readonly Served[]>()

  async function pathOf({ apiVersion, kind, metadata }: Declared): Promise<string> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const known =
      served.get(group) ?? ((await api.send('GET', group)).body['resources'] as readonly Served[] | undefined)
    const resource = known?.find((each) => each.kind === kind && !each.name.includes('/'))
    if (known === undefined || resource === undefined) throw new Error(`${apiVersion} has no ${kind}`)
    served.set(group, known)
    const { namespace = 'default', name } = metadata
    return `${group}${resource.namespaced ? `/namespaces/${namespace}` : ''}/${resource.name}/${name}`
  }

  const send = async (object: Declared, more: string): Promise<KubeResponse> =>
    api.send(
      'PATCH',
      `${await pathOf(object)}?fieldManager=person&force=true&fieldValidation=Strict${more}`,
      object,
      APPLY,
    )

  async function apply(object: Declared): Promise<void> {
    const { status, body } = await send(object, '')
    expect(status, JSON.stringify(body)).toBeLessThan(300)
  }

  return {
    apply,
    /** Like `kubectl apply --server-side --dry-run=server --validate=strict`. */
    tryApply: (object: Declared) => send(object, '&dryRun=All'),
    /** Creates a CustomResourceDefinition. Resolves when its kind is served. */
    async define(definition: Declared): Promise<void> {
      await apply(definition)
      const { group, versions, names } = (definition as unknown as Definition).spec
      const path = `/apis/${group}/${versions[0]!.name}/${names.plural}`
      await until(path, WAIT, async () => (await api.send('GET', path)).status === 200)
    },
    /** Patches the status, as a kubelet or a controller does. */
    async setStatus(object: Declared, status: object): Promise<void> {
      const path = `${await pathOf(object)}/status`
      const { status: code, body } = await api.send('PATCH', path, { status }, 'application/merge-patch+json')
      expect(code, JSON.stringify(body)).toBeLessThan(300)
    },
    async get<T = Readonly<Record<string, unknown>>>(object: Declared): Promise<T | undefined> {
      const { status, body } = await api.send('GET', await pathOf(object))
      return status === 200 ? (body as T) : undefined
    },
  }
}

export type KubeResources = ReturnType<typeof kubeResources>

type Definition = {
  readonly spec: {
    readonly group: string
    readonly versions: readonly { readonly name: string }[]
    readonly names: { readonly plural: string }
  }
}
