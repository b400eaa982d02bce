import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { weirCommand } from '../support/cli.ts'
import { openPseudoTerminal, type PseudoTerminal, type Size } from '../support/pseudo-terminal.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const QUICKSTART = 'examples/quickstart'
const NAMES = ['orders-value', 'orders-source', 'orders-file', 'readme-source', 'readme-copy']
const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const PORTS = ['--registry-port', '0', '--worker-port', '0', '--console-port', '0']
/** What a person needs to know of the incompatible schema: the resource, the kind of the conflict, its path, and the end of the message. */
const PROBLEM = [
  'subject orders-value: Incompatible',
  'READER_FIELD_MISSING_DEFAULT_VALUE',
  '/fields/0',
  'is missing in the old schema',
]

const python = await real('python')

describeOn([python], 'weir up on a terminal', () => {
  it.each<Size>([
    { columns: 60, rows: 15 },
    { columns: 80, rows: 24 },
    { columns: 140, rows: 40 },
  ])('fits %o and shows a problem whole', async (size) => {
    const terminal = await startWithProblem(size)
    await untilScreen(terminal, (screen) => hasProblem(screen) && isOneTable(screen, size))
    expect(await terminal.interrupt()).toBe(0)
  })

  it('follows the size of the terminal while it runs', async () => {
    const terminal = await startWithProblem({ columns: 140, rows: 40 })
    for (const size of [
      { columns: 70, rows: 18 },
      { columns: 60, rows: 15 },
      { columns: 120, rows: 30 },
    ]) {
      terminal.resize(size)
      await untilScreen(terminal, (screen) => hasProblem(screen) && isOneTable(screen, size))
    }
    expect(await terminal.interrupt()).toBe(0)
  })

  it('writes lines without control sequences with TERM=dumb', async () => {
    const { terminal } = startUp({ columns: 80, rows: 24 }, { TERM: 'dumb' })
    await until('a Ready resource', WAIT, () => terminal.output().includes('"ready":"True"'))
    expect(await terminal.interrupt()).toBe(0)
    expect(terminal.output()).not.toContain('\x1b')
  })
})

function startUp(size: Size, env: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory()
  for (const path of [QUICKSTART, 'README.md'])
    cpSync(join(REPOSITORY, path), join(directory, path), { recursive: true })
  const command = weirCommand(directory, ['up', QUICKSTART, '--data', join(directory, 'data'), ...PORTS])
  const terminal = openPseudoTerminal(python.address.file, { ...command, env }, size)
  return { terminal, subject: join(directory, QUICKSTART, 'orders-value.yaml') }
}

/** Starts the quick start, and then adds the field without a default that its manifest suggests. */
async function startWithProblem(size: Size): Promise<PseudoTerminal> {
  const { terminal, subject } = startUp(size)
  await until('version 1', WAIT, async () =>
    (await terminal.screen()).some((line) => /orders-value .*version 1/.test(line)),
  )
  const manifest = readFileSync(subject, 'utf8')
  writeFileSync(subject, manifest.replace('"fields": [', '"fields": [{"name": "coupon", "type": "string"},'))
  await untilScreen(terminal, hasProblem)
  return terminal
}

async function untilScreen(terminal: PseudoTerminal, isSo: (screen: readonly string[]) => boolean): Promise<void> {
  await until('the screen', WAIT, async () => isSo(await terminal.screen())).catch(async (error: Error) => {
    throw new Error(`${error.message}; it is:\n${(await terminal.screen()).join('\n')}`)
  })
}

function hasProblem(screen: readonly string[]): boolean {
  const text = screen.join(' ').replace(/\s+/g, ' ')
  return PROBLEM.every((part) => text.includes(part))
}

function isOneTable(screen: readonly string[], { columns, rows }: Size): boolean {
  const count = (pattern: RegExp) => screen.filter((line) => pattern.test(line)).length
  return (
    screen.length === rows &&
    screen.every((line) => line.length <= columns) &&
    count(/^weir reconciles/) === 1 &&
    count(/^(?:KIND +)?NAME /) === 1 &&
    // On a low terminal, resources that are Ready are left out, and counted.
    (NAMES.every((name) => count(new RegExp(`\\b${name} `)) > 0) || count(/^… and \d+ more$/) === 1)
  )
}
