import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type RbacOptions, rbacOf, rbacText } from '../../src/operator/rbac.ts'

// `npx vitest run -u test/operator/rbac.test.ts` writes the files anew. What they grant is proven in test/e2e.

const FOLDER = join(import.meta.dirname, '../../rbac')

describe('the checked-in rights', () => {
  it.each([
    [
      'all-namespaces.yaml',
      { namespace: 'weir', watched: [], webhook: true, offsetsExport: true, secrets: false, namespaceLabels: false },
    ],
    [
      'one-namespace.yaml',
      {
        namespace: 'weir',
        watched: ['weir'],
        webhook: false,
        offsetsExport: false,
        secrets: false,
        namespaceLabels: false,
      },
    ],
  ] as const)('%s is what the operator needs', async (name, options) => {
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
    offsetsExport: false,
    secrets: false,
    namespaceLabels: false,
    ...options,
  })
  return (all as readonly Granted[]).filter(({ rules }) => rules !== undefined)
}

describe('the operator’s rights', () => {
  it('are those of a cluster only where it watches all namespaces, or judges', () => {
    const ofCluster = (options: Partial<RbacOptions>) => {
      const roles = rolesOf(options).filter(({ kind }) => kind === 'ClusterRole')
      return roles.map(({ metadata }) => (metadata as { name: string }).name)
    }
    const users = ['weir-view', 'weir-edit', 'weir-admin']
    expect(ofCluster({})).toEqual(users)
    expect(ofCluster({ webhook: true })).toEqual(['weir-operator-weir', ...users])
    expect(ofCluster({ watched: [] })).toEqual(['weir-operator-weir', ...users])
  })

  it('are given where it watches, and for its lease where it lives', () => {
    const namespaces = rolesOf({}).flatMap(({ metadata }) => metadata.namespace ?? [])
    expect(namespaces).toEqual(['weir', 'shop', 'orders'])
  })

  it('let it write ConfigMaps only where offsets are exported', () => {
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

  it('let it see namespaces only where its configuration goes by what they are like, and only those it watches', () => {
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

  it('let it read Secrets only where connectors follow them', () => {
    expect(JSON.stringify(rolesOf({ secrets: true, watched: ['shop'] }))).toContain(
      '{"apiGroups":[""],"resources":["secrets"],"verbs":["get","list","watch"]}',
    )
  })

  it('never let it read a Secret but its own otherwise', () => {
    const text = JSON.stringify(rolesOf({ webhook: true, watched: [] }))
    const reading = text.match(/"resources":\["secrets"\][^}]*/g)
    expect(reading).toEqual([
      '"resources":["secrets"],"verbs":["create"]',
      '"resources":["secrets"],"resourceNames":["weir-webhook"],"verbs":["get","update"]',
    ])
    expect(JSON.stringify(rolesOf({}))).not.toContain('secrets')
  })
})
