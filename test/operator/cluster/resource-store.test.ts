import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ResourceStore } from '../../../src/operator/cluster/resource-store.ts'
import { KINDS, type Kind, keyOf, type Resource } from '../../../src/operator/resources/resource.ts'
import { claimOf, readyReason, referenceTo, type Term, termsOf } from '../../../src/operator/resources/terms.ts'

const NAMES = ['a', 'b', 'c']
const name = fc.constantFrom(...NAMES)
const reason = fc.constantFrom('Conflict', 'Succeeded', undefined)

function resource(kind: Kind, own: string, other: string, why: string | undefined): Resource {
  const spec = {
    Connector: { workerRef: { name: 'default' }, name: other, subjectRefs: [{ name: other }] },
    Subject: { registryRef: { name: 'default' }, subject: other, references: [{ subjectRef: { name: other } }] },
    RegistryMode: { registryRef: { name: 'default' }, scope: { type: 'Subject', subject: other } },
  }[kind]
  const conditions = why === undefined ? [] : [{ type: 'Ready', status: 'False', reason: why }]
  return { kind, metadata: { namespace: 'ns', name: own }, spec, status: { conditions } } as unknown as Resource
}

const stored = fc.tuple(fc.constantFrom(...KINDS), name, name, reason).map((parts) => resource(...parts))

it('finds by term, kind and key what looking through everything finds, whatever came and went', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(stored, fc.boolean()), { maxLength: 40 }), (changes) => {
      const store = new ResourceStore()
      const all = new Map<string, Resource>()
      const terms = new Set<Term>(KINDS.map((kind) => readyReason(kind, 'Conflict')))
      for (const [changed, isDropped] of changes) {
        for (const term of termsOf(changed)) terms.add(term)
        if (isDropped) {
          store.drop(keyOf(changed))
          all.delete(keyOf(changed))
        } else {
          store.put(changed)
          all.set(keyOf(changed), changed)
        }
      }
      const keys = (found: readonly Resource[]) => found.map(keyOf).sort()
      for (const term of terms) {
        expect(keys(store.find(term))).toEqual(keys([...all.values()].filter((one) => termsOf(one).includes(term))))
      }
      for (const kind of KINDS)
        expect(keys(store.list(kind))).toEqual(keys([...all.values()].filter((one) => one.kind === kind)))
      expect(keys(store.all())).toEqual(keys([...all.values()]))
    }),
  )
})

it('tells things apart whose names run together', () => {
  expect(referenceTo('a', 'b-c')).not.toBe(referenceTo('a-b', 'c'))
  const [one, other] = [resource('Subject', 'x', 'a', undefined), resource('Connector', 'x', 'a', undefined)]
  expect(claimOf(one)).not.toBe(claimOf(other))
})
