import { isAbsolute, relative, sep } from 'node:path'
import { type FileAccess, field } from '../../sdk/index.ts'

/** The `allowed.paths` key: files outside of these paths are not read. */
export function allowedPaths() {
  return field
    .list({
      doc: 'Absolute paths of files and directories that may be read, including everything in the directories. Default: all.',
    })
    .refine((paths) => paths.every((path) => isAbsolute(path)), 'expected absolute paths')
    .default([])
}

/**
 * Resolves symbolic links and returns the real path, or undefined if it is not allowed; then, as in Java, the result is
 * empty and not an error. Rejects for files that belong to the worker.
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
