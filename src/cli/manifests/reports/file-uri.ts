import { isAbsolute, relative, sep } from 'node:path'

/** The path of a file for code hosts: relative to the working directory, with slashes. */
export function portablePath(file: string): string {
  const path = isAbsolute(file) ? relative(process.cwd(), file) : file
  return path.split(sep).join('/')
}

/** The same as a relative URI. */
export function fileUri(file: string): string {
  return portablePath(file).toWellFormed().split('/').map(encodeURIComponent).join('/')
}
