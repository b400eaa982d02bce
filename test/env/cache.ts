import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Directory for expensive downloads and builds of parts. It is outside the checkout and shared by all checkouts. */
export function cacheDirectory(name: string): string {
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const directory = join(base, 'weir', name)
  mkdirSync(directory, { recursive: true })
  return directory
}
