import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { docBlocks, ROOT } from '../support/doc-commands.ts'

const PAGE = 'docs/examples.md'
const TIMEOUT_MS = 400_000

it('the commands of the page of examples print the output that the page shows', follow, TIMEOUT_MS)

async function follow(): Promise<void> {
  const directory = checkout()
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  let printed: string | undefined
  let outputs = 0
  for (const block of docBlocks(PAGE)) {
    if (block.kind === 'file') {
      mkdirSync(dirname(join(directory, block.name)), { recursive: true })
      writeFileSync(join(directory, block.name), block.text)
    } else if (block.kind === 'run') {
      expect(block.needs, `${PAGE}:${block.line}`).toBe('local')
      const { code, stdout, stderr } = await run({ file: 'bash', args: ['-ec', block.text], directory, env })
      expect(code, `${PAGE}:${block.line}: ${block.text}\n${stdout}\n${stderr}`).toBe(0)
      printed = stdout
    } else {
      expect(printed, `${PAGE}:${block.line}`).toMatch(patternOf(block.text))
      outputs += 1
    }
  }
  expect(outputs).toBeGreaterThan(4)
}

/** The shown text; `…` stands for anything within a line. */
function patternOf(text: string): RegExp {
  return new RegExp(`^${text.split('…').map(RegExp.escape).join('.*')}$`)
}

/** What the commands use of the checkout, in a directory in which they may write. */
function checkout(): string {
  const directory = partDirectory('examples')
  for (const name of ['package.json', 'src', 'scripts', 'node_modules'])
    symlinkSync(join(ROOT, name), join(directory, name))
  return directory
}
