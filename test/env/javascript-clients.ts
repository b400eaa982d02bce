import { existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'

/** `modules`: the `node_modules` folder with the client. */
export type JavascriptClientsAddress = { readonly modules: string }

const PACKAGE = '@confluentinc/schemaregistry'
const VERSION = '1.10.1'
const VARIABLE = 'JAVASCRIPT_CLIENTS'

/**
 * Confluent's serializers for JavaScript, in a separate folder, because they need 281 packages (171 MB), including the
 * clients of four KMSs. None has native code, and install scripts are not run.
 */
export function javascriptClientsPart(name: string): Part<JavascriptClientsAddress> {
  const directory = join(cacheDirectory('javascript-clients'), VERSION)
  return {
    name,
    version: VERSION,
    async find() {
      const named = process.env[VARIABLE]
      if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
      return { how: 'toolchain', detail: `${PACKAGE} from npm`, cached: existsSync(directory) }
    },
    async start() {
      const named = process.env[VARIABLE]
      if (named === undefined && !existsSync(directory)) await install(directory)
      return { address: { modules: named ?? join(directory, 'node_modules') }, stop: async () => {} }
    },
  }
}

/** Takes about 30 s the first time. */
async function install(directory: string): Promise<void> {
  const temporary = mkdtempSync(`${directory}-`)
  try {
    writeFileSync(join(temporary, 'package.json'), '{ "private": true }')
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    const args = ['install', ...options, `${PACKAGE}@${VERSION}`]
    const { code, stdout, stderr } = await run({ file: 'npm', args, directory: temporary })
    if (code !== 0) throw new Error(`npm could not install ${PACKAGE}:\n${stdout}${stderr}`)
    // Renamed only when it is complete; another run may have been faster.
    if (!existsSync(directory)) renameSync(temporary, directory)
  } finally {
    removeDirectory(temporary)
  }
}
