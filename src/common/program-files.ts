import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

// The build joins modules into files, in other directories than those of their sources. So this is the only module that
// derives paths from its own: the build gives it a file of its own, one directory below the code as here.

/** The directory of the code: `src`, or `dist` in the published package. */
export const CODE_DIRECTORY = resolve(import.meta.dirname, '..')

/** The directory of the package. */
export const PACKAGE_DIRECTORY = resolve(CODE_DIRECTORY, '..')

/** The URL of a module that a thread or process starts with, from its path below `src` without extension. */
export function entryPoint(path: string): URL {
  return pathToFileURL(resolve(CODE_DIRECTORY, `${path}${extname(import.meta.filename)}`))
}
