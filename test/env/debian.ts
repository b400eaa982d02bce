import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Found } from './part.ts'
import { type Command, run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { takeTurns } from './take-turns.ts'

const inTurn = takeTurns()

/**
 * Debian packages without installation: the packages and their dependencies are unpacked into a cache folder. Commands
 * that need them run in a separate mount namespace, in which that folder is an overlay of `/usr` and `/etc`. The
 * machine itself is not changed.
 */
export async function findDebian(packages: readonly string[]): Promise<Found> {
  if (process.getuid?.() !== 0) return { how: 'missing', detail: 'only root may mount and run containers' }
  for (const [file, ...args] of [
    ['apt-get', '--version'],
    ['unshare', '--mount', 'true'],
  ] as const) {
    if (!(await works(file, args))) return { how: 'missing', detail: `${file} does not work here` }
  }
  return { how: 'toolchain', detail: `Debian's ${packages[0]}, from apt`, cached: existsSync(folderOf(packages)) }
}

/** Returns the overlay folder with the packages. Takes up to a minute the first time. */
export async function unpackDebian(packages: readonly string[]): Promise<string> {
  const folder = folderOf(packages)
  if (existsSync(folder)) return folder
  const written = mkdtempSync(`${folder}-`)
  const archives = join(written, 'archives')
  mkdirSync(join(archives, 'partial'), { recursive: true })
  try {
    await inTurn(() => download(packages, archives))
    const root = join(written, 'root')
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
      await must({ file: 'dpkg', args: ['-x', join(archives, file), root], directory: written })
    }
    nameAlternatives(join(root, 'usr/sbin'))
    // Renamed only when it is complete; another run may have been faster.
    if (!existsSync(folder)) renameSync(root, folder)
    return folder
  } finally {
    removeDirectory(written)
  }
}

/** Wraps a command so that the packages of `folder` are installed for it. `unshared`: further `unshare` arguments. */
export function withDebian(folder: string, command: Command, unshared: readonly string[] = []): Command {
  const over = ['usr', 'etc'].map(
    (name) => `mount -t overlay overlay -o lowerdir=${join(folder, name)}:/${name} /${name}`,
  )
  const script = `${over.join(' && ')} && exec "$@"`
  return {
    ...command,
    file: 'unshare',
    args: ['--mount', ...unshared, 'sh', '-c', script, 'sh', command.file, ...command.args],
  }
}

/** Runs a command and returns its standard output. If it fails, throws an error with the end of its output. */
export async function must(command: Command): Promise<string> {
  const { code, stdout, stderr } = await run(command)
  if (code === 0) return stdout
  const lines = `${stdout}\n${stderr}`.trimEnd().split('\n').slice(-30).join('\n')
  throw new Error(`${command.file} ${command.args.join(' ')} ended with ${code}:\n${lines}`)
}

async function works(file: string, args: readonly string[]): Promise<boolean> {
  try {
    return (await run({ file, args, directory: '.' })).code === 0
  } catch {
    return false
  }
}

/** Downloads the packages and their missing dependencies. Updates missing or outdated package lists. */
async function download(packages: readonly string[], archives: string): Promise<void> {
  const apt = (...args: readonly string[]): Command => ({
    file: 'apt-get',
    args: ['--quiet', '--yes', ...args],
    directory: '.',
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  })
  const options = [
    '--no-install-recommends',
    '--download-only',
    '--reinstall',
    '-o',
    `Dir::Cache::archives=${archives}/`,
  ]
  const install = apt('install', ...options, ...packages)
  if ((await run(install)).code === 0) return
  await must(apt('update'))
  await must(install)
}

/** Creates the `iptables` links, which the installation scripts of the packages would create (update-alternatives). */
function nameAlternatives(folder: string): void {
  for (const name of ['iptables', 'ip6tables']) {
    if (!existsSync(join(folder, `${name}-nft`))) continue
    for (const suffix of ['', '-save', '-restore'])
      symlinkSync(`${name}-nft${suffix}`, join(folder, `${name}${suffix}`))
  }
}

/** Packages that the machine has are not downloaded. */
function folderOf(packages: readonly string[]): string {
  const key = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 8)
  return join(cacheDirectory('debian'), `${packages[0]}-${key}`)
}
