import { appendFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../test/env/debian.ts'
import { run } from '../../test/env/process.ts'
import { sourceOf } from './provenance.ts'
import { setVersion, tagOf } from './version.ts'

/** The commit from which a release begins. */
export type Start = {
  readonly head: string
  /** Whether the tag of the version names this commit: it is then built again, and no commit is added. */
  readonly isTagged: boolean
  /** Where the commit can be fetched; undefined if the checkout has no public remote. */
  readonly source: string | undefined
}

/** The commit of a release. */
export type Release = { readonly commit: string; readonly sourceDateEpoch: number }

/** Throws unless the checkout is clean, and the tag of the version is new or names its commit. */
export async function inspectCheckout(root: string, version: string): Promise<Start> {
  const changed = await git(root, 'status', '--porcelain')
  if (changed !== '') throw new Error(`the checkout is not clean; commit or remove:\n${changed}`)
  const head = await git(root, 'rev-parse', 'HEAD')
  const tag = await find(root, 'rev-parse', '--quiet', '--verify', `refs/tags/${tagOf(version)}^{commit}`)
  if (tag !== undefined && tag !== head)
    throw new Error(`the tag ${tagOf(version)} exists and names ${tag}, not the commit of this checkout, ${head}`)
  const remote = await find(root, 'remote', 'get-url', 'origin')
  return { head, isTagged: tag !== undefined, source: remote === undefined ? undefined : sourceOf(remote) }
}

/** Clones a commit into a directory, which uses the installed packages of the checkout. */
export async function cloneCommit(from: string, commit: string, directory: string): Promise<void> {
  await git(from, 'clone', '--quiet', '--no-checkout', '.', directory)
  await git(directory, 'checkout', '--quiet', '--detach', commit)
  symlinkSync(realpathSync(join(from, 'node_modules')), join(directory, 'node_modules'))
  appendFileSync(join(directory, '.git/info/exclude'), '/node_modules\n')
}

/** Sets the version in a clone, and commits it with the identity of the user of the checkout. */
export async function commitVersion(root: string, clone: string, version: string, date: string): Promise<Release> {
  setVersion(clone, version, date)
  if ((await git(clone, 'status', '--porcelain')) !== '') {
    const [, name = '', email = ''] = /^(.+) <(.*)> \d+ \S+$/.exec(await git(root, 'var', 'GIT_COMMITTER_IDENT')) ?? []
    const identity = ['-c', `user.name=${name}`, '-c', `user.email=${email}`]
    await git(clone, ...identity, 'commit', '--quiet', '--all', '--message', `Release ${version}`)
  }
  return readRelease(clone)
}

export async function readRelease(clone: string): Promise<Release> {
  const [commit = '', seconds] = (await git(clone, 'log', '-1', '--format=%H %ct')).split(' ')
  return { commit, sourceDateEpoch: Number(seconds) }
}

/** Adds the commit of the release to the branch of the checkout, and tags it. */
export async function finishRelease(root: string, clone: string, version: string): Promise<void> {
  await git(root, 'fetch', '--quiet', '--no-tags', clone, 'HEAD')
  await git(root, 'merge', '--quiet', '--ff-only', 'FETCH_HEAD')
  await git(root, 'tag', '--annotate', tagOf(version), '--message', `Weir ${version}`)
}

async function git(directory: string, ...args: readonly string[]): Promise<string> {
  return (await must({ file: 'git', args, directory })).trimEnd()
}

/** What git prints; undefined if it finds nothing. */
async function find(directory: string, ...args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await run({ file: 'git', args, directory })
  return code === 0 ? stdout.trim() : undefined
}
