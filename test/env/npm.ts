import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { must } from './debian.ts'

/** The folder of this machine's npm package, with its dependencies. */
export async function npmFolder(): Promise<string> {
  // npm passes its own path to commands that it runs: `…/npm/bin/npm-cli.js`.
  const told = await must({ file: 'npm', args: ['exec', '--call', 'node -p process.env.npm_execpath'], directory: '/' })
  return join(realpathSync(told.trim()), '../..')
}
