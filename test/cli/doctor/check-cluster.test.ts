import { describe, expect, it } from 'vitest'
import { checkCluster } from '../../../src/cli/doctor/check-cluster.ts'
import { ApiError } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const [GROUP, VERSION] = API_VERSION.split('/')
const DEFINITION = {
  spec: { versions: [{ name: VERSION, served: true }] },
  status: { storedVersions: [VERSION] },
}
const clock = new FakeClock()
const lease = (renewedMsAgo: number, holderIdentity = 'operator-0') => ({
  spec: {
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date(clock.nowMs() - renewedMsAgo).toISOString(),
  },
})
const resource = (name: string, conditions: Readonly<Record<string, string>>, reason = 'Succeeded') => ({
  metadata: { namespace: 'shop', name },
  status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status, reason })) },
})
const NOT_FOUND = 404
const FORBIDDEN = 403

/** An API server that answers by the end of the path; a number is the status of an error. */
async function findingsOf(answers: Readonly<Record<string, object | number>>) {
  const all: Readonly<Record<string, object | number>> = {
    '/version': { gitVersion: 'v1.36.3', minor: '36+' },
    '.weir.dev': DEFINITION,
    '/leases/weir-operator': lease(5_000),
    [`/${VERSION}/`]: { items: [], metadata: {} },
    ...answers,
  }
  const api = {
    send: async <T>({ path }: { readonly path: string }): Promise<T> => {
      const keys = Object.keys(all).filter((key) => path.endsWith(key) || (key.endsWith('/') && path.includes(key)))
      const answer = all[keys.at(-1)!]
      if (typeof answer === 'number') throw new ApiError(answer, 'Reason', `HTTP ${answer}`)
      return answer as T
    },
  }
  const findings = await checkCluster({ api, namespace: 'weir' }, clock)
  return findings.map(({ check, verdict, message }) => `${verdict} ${check}: ${message}`)
}

describe('a cluster', () => {
  it('without problems', async () => {
    const items = [resource('orders', { Ready: 'True' })]
    expect(await findingsOf({ [`/${VERSION}/connectors`]: { items, metadata: {} } })).toEqual([
      'ok API server: responds, Kubernetes v1.36.3',
      `ok definitions: all kinds serve ${API_VERSION}`,
      'ok operator: operator-0 is active',
      'ok resources: 1 resource, all Ready',
    ])
  })

  it.each([
    [{ '/version': { gitVersion: 'v1.29.1', minor: '29' } }, 'warning API server: responds, Kubernetes v1.29.1'],
    [{ '/version': 500 }, 'problem API server: HTTP 500'],
    [{ '/subjects.weir.dev': NOT_FOUND }, `problem definitions: subjects.${GROUP} is not installed`],
    [
      { '/subjects.weir.dev': { spec: { versions: [{ name: VERSION, served: false }] } } },
      `problem definitions: subjects.${GROUP} does not serve ${VERSION}`,
    ],
    [
      { '/subjects.weir.dev': { ...DEFINITION, status: { storedVersions: ['v1', VERSION] } } },
      `warning definitions: subjects.${GROUP} may still store objects of v1`,
    ],
    [
      { '/subjects.weir.dev': FORBIDDEN },
      `warning definitions: your user may not read the definition subjects.${GROUP}`,
    ],
    [{ '/weir-operator': NOT_FOUND }, 'problem operator: no operator has run in the namespace weir'],
    [{ '/weir-operator': FORBIDDEN }, 'warning operator: your user may not read the Lease weir/weir-operator'],
    [{ '/weir-operator': lease(5_000, '') }, 'problem operator: no operator is active'],
    [{ '/weir-operator': lease(16_000) }, 'problem operator: operator-0 has not renewed its Lease since'],
    [
      { [`/${VERSION}/subjects`]: FORBIDDEN, 'weir/subjects': FORBIDDEN },
      'warning resources: your user may not read subjects',
    ],
    [
      {
        [`/${VERSION}/subjects`]: {
          items: [resource('a', { Ready: 'False', Stalled: 'True' }, 'Conflict')],
          metadata: {},
        },
      },
      'problem resources: 1 need a change: subjects/a in shop (Conflict)',
    ],
    [
      { [`/${VERSION}/subjects`]: { items: [{ metadata: { namespace: 'shop', name: 'a' } }], metadata: {} } },
      'warning resources: 1 are not Ready: subjects/a in shop (not observed yet)',
    ],
  ])('with %j', async (answers: Readonly<Record<string, object | number>>, finding) => {
    expect((await findingsOf(answers)).filter((one) => one.startsWith(finding))).toHaveLength(1)
  })

  it('is read in the namespace of the operator by a user without rights in others', async () => {
    const own = { items: [resource('own', { Ready: 'True' })], metadata: {} }
    const findings = await findingsOf({ [`/${VERSION}/subjects`]: FORBIDDEN, 'namespaces/weir/subjects': own })
    expect(findings.at(-1)).toBe('ok resources: 1 resource, all Ready')
  })
})
