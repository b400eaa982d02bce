import { expect } from 'vitest'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { API } from './crds.ts'
import type { KubeApi } from './kube-api.ts'
import { until } from './until.ts'

export const WAIT = { everyMs: 25, timeoutMs: 120_000 }

type Stored = {
  readonly metadata: {
    readonly resourceVersion: string
    readonly finalizers?: readonly string[]
    readonly managedFields?: readonly { readonly manager: string; readonly subresource?: string }[]
  }
  readonly status?: {
    readonly version?: number
    readonly conditions: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

/** Creates a namespace for the test, with methods for what a user does in it. */
export async function createTestNamespace(api: KubeApi, namespace = `test-${Math.random().toString(36).slice(2, 10)}`) {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const path = (plural: string, name: string) => `${API}/namespaces/${namespace}/${plural}/${name}`
  const object = async (plural: string, name: string) =>
    (await api.send('GET', path(plural, name))).body as unknown as Stored
  /** Like `kubectl apply`, optionally with `--dry-run=server`. */
  const tryApply = (kind: string, name: string, spec: object, { dryRun = false, annotations = {} } = {}) =>
    api.send(
      'PATCH',
      `${path(`${kind.toLowerCase()}s`, name)}?fieldManager=person&force=true${dryRun ? '&dryRun=All' : ''}`,
      { apiVersion: API_VERSION, kind, metadata: { name, namespace, annotations }, spec },
      'application/apply-patch+yaml',
    )
  /** The Events of an object, as text. */
  const events = async (name: string): Promise<readonly string[]> => {
    const { body } = await api.send('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`)
    const items = body['items'] as readonly {
      regarding: { name: string }
      reason: string
      reportingController: string
    }[]
    const of = items.filter(({ regarding }) => regarding.name === name)
    return of.map(({ reason, reportingController }) => `${reason} by ${reportingController}`)
  }
  return {
    namespace,
    object,
    tryApply,
    async apply(kind: string, name: string, spec: object, annotations: Readonly<Record<string, string>> = {}) {
      const answer = await tryApply(kind, name, spec, { annotations })
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    },
    async remove(plural: string, name: string) {
      const { status, body } = await api.send('DELETE', path(plural, name))
      expect(status, JSON.stringify(body)).toBeLessThan(300)
    },
    /** Waits for an Event. The operator creates Events after the status that they explain. */
    async event(name: string, reason: string) {
      const isThere = async () => (await events(name)).includes(`${reason} by weir.dev/operator`)
      await until(`the event ${reason} of ${name}`, WAIT, isThere)
    },
    events,
    async condition(plural: string, name: string, type: string, wanted: string) {
      let found: unknown
      await until(`${name} to be ${type}=${wanted}`, WAIT, async () => {
        const { status } = await object(plural, name)
        found = status
        const condition = status?.conditions?.find((each) => each.type === type)
        return condition !== undefined && `${condition.status}/${condition.reason}` === wanted
      }).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(found)}`)
      })
    },
  }
}
