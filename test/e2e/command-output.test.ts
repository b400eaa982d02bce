import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-list.ts'
import { mapConcurrently } from '../../src/common/map-concurrently.ts'
import { describeOn, real } from '../env/real.ts'
import { weirCommand } from '../support/cli.ts'
import { openPseudoTerminal } from '../support/pseudo-terminal.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
/** 128 and SIGPIPE. */
const READER_IS_GONE = 141

const python = await real('python')

it('every command ends without a stack trace when its reader has gone, as with head', async () => {
  const directory = temporaryDirectory()
  const lines = [['--help'], ['--version'], ...Object.keys(COMMANDS).map((name) => [name, '--help'])]
  const ended = await mapConcurrently(lines, async (args) => {
    const { file, args: all } = weirCommand(directory, args)
    const child = spawn(file, all, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    return { args, code, stderr }
  })
  expect(ended).toEqual(lines.map((args) => ({ args, code: READER_IS_GONE, stderr: '' })))
})

describeOn([python], 'a command on a terminal', () => {
  it.each([
    ['xterm-256color', true],
    ['dumb', false],
  ])('with TERM=%s prints colors: %s', async (TERM, hasColors) => {
    const command = weirCommand(temporaryDirectory(), ['doctor', '--worker', 'http://127.0.0.1:1'])
    const terminal = openPseudoTerminal(python.address.file, { ...command, env: { TERM } }, { columns: 120, rows: 24 })
    await until('the problem', WAIT, () => terminal.output().includes('its log has the reason'))
    expect(terminal.output().includes('\u001b[31m')).toBe(hasColors)
    expect(terminal.output().includes('\u001b')).toBe(hasColors)
  })
})
