import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Output, run } from '../env/process.ts'
import { weirCommand, weirScript } from '../support/cli.ts'
import { DOC_PAGES, type DocBlock, docBlocks, ROOT } from '../support/doc-commands.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const EXAMPLE = join(ROOT, 'examples/plugin')

const blocks = docBlocks(DOC_PAGES.guide.pages[0])

describe('docs/write-a-connector.md', () => {
  it('shows the files of examples/plugin', () => {
    for (const name of ['folder-watch.ts', 'folder-watch.test.ts']) {
      const shown = blocks.find((block) => block.kind === 'file' && block.name === name)
      expect(shown, name).toMatchObject({ text: readFileSync(join(EXAMPLE, name), 'utf8') })
    }
  })

  it('creates a connector that runs', async () => {
    const script = blocks.map(toShell).join('')
    const { code, stdout, stderr } = await shell(temporaryDirectory(), script)
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('pass 1')
    expect(stdout).toContain('pass 4')
    expect(stdout).toMatch(/source +FolderWatch +1\.0\.0/)
    expect(stdout).toContain('# FolderWatch\n')
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ kind: 'Connector', name: 'watch', ready: 'True' }),
    )
  })
})

describe('examples/plugin', () => {
  it('passes its own test with npm test, and is found by --plugin-path', async () => {
    const directory = temporaryDirectory()
    cpSync(EXAMPLE, directory, { recursive: true })
    const script = 'npm install\nnpm test\nweir plugins list --plugin-path .\n'
    const { code, stdout, stderr } = await shell(directory, script)
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('pass 4')
    expect(stdout).toMatch(/source +FolderWatch +1\.0\.0/)
  })

  it('runs with weir up in the checkout', async () => {
    const data = temporaryDirectory()
    const args = ['--registry-port', '0', '--worker-port', '0', '--set', 'worker.plugin.path=examples/plugin']
    const { code, stdout, stderr } = await run(
      weirCommand(ROOT, ['up', 'examples/plugin/run', '--data', data, ...args, '--once']),
    )
    expect(code, stdout + stderr).toBe(0)
  })
})

/** The guide as one script, because its commands change the directory. */
function toShell(block: DocBlock): string {
  if (block.kind === 'run') return block.text
  return block.kind === 'file' ? heredoc(block.name, block.text) : ''
}

function heredoc(file: string, text: string): string {
  return `mkdir -p "$(dirname ${file})"\ncat > ${file} <<'END_OF_FILE'\n${text}END_OF_FILE\n`
}

/** Runs a script that stops at the first error, with the commands of the guide on PATH. */
function shell(directory: string, script: string): Promise<Output> {
  const bin = commands()
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}` }
  return run({ file: 'sh', args: ['-ec', script], directory, env })
}

/** `weir` is that of this checkout, and `npm install` links it, because the package may not be published yet. */
function commands(): string {
  const bin = temporaryDirectory()
  const sdk = join(bin, 'weir-package')
  mkdirSync(sdk)
  symlinkSync(join(ROOT, 'src'), join(sdk, 'src'))
  writeFileSync(join(sdk, 'package.json'), JSON.stringify({ exports: { './sdk': './src/sdk/index.ts' } }))
  const install = `mkdir -p node_modules && ln -s ${sdk} node_modules/weir`
  const npm = `#!/bin/sh\nif [ "$1" = install ]; then ${install}; else exec ${process.execPath} --test; fi\n`
  writeFileSync(join(bin, 'weir'), weirScript(), { mode: 0o755 })
  writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 })
  return bin
}
