import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import { must, withDebian } from './debian.ts'
import { npmFolder } from './npm.ts'
import { removeDirectory } from './remove-directory.ts'

const SUITE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'
/** Path of the trusted certificates, relative to the root. */
export const TRUSTED = 'etc/ssl/certs/ca-certificates.crt'

/**
 * Builds the root of an image like Docker's official Node image, for machines without access to a container registry: a
 * minimal Debian with the Node of this checkout and the npm of this machine. Takes 1 to 3 min the first time.
 */
export async function nodeBaseRoot(debian: string): Promise<string> {
  const folder = join(cacheDirectory('node-base'), `${SUITE}-${nodeVersion()}`)
  if (existsSync(folder)) return folder
  const written = mkdtempSync(`${folder}-`)
  try {
    const args = ['--variant=minbase', SUITE, join(written, 'root'), MIRROR]
    await must(withDebian(debian, { file: 'debootstrap', args, directory: written }))
    await addNode(join(written, 'root/usr/local'))
    await addTrust(join(written, 'root'))
    if (!existsSync(folder)) renameSync(join(written, 'root'), folder)
    return folder
  } finally {
    removeDirectory(written)
  }
}

function nodeVersion(): string {
  const manifest = join(import.meta.dirname, '../../node_modules/node/package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

async function addNode(local: string): Promise<void> {
  const modules = join(local, 'lib/node_modules')
  mkdirSync(modules, { recursive: true })
  await cp(join(import.meta.dirname, '../../node_modules/node/bin/node'), join(local, 'bin/node'))
  await cp(await npmFolder(), join(modules, 'npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
}

/** Copies the CA certificates of this machine, so that npm works behind a TLS-intercepting proxy. */
async function addTrust(root: string): Promise<void> {
  const own = join('/', TRUSTED)
  if (!existsSync(own)) return
  mkdirSync(dirname(join(root, TRUSTED)), { recursive: true })
  await cp(realpathSync(own), join(root, TRUSTED))
}
