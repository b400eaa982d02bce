import { expect, it } from 'vitest'
import { withProposed } from '../../../src/operator/admission/proposed-view.ts'
import { externalObjectIndex } from '../../../src/operator/resources/index-values.ts'
import { type Resource, resourceKeyOf } from '../../../src/operator/resources/resource.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'

it('shows the proposed resource in place of the stored one with the same name', () => {
  const cluster = new FakeCluster()
  const key = cluster.apply('Subject', 'a', { subject: 'old', schema: '"int"' })
  const other = cluster.apply('Subject', 'b', { subject: 'new', schema: '"int"' })
  const mode = cluster.apply('RegistryMode', 'm', { scope: { type: 'Registry' }, mode: 'READONLY' })
  const [before, beside] = [cluster.get(key)!, cluster.get(other)!]
  const proposed: Resource<'Subject'> = { ...before, spec: { ...before.spec, subject: 'new' } }
  const view = withProposed(cluster, proposed)
  const keys = (found: readonly Resource[]) => found.map(resourceKeyOf).sort()

  expect(view.get(key)).toBe(proposed)
  expect(view.get(other)).toBe(beside)
  expect(keys(view.list('Subject'))).toEqual([key, other])
  expect(view.list('Subject')).toContain(proposed)
  expect(keys(view.list('RegistryMode'))).toEqual([mode])
  expect(view.find(externalObjectIndex(before))).toEqual([])
  expect(keys(view.find(externalObjectIndex(proposed)))).toEqual([key, other])
})
