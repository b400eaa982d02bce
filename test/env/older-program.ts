import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from './built-program.ts'
import { must } from './debian.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

const CHECKOUT = join(import.meta.dirname, '../..')

/** The first commit whose program runs with the libraries of this checkout. Its only API version is `v1alpha1`. */
export const OLDER_COMMIT = 'd95348a124f449cf3f9ac44bc49a28959673a5eb'

/**
 * The program of the older commit, for `startWeir`: its code with the libraries of this checkout. Undefined in a clone
 * without that commit, such as a shallow one.
 */
export async function olderProgram(): Promise<string | undefined> {
  const root = partDirectory('older')
  try {
    const checkout = join(root, 'checkout')
    if (!(await extractOlder(checkout))) return undefined
    symlinkSync(join(CHECKOUT, 'node_modules'), join(checkout, 'node_modules'))
    const { WEIR_CLI = '' } = await builtProgram(checkout)
    // The build is below `node_modules`, and stays when the sources are removed.
    return realpathSync(WEIR_CLI)
  } finally {
    removeDirectory(root)
  }
}

/** Writes the files of the older commit below `paths` to a new directory. False in a clone without that commit. */
export async function extractOlder(directory: string, ...paths: readonly string[]): Promise<boolean> {
  const git = (...args: readonly string[]) => ({ file: 'git', args, directory: CHECKOUT })
  const { code } = await run(git('cat-file', '-e', `${OLDER_COMMIT}^{commit}`))
  if (code !== 0) return false
  mkdirSync(directory)
  const archive = `${directory}.tar`
  await must(git('archive', `--output=${archive}`, OLDER_COMMIT, ...paths))
  await must({ file: 'tar', args: ['-xf', archive, '-C', directory], directory })
  return true
}
