import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from '../env/cache.ts'
import { must } from '../env/debian.ts'
import { removeDirectory } from '../env/remove-directory.ts'

/** Builds the published form of the program in a checkout. Returns the checkout. */
export async function builtCheckout(checkout: string): Promise<string> {
  await must({ file: process.execPath, args: ['scripts/build.mjs', '--code'], directory: checkout })
  return checkout
}

/** Another revision of this repository, with its packages, built once in the cache of this machine. */
export async function builtRevision(repository: string, revision: string) {
  const git = (...args: readonly string[]) => must({ file: 'git', args, directory: repository })
  const commit = (await git('rev-parse', '--verify', `${revision}^{commit}`)).trim()
  const cache = cacheDirectory('revisions')
  const checkout = join(cache, commit)
  if (!existsSync(checkout)) {
    // Only one revision is kept: its packages need 600 MB.
    for (const name of readdirSync(cache)) removeDirectory(join(cache, name))
    const unfinished = mkdtempSync(join(cache, 'unfinished-'))
    try {
      const archive = join(unfinished, 'archive.tar')
      await git('archive', `--output=${archive}`, commit)
      const root = join(unfinished, 'root')
      mkdirSync(root)
      await must({ file: 'tar', args: ['-xf', archive, '-C', root], directory: unfinished })
      await must({ file: process.execPath, args: ['scripts/ready.mjs'], directory: root })
      await builtCheckout(root)
      renameSync(root, checkout)
    } finally {
      removeDirectory(unfinished)
    }
  }
  return { checkout, name: `commit ${commit.slice(0, 8)}` }
}
