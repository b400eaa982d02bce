import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import { must, withDebian } from './debian.ts'
import { npmFolder } from './npm.ts'

const SUITE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'
/** Of the certificates that it trusts, from its root. */
export const TRUSTED = 'etc/ssl/certs/ca-certificates.crt'

/**
 * The root of an image like Docker's own of Node, for machines that reach no container registry: Debian's smallest system
 * with this checkout's Node and the npm that runs here. One to three minutes the first time.
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
    rmSync(written, { recursive: true, force: true })
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

/** Whom this machine trusts, so that npm finds its registry where the way there is watched. */
async function addTrust(root: string): Promise<void> {
  const own = join('/', TRUSTED)
  if (!existsSync(own)) return
  mkdirSync(dirname(join(root, TRUSTED)), { recursive: true })
  await cp(realpathSync(own), join(root, TRUSTED))
}
