import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ResourceStore } from '../../../src/operator/cluster/resource-store.ts'
import {
  externalObjectIndex,
  type IndexValue,
  indexValuesOf,
  readyReasonIndex,
  referenceIndex,
} from '../../../src/operator/resources/index-values.ts'
import {
  RESOURCE_KINDS,
  type Resource,
  type ResourceKind,
  resourceKeyOf,
} from '../../../src/operator/resources/resource.ts'

const NAMES = ['a', 'b', 'c']
const name = fc.constantFrom(...NAMES)
const reason = fc.constantFrom('Conflict', 'Succeeded', undefined)

function resource(kind: ResourceKind, own: string, other: string, why: string | undefined): Resource {
  const spec = {
    Connector: { workerRef: { name: 'default' }, name: other, subjectRefs: [{ name: other }] },
    Subject: { registryRef: { name: 'default' }, subject: other, references: [{ subjectRef: { name: other } }] },
    RegistryMode: { registryRef: { name: 'default' }, scope: { type: 'Subject', subject: other } },
  }[kind]
  const conditions = why === undefined ? [] : [{ type: 'Ready', status: 'False', reason: why }]
  return { kind, metadata: { namespace: 'ns', name: own }, spec, status: { conditions } } as unknown as Resource
}

const stored = fc.tuple(fc.constantFrom(...RESOURCE_KINDS), name, name, reason).map((parts) => resource(...parts))

it('finds by index value, kind and key the same resources as a full scan, after any changes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(stored, fc.boolean()), { maxLength: 40 }), (changes) => {
      const store = new ResourceStore()
      const all = new Map<string, Resource>()
      const terms = new Set<IndexValue>(RESOURCE_KINDS.map((kind) => readyReasonIndex(kind, 'Conflict')))
      for (const [changed, isDropped] of changes) {
        for (const term of indexValuesOf(changed)) terms.add(term)
        if (isDropped) {
          store.drop(resourceKeyOf(changed))
          all.delete(resourceKeyOf(changed))
        } else {
          store.put(changed)
          all.set(resourceKeyOf(changed), changed)
        }
      }
      const keys = (found: readonly Resource[]) => found.map(resourceKeyOf).sort()
      for (const term of terms) {
        expect(keys(store.find(term))).toEqual(
          keys([...all.values()].filter((one) => indexValuesOf(one).includes(term))),
        )
      }
      for (const kind of RESOURCE_KINDS)
        expect(keys(store.list(kind))).toEqual(keys([...all.values()].filter((one) => one.kind === kind)))
      expect(keys(store.all())).toEqual(keys([...all.values()]))
    }),
  )
})

it('distinguishes index values whose parts concatenate to the same text', () => {
  expect(referenceIndex('a', 'b-c')).not.toBe(referenceIndex('a-b', 'c'))
  const [one, other] = [resource('Subject', 'x', 'a', undefined), resource('Connector', 'x', 'a', undefined)]
  expect(externalObjectIndex(one)).not.toBe(externalObjectIndex(other))
})
