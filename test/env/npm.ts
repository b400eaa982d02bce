import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { must } from './debian.ts'

/** Where this machine's npm is: a package with all that it needs. */
export async function npmFolder(): Promise<string> {
  // npm tells what it calls where it itself is: `…/npm/bin/npm-cli.js`.
  const told = await must({ file: 'npm', args: ['exec', '--call', 'node -p process.env.npm_execpath'], directory: '/' })
  return join(realpathSync(told.trim()), '../..')
}
