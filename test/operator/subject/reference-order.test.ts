import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ClusterReader } from '../../../src/operator/cluster/cluster.ts'
import { type Resource, resourceKeyOf } from '../../../src/operator/resources/resource.ts'
import { findReferenceCycle, sortByReferences } from '../../../src/operator/subject/reference-order.ts'

const name = (number: number) => `s${number}`

function subject(number: number, referents: readonly number[]): Resource<'Subject'> {
  const references = referents.map((other) => ({ name: 'r', subjectRef: { name: name(other) } }))
  const metadata = { namespace: 'shop', name: name(number) }
  return { kind: 'Subject', metadata, spec: { references } } as unknown as Resource<'Subject'>
}

function clusterOf(subjects: readonly Resource<'Subject'>[]): ClusterReader {
  const known = new Map<string, Resource>(subjects.map((one) => [resourceKeyOf(one), one]))
  return { get: (key: string) => known.get(key) } as unknown as ClusterReader
}

const SIZE = 8
/** For each Subject, the indexes of its references; the highest index does not exist. */
const graph = fc
  .array(fc.array(fc.nat(SIZE), { maxLength: 4 }), { minLength: SIZE, maxLength: SIZE })
  .map((referents) => referents.map((others, number) => subject(number, others)))

const referentsOf = (one: Resource<'Subject'> | undefined) =>
  (one?.spec.references ?? []).map(({ subjectRef }) => subjectRef!.name)

it('finds a cycle of references through a Subject if there is one, and its path follows references', () => {
  fc.assert(
    fc.property(graph, (subjects) => {
      for (const start of subjects) {
        const way = findReferenceCycle(start, clusterOf(subjects))
        expect(way !== undefined).toBe(aheadOf(start, subjects).has(start.metadata.name))
        if (way !== undefined) expectRound(way, start, subjects)
      }
    }),
  )
})

/** All Subjects that are reachable by references. */
function aheadOf(start: Resource<'Subject'>, subjects: readonly Resource<'Subject'>[]): ReadonlySet<string> {
  const ahead = new Set(referentsOf(start))
  for (const next of ahead)
    for (const other of referentsOf(subjects.find((one) => one.metadata.name === next))) ahead.add(other)
  return ahead
}

function expectRound(
  way: readonly string[],
  start: Resource<'Subject'>,
  subjects: readonly Resource<'Subject'>[],
): void {
  expect([way[0], way.at(-1)]).toEqual([start.metadata.name, start.metadata.name])
  for (const [at, step] of way.slice(1).entries())
    expect(referentsOf(subjects.find((one) => one.metadata.name === way[at]))).toContain(step)
}

it('sorts Subjects after those that they reference, except members of cycles', () => {
  fc.assert(
    fc.property(graph, (subjects) => {
      const ordered = sortByReferences(subjects)
      expect([...ordered].map(resourceKeyOf).sort()).toEqual(subjects.map(resourceKeyOf).sort())
      const names = ordered.map(({ metadata }) => metadata.name)
      const isRound = (one: Resource<'Subject'>) => aheadOf(one, subjects).has(one.metadata.name)
      const meetsCircle = (one: Resource<'Subject'>) =>
        isRound(one) || subjects.some((other) => isRound(other) && aheadOf(one, subjects).has(other.metadata.name))
      for (const [at, one] of ordered.entries()) {
        if (meetsCircle(one)) continue
        for (const referent of referentsOf(one)) expect(names.indexOf(referent)).toBeLessThan(at)
      }
    }),
  )
})

it('visits each Subject once in a dense graph, and handles a long chain', { tags: ['slow'] }, () => {
  const layers = Array.from({ length: 120 }, (_, number) =>
    subject(
      number,
      [0, 1].map((other) => 2 * Math.floor(number / 2) + 2 + other),
    ),
  )
  expect(findReferenceCycle(layers[0]!, clusterOf(layers))).toBeUndefined()
  const chain = Array.from({ length: 20_000 }, (_, number) => subject(number, [number + 1]))
  expect(findReferenceCycle(chain[0]!, clusterOf(chain))).toBeUndefined()
  expect(sortByReferences(chain)[0]).toBe(chain.at(-1))
})
