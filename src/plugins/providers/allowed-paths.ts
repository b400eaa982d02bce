import { isAbsolute, relative, sep } from 'node:path'
import { type FileAccess, field } from '../../sdk/index.ts'

/** `allowed.paths`: places outside of which nothing is read. */
export function allowedPaths() {
  return field
    .list({
      doc: 'Absolute paths of files and directories that may be read, including everything in the directories. Default: all.',
    })
    .refine((paths) => paths.every((path) => isAbsolute(path)), 'expected absolute paths')
    .default([])
}

/**
 * Where a place really is, if it may be read; undefined where it is not allowed, as for Java nothing is there then. Links
 * count as what they lead to. Rejects for a file of the worker itself.
 */
export async function allowedPath(
  path: string,
  allowed: readonly string[],
  files: FileAccess,
): Promise<string | undefined> {
  if (path === '') return undefined
  const real = await files.realPath(path)
  if (allowed.length === 0) return real
  const roots = await Promise.all(allowed.map((root) => files.realPath(root)))
  return roots.some((root) => isWithin(root, real)) ? real : undefined
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way.split(sep)[0] !== '..' && !isAbsolute(way)
}
