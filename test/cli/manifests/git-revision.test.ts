import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRevision } from '../../../src/cli/manifests/git-revision.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

/** A repository with one commit of these files. */
function repository(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args])
  git('init', '--quiet')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  symlinkSync('/etc/hostname', join(root, 'manifests/link.yaml'))
  git('add', '--all')
  git('commit', '--quiet', '--message', 'first')
  return root
}

describe('the manifests of a git revision', () => {
  it('are those of the directory as it was, without links, hidden files and other types', async () => {
    const root = repository({
      'other/a.yaml': 'elsewhere',
      'manifests/a b.yaml': 'first\n\n',
      'manifests/deep/é.json': '{"ü": 1}',
      'manifests/empty.yml': '',
      'manifests/.hidden/a.yaml': 'hidden',
      'manifests/readme.md': 'text',
    })
    writeFileSync(join(root, 'manifests/a b.yaml'), 'changed')
    expect(await readRevision(join(root, 'manifests'), 'HEAD')).toEqual([
      { path: 'a b.yaml', text: 'first\n\n' },
      { path: 'deep/é.json', text: '{"ü": 1}' },
      { path: 'empty.yml', text: '' },
    ])
  })

  it('cannot be read of a revision that does not exist: the error names it', { tags: ['slow'] }, async () => {
    const root = repository({ 'manifests/a.yaml': 'a' })
    for (const revision of ['missing', '--output=/tmp/x', 'HEAD~5']) {
      await expect(readRevision(root, revision)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(`--against ${revision}: `),
      })
    }
  })

  it('are not read outside of a repository', async () => {
    await expect(readRevision(temporaryDirectory(), 'HEAD')).rejects.toThrow('give a revision of the git repository')
  })
})
