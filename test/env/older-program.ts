import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from './built-program.ts'
import { must } from './debian.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

const CHECKOUT = join(import.meta.dirname, '../..')

/**
 * The program of an earlier commit of this repository, for `startWeir`: its code with the libraries of this checkout.
 * Undefined in a clone without that commit, such as a shallow one.
 */
export async function olderProgram(commit: string): Promise<string | undefined> {
  const git = (...args: readonly string[]) => ({ file: 'git', args, directory: CHECKOUT })
  const { code } = await run(git('cat-file', '-e', `${commit}^{commit}`))
  if (code !== 0) return undefined
  const root = partDirectory('older')
  try {
    const archive = join(root, 'archive.tar')
    await must(git('archive', `--output=${archive}`, commit))
    const checkout = join(root, 'checkout')
    mkdirSync(checkout)
    await must({ file: 'tar', args: ['-xf', archive, '-C', checkout], directory: root })
    symlinkSync(join(CHECKOUT, 'node_modules'), join(checkout, 'node_modules'))
    const { WEIR_CLI = '' } = await builtProgram(checkout)
    // The build is below `node_modules`, and stays when the sources are removed.
    return realpathSync(WEIR_CLI)
  } finally {
    removeDirectory(root)
  }
}
