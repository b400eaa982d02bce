import { referencesOf, type SubjectVersion, versionKey } from './registry-archive.ts'

/**
 * The length of the longest chain of references that begins at each version: a version of depth 2 references versions of
 * depth 1 and 0, or versions that are not in `all`. A circular reference, which no registry allows, is ignored.
 */
export function referenceDepths(all: readonly SubjectVersion[]): ReadonlyMap<SubjectVersion, number> {
  const byKey = new Map(all.map((one) => [versionKey(one.subject, one.version.version), one]))
  const depths = new Map<SubjectVersion, number>()
  const depthOf = (one: SubjectVersion): number => {
    const known = depths.get(one)
    if (known !== undefined) return known
    depths.set(one, 0)
    let depth = 0
    for (const { subject, version } of referencesOf(one)) {
      const referenced = byKey.get(versionKey(subject, version))
      if (referenced) depth = Math.max(depth, depthOf(referenced) + 1)
    }
    depths.set(one, depth)
    return depth
  }
  for (const one of all) depthOf(one)
  return depths
}
