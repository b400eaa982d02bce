import { isAbsolute, relative, sep } from 'node:path'
import { field } from '../../sdk/index.ts'

/** `allowed.paths`: places outside of which nothing is read. */
export function allowedPaths() {
  return field
    .list({
      doc: 'Folders and files that may be read, with all that is in them, as absolute paths. None: everything.',
    })
    .refine((paths) => paths.every((path) => isAbsolute(path)), 'expected absolute paths')
    .default([])
}

/** What Java does with a place that is not allowed: nothing is there. */
export function isAllowed(path: string, allowed: readonly string[]): boolean {
  if (path === '') return false
  return allowed.length === 0 || allowed.some((root) => isWithin(root, path))
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way.split(sep)[0] !== '..' && !isAbsolute(way)
}
