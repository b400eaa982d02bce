import { referencesOf, type SubjectVersion, versionKey } from './archive.ts'

/**
 * How many steps below each version its deepest reference is, by place: what has depth 2 refers only to what has 1 and 0,
 * or to what is not among these. A reference that leads in a circle, which no registry allows, counts as none.
 */
export function referenceDepths(all: readonly SubjectVersion[]): ReadonlyMap<SubjectVersion, number> {
  const byPlace = new Map(all.map((one) => [versionKey(one.subject, one.version.version), one]))
  const depths = new Map<SubjectVersion, number>()
  const depthOf = (one: SubjectVersion): number => {
    const known = depths.get(one)
    if (known !== undefined) return known
    depths.set(one, 0)
    let depth = 0
    for (const { subject, version } of referencesOf(one)) {
      const below = byPlace.get(versionKey(subject, version))
      if (below) depth = Math.max(depth, depthOf(below) + 1)
    }
    depths.set(one, depth)
    return depth
  }
  for (const one of all) depthOf(one)
  return depths
}
