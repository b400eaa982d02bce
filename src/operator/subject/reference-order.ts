import type { ClusterReader } from '../cluster/cluster.ts'
import { type Resource, type ResourceKey, resourceKey, resourceKeyOf } from '../resources/resource.ts'

type Key = ResourceKey<'Subject'>

/** The shortest cycle of references through a Subject, with the Subject at both ends; undefined when there is none. */
export function findReferenceCycle(start: Resource<'Subject'>, cluster: ClusterReader): readonly string[] | undefined {
  const startKey = resourceKeyOf(start) as Key
  // The predecessor of each Subject that was reached. Each Subject is visited once, however many paths lead to it.
  const predecessors = new Map<Key, Key>()
  const reached: Key[] = [startKey]
  for (const key of reached) {
    const resource = key === startKey ? start : cluster.get(key)
    for (const next of resource === undefined ? [] : referents(resource)) {
      if (next === startKey) return [...pathTo(key, predecessors), startKey].map(nameOf)
      if (predecessors.has(next)) continue
      predecessors.set(next, key)
      reached.push(next)
    }
  }
  return undefined
}

/** Sorts Subjects so that each comes after its referents; members of cycles come last. */
export function sortByReferences(subjects: readonly Resource<'Subject'>[]): readonly Resource<'Subject'>[] {
  const known = new Map(subjects.map((subject) => [resourceKeyOf(subject) as Key, subject]))
  const missing = new Map<Key, number>()
  const waitFor = new Map<Key, Key[]>([...known.keys()].map((key) => [key, []]))
  for (const [key, subject] of known) {
    const wanted = referents(subject).filter((referent) => known.has(referent))
    missing.set(key, wanted.length)
    for (const referent of wanted) waitFor.get(referent)?.push(key)
  }
  const ordered = new Set([...known.keys()].filter((key) => missing.get(key) === 0))
  for (const key of ordered) {
    for (const waiting of waitFor.get(key) ?? []) {
      const left = (missing.get(waiting) ?? 0) - 1
      missing.set(waiting, left)
      if (left === 0) ordered.add(waiting)
    }
  }
  const cyclic = [...known.keys()].filter((key) => !ordered.has(key))
  return [...ordered, ...cyclic].flatMap((key) => known.get(key) ?? [])
}

/** Groups Subjects so that each is in a later group than its referents, except for the members of cycles. */
export function subjectsByDepth(subjects: readonly Resource<'Subject'>[]): readonly (readonly Resource<'Subject'>[])[] {
  const depths = new Map<Key, number>()
  const groups: Resource<'Subject'>[][] = []
  for (const subject of sortByReferences(subjects)) {
    const depth = referents(subject).reduce((deepest, key) => Math.max(deepest, (depths.get(key) ?? -1) + 1), 0)
    depths.set(resourceKeyOf(subject) as Key, depth)
    while (groups.length <= depth) groups.push([])
    groups[depth]!.push(subject)
  }
  return groups
}

/** Without duplicates. */
function referents({ spec, metadata }: Resource<'Subject'>): readonly Key[] {
  const names = (spec.references ?? []).flatMap(({ subjectRef }) => subjectRef?.name ?? [])
  return [...new Set(names)].map((name) => resourceKey('Subject', metadata.namespace, name))
}

function pathTo(end: Key, predecessors: ReadonlyMap<Key, Key>): readonly Key[] {
  const path = [end]
  for (let key = predecessors.get(end); key !== undefined; key = predecessors.get(key)) path.unshift(key)
  return path
}

function nameOf(key: Key): string {
  return key.slice(key.lastIndexOf('/') + 1)
}
