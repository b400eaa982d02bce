import { spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'
import { isManifestPath, MANIFEST_BYTES_MAX } from '../../operator/simulation.ts'
import { UsageError } from '../command.ts'

export type RevisionFile = { readonly path: string; readonly text: string }

const REGULAR_FILE = /^100/
const REPOSITORY_VARIABLES: ReadonlySet<string> = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX'])

/** The manifest files of a directory as they are in a git revision, with paths relative to the directory. */
export async function readRevision(directory: string, revision: string): Promise<readonly RevisionFile[]> {
  const run = (args: readonly string[], input = '') => git(directory, revision, args, input)
  const commit = (await run(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]))
    .toString()
    .trim()
  const listed = (await run(['ls-tree', '-r', '-z', '-l', commit, '.'])).toString().split('\0')
  const files = listed.flatMap((line) => {
    // MODE TYPE OBJECT SIZE, a tab, and the path.
    const [, mode = '', object = '', size = '', path = ''] = /^(\d+) blob (\w+) +(\d+)\t([\s\S]+)$/.exec(line) ?? []
    const isRead = REGULAR_FILE.test(mode) && isManifestPath(path) && Number(size) <= MANIFEST_BYTES_MAX
    return isRead ? [{ path, object }] : []
  })
  const contents = blobsOf(await run(['cat-file', '--batch'], files.map(({ object }) => `${object}\n`).join('')))
  return files.map(({ path }, at) => ({ path, text: contents[at] ?? '' }))
}

/** The contents in the output of `git cat-file --batch`: a line `OBJECT blob SIZE`, the content and a line break, each. */
function blobsOf(output: Buffer): readonly string[] {
  const contents: string[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at)
    const size = Number(output.toString('latin1', at, end).split(' ')[2])
    contents.push(output.toString('utf8', end + 1, end + 1 + size))
    at = end + 1 + size + 1
  }
  return contents
}

async function git(directory: string, revision: string, args: readonly string[], input: string): Promise<Buffer> {
  // A hook of git has variables that name its repository by a path that is relative to another directory.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !REPOSITORY_VARIABLES.has(name)))
  const child = spawn('git', ['-C', directory, ...args], { stdio: ['pipe', 'pipe', 'pipe'], env })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code))
  })
  // A git that ends early does not read its input: its exit code says why.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const failed = (reason: string) =>
    new UsageError(`--against ${revision}: ${reason}: give a revision of the git repository of ${directory}`)
  try {
    const [output, errors, code] = await Promise.all([buffer(child.stdout), text(child.stderr), ended])
    if (code === 0) return output
    throw failed(errors.trim() || 'there is no such revision')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw failed(`git cannot be started (${(error as NodeJS.ErrnoException).code})`)
  }
}
