import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { must } from '../env/debian.ts'
import { run } from '../env/process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('scripts/update-dependencies.mjs', () => {
  it('requests the latest version of each outdated package but those that follow another version', async () => {
    const { directory, calls, update } = checkout({
      fastify: { current: '5.0.0', wanted: '5.0.0', latest: '5.1.0' },
      vitest: { wanted: '4.0.0', latest: '5.0.0' },
      node: { wanted: '24.1.0', latest: '26.0.0' },
    })
    expect(await update()).toMatchObject({
      code: 0,
      stdout: [
        'fastify 5.0.0 -> 5.1.0',
        'vitest 4.0.0 -> 5.0.0',
        'node 24.1.0 -> 26.0.0 (not changed: follows the version in test/env/supported-versions.ts)',
        '',
      ].join('\n'),
    })
    expect(calls().at(-1)).toMatch(/^install --package-lock-only --ignore-scripts .* fastify@5\.1\.0 vitest@5\.0\.0$/)
    // The lock file is completed: the package of another platform is in it.
    expect(readFileSync(join(directory, 'package-lock.json'), 'utf8')).toContain('node_modules/native-darwin-arm64')
  })

  it('changes nothing when every package is at its latest version', async () => {
    const { calls, update } = checkout({})
    expect(await update()).toMatchObject({ code: 0, stdout: 'no package is changed\n' })
    expect(calls()).toEqual(['outdated --json'])
  })

  it('fails with the message of npm when the registry does not answer', async () => {
    const { update } = checkout({ error: { code: 'ECONNREFUSED', summary: 'connect refused' } })
    const { code, stderr } = await update()
    expect(code).not.toBe(0)
    expect(stderr).toContain('npm outdated failed: connect refused')
  })

  /** The script in a directory of its own, with a program `npm` that reports these outdated packages. */
  function checkout(outdated: object) {
    const directory = temporaryDirectory()
    const bin = join(directory, 'bin')
    mkdirSync(bin)
    mkdirSync(join(directory, 'scripts'))
    for (const name of ['update-dependencies', 'complete-lock'])
      cpSync(join(ROOT, `scripts/${name}.mjs`), join(directory, `scripts/${name}.mjs`))
    const native = { version: '1.0.0', optionalDependencies: { 'native-darwin-arm64': '1.0.0' } }
    writeFileSync(
      join(directory, 'package-lock.json'),
      JSON.stringify({ packages: { '': {}, 'node_modules/native': native } }),
    )
    writeFileSync(join(directory, 'outdated.json'), JSON.stringify(outdated))
    writeProgram(
      bin,
      'npm',
      `echo "$@" >> "${directory}/calls"; if [ "$1" = outdated ]; then cat outdated.json; exit 1; fi`,
    )
    return {
      directory,
      calls: () => readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n'),
      update: () =>
        run({
          file: process.execPath,
          args: ['scripts/update-dependencies.mjs'],
          directory,
          env: { PATH: `${bin}:${process.env['PATH']}` },
        }),
    }
  }
})

describe('.ci/open-pull-request', () => {
  it('pushes the changes to a branch and opens one pull request, also when it runs again', async () => {
    const { directory, git, propose, calls } = await clone()
    writeFileSync(join(directory, 'file'), 'two')
    await must(propose({ open: 0 }))
    expect(await git('log', '--format=%s', 'origin/updates')).toBe('Update\nfirst\n')
    await git('switch', '--quiet', 'main')
    writeFileSync(join(directory, 'file'), 'three')
    await must(propose({ open: 1 }))
    expect(await git('show', 'origin/updates:file')).toBe('three')
    expect(calls().filter((call) => call.startsWith('pr create'))).toEqual([
      expect.stringContaining('--base main --head updates --title Update'),
    ])
  })

  it('does nothing without changes', async () => {
    const { git, propose } = await clone()
    expect(await must(propose({ open: 0 }))).toBe('nothing has changed\n')
    expect(await git('branch', '--all', '--list', '*updates*')).toBe('')
  })

  async function clone() {
    const base = temporaryDirectory()
    const directory = join(base, 'clone')
    const bin = join(base, 'bin')
    mkdirSync(bin)
    writeProgram(bin, 'gh', `echo "$@" >> "${base}/calls"; if [ "$2" = list ]; then echo "$OPEN"; fi`)
    await must({ file: 'git', args: ['init', '--quiet', '--bare', 'remote.git'], directory: base })
    await must({ file: 'git', args: ['init', '--quiet', '--initial-branch=main', 'clone'], directory: base })
    const git = (...args: readonly string[]) => must({ file: 'git', args, directory })
    mkdirSync(join(directory, '.ci'))
    cpSync(join(ROOT, '.ci/open-pull-request'), join(directory, '.ci/open-pull-request'))
    writeFileSync(join(directory, 'file'), 'one')
    await git('add', '.')
    await git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--quiet', '--message', 'first')
    await git('remote', 'add', 'origin', '../remote.git')
    return {
      directory,
      git,
      calls: () => readFileSync(join(base, 'calls'), 'utf8').trim().split('\n'),
      propose: ({ open }: { readonly open: number }) => ({
        file: '.ci/open-pull-request',
        args: ['updates', 'Update'],
        directory,
        env: { PATH: `${bin}:${process.env['PATH']}`, OPEN: String(open) },
      }),
    }
  }
})

function writeProgram(directory: string, name: string, script: string): void {
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(directory, name), 0o755)
}
