import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_DIRECTORY } from './program-files.ts'

/** The version in package.json. */
export function packageVersion(): string {
  const manifest = readFileSync(join(PACKAGE_DIRECTORY, 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
