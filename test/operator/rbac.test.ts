import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type RbacOptions, rbacOf, rbacText } from '../../src/operator/rbac.ts'

// `npx vitest run -u test/operator/rbac.test.ts` regenerates the files. test/e2e tests the permissions.

const FOLDER = join(import.meta.dirname, '../../rbac')

describe('the generated RBAC files', () => {
  it.each([
    [
      'all-namespaces.yaml',
      {
        namespace: 'weir',
        watched: [],
        webhook: true,
        console: false,
        offsetsExport: true,
        secrets: false,
        namespaceLabels: false,
      },
    ],
    [
      'one-namespace.yaml',
      {
        namespace: 'weir',
        watched: ['weir'],
        webhook: false,
        console: false,
        offsetsExport: false,
        secrets: false,
        namespaceLabels: false,
      },
    ],
  ] as const)('%s equals what rbacText generates', async (name, options) => {
    await expect(rbacText(options)).toMatchFileSnapshot(join(FOLDER, name))
  })
})

type Rule = { readonly resources: readonly string[] }
type Granted = { readonly kind: string; readonly metadata: { readonly namespace?: string }; readonly rules?: unknown }

const rolesOf = (options: Partial<RbacOptions>) => {
  const all = rbacOf({
    namespace: 'weir',
    watched: ['shop', 'orders'],
    webhook: false,
    console: false,
    offsetsExport: false,
    secrets: false,
    namespaceLabels: false,
    ...options,
  })
  return (all as readonly Granted[]).filter(({ rules }) => rules !== undefined)
}

describe('the permissions of the operator', () => {
  it('are cluster-wide only if it watches all namespaces, or serves the webhook or the console', () => {
    const ofCluster = (options: Partial<RbacOptions>) => {
      const roles = rolesOf(options).filter(({ kind }) => kind === 'ClusterRole')
      return roles.map(({ metadata }) => (metadata as { name: string }).name)
    }
    const users = ['weir-view', 'weir-edit', 'weir-admin']
    expect(ofCluster({})).toEqual(users)
    expect(ofCluster({ webhook: true })).toEqual(['weir-operator-weir', ...users])
    expect(ofCluster({ console: true })).toEqual(['weir-operator-weir', ...users])
    expect(ofCluster({ watched: [] })).toEqual(['weir-operator-weir', ...users])
  })

  it('are granted in the watched namespaces, and for its Lease in its own namespace', () => {
    const namespaces = rolesOf({}).flatMap(({ metadata }) => metadata.namespace ?? [])
    expect(namespaces).toEqual(['weir', 'shop', 'orders'])
  })

  it('include writes of ConfigMaps only for the export of offsets', () => {
    const ofConfigMaps = (options: Partial<RbacOptions>) =>
      rolesOf(options).flatMap(({ rules }) =>
        (rules as readonly Rule[]).filter(({ resources }) => resources[0] === 'configmaps'),
      )
    const reading = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }
    expect(ofConfigMaps({ watched: ['shop'] })).toEqual([reading])
    expect(ofConfigMaps({ watched: ['shop'], offsetsExport: true })).toEqual([
      { ...reading, verbs: [...reading.verbs, 'create', 'patch'] },
    ])
  })

  it('include reads of namespaces only for label selectors, and only of the watched namespaces', () => {
    const ofNamespaces = (options: Partial<RbacOptions>) =>
      rolesOf(options).flatMap(({ kind, rules }) =>
        (rules as readonly Rule[]).filter(({ resources }) => resources[0] === 'namespaces').map((rule) => [kind, rule]),
      )
    expect([...ofNamespaces({}), ...ofNamespaces({ watched: [] })]).toEqual([])
    const seeing = { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }
    expect(ofNamespaces({ watched: [], namespaceLabels: true })).toEqual([['ClusterRole', seeing]])
    expect(ofNamespaces({ namespaceLabels: true })).toEqual([
      ['ClusterRole', { ...seeing, resourceNames: ['shop', 'orders'] }],
    ])
  })

  it('include reads of Secrets only if Connectors use them', () => {
    expect(JSON.stringify(rolesOf({ secrets: true, watched: ['shop'] }))).toContain(
      '{"apiGroups":[""],"resources":["secrets"],"verbs":["get","list","watch"]}',
    )
  })

  it('otherwise include only the Secret of the webhook', () => {
    const text = JSON.stringify(rolesOf({ webhook: true, watched: [] }))
    const reading = text.match(/"resources":\["secrets"\][^}]*/g)
    expect(reading).toEqual([
      '"resources":["secrets"],"verbs":["create"]',
      '"resources":["secrets"],"resourceNames":["weir-webhook"],"verbs":["get","update"]',
    ])
    expect(JSON.stringify(rolesOf({}))).not.toContain('secrets')
  })
})
