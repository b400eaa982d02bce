import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Output, run } from '../env/process.ts'
import { weirCommand } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLE = join(ROOT, 'examples/plugin')
const GUIDE = readFileSync(join(ROOT, 'docs/write-a-connector.md'), 'utf8')

/** A block of the guide: a command line, or what goes into the file that the line above it names. */
type Block = { readonly language: string; readonly text: string; readonly file: string | undefined }

const blocks = [...GUIDE.matchAll(/([^\n]*)\n[^\n]*\n*```(\w+)\n(.*?)```\n/gs)].map(
  ([whole, , language = '', text = '']): Block => ({ language, text, file: fileNamed(whole, language) }),
)

function fileNamed(whole: string, language: string): string | undefined {
  const before = whole.slice(0, whole.indexOf('```'))
  return language === 'sh' ? undefined : /(?:[Pp]ut this into|Replace the content of) `([^`]+)`/.exec(before)?.[1]
}

describe('the guide', () => {
  it('is about the example, word for word', () => {
    for (const file of ['folder-watch.ts', 'folder-watch.test.ts']) {
      const block = blocks.find((one) => one.file === file)
      expect(block?.text, file).toBe(readFileSync(join(EXAMPLE, file), 'utf8'))
    }
  })

  it('leads from nothing to a connector that runs', async () => {
    const written = blocks.filter(({ language }) => language !== 'sh')
    expect(written.map(({ file }) => file)).toEqual(['folder-watch.ts', 'folder-watch.test.ts', 'run/watch.yaml'])
    const script = blocks.map(({ text, file }) => (file === undefined ? text : heredoc(file, text))).join('')
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

describe('the example', () => {
  it("passes its own test, as its author runs it, and is a worker's by its folder", async () => {
    const directory = temporaryDirectory()
    cpSync(EXAMPLE, directory, { recursive: true })
    const script = 'npm install\nnpm test\nweir plugins list --plugin-path .\n'
    const { code, stdout, stderr } = await shell(directory, script)
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('pass 4')
    expect(stdout).toMatch(/source +FolderWatch +1\.0\.0/)
  })

  it('runs from the checkout as its manifest says', async () => {
    const data = temporaryDirectory()
    const args = ['--registry-port', '0', '--worker-port', '0', '--set', 'worker.plugin.path=examples/plugin']
    const { code, stdout, stderr } = await run(
      weirCommand(ROOT, ['up', 'examples/plugin/run', '--data', data, ...args, '--once']),
    )
    expect(code, stdout + stderr).toBe(0)
  })
})

function heredoc(file: string, text: string): string {
  return `mkdir -p "$(dirname ${file})"\ncat > ${file} <<'END_OF_FILE'\n${text}END_OF_FILE\n`
}

/** In a shell that stops at the first error, with the commands that the guide has on PATH. */
function shell(directory: string, script: string): Promise<Output> {
  const bin = commands()
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}` }
  return run({ file: 'sh', args: ['-ec', script], directory, env })
}

/** `weir` is this checkout's, and `npm install` brings it, which the registry of packages may not have yet. */
function commands(): string {
  const bin = temporaryDirectory()
  const weir = weirCommand('.', [])
  const sdk = join(bin, 'weir-package')
  mkdirSync(sdk)
  symlinkSync(join(ROOT, 'src'), join(sdk, 'src'))
  writeFileSync(join(sdk, 'package.json'), JSON.stringify({ exports: { './sdk': './src/sdk/index.ts' } }))
  const install = `mkdir -p node_modules && ln -s ${sdk} node_modules/weir`
  for (const [name, line] of [
    ['weir', `exec ${[weir.file, ...weir.args].join(' ')} "$@"`],
    ['npm', `if [ "$1" = install ]; then ${install}; else exec ${process.execPath} --test; fi`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}
