import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Terminal } from '@xterm/headless'
import { onTestFinished } from 'vitest'
import type { Command } from '../env/process.ts'

const PROGRAM = join(import.meta.dirname, 'pseudo-terminal.py')

export type Size = { readonly columns: number; readonly rows: number }

export type PseudoTerminal = {
  /** The lines that a person sees, without blanks at their ends. */
  screen(): Promise<readonly string[]>
  /** What was scrolled out at the top. */
  scrollback(): Promise<readonly string[]>
  resize(size: Size): void
  /** Types text, as a person does. */
  type(text: string): void
  /** Sends Ctrl-C and returns the exit code. */
  interrupt(): Promise<number | null>
  /** All that was printed, with its control sequences. */
  output(): string
}

/** What a CI system sets for colors is not what a person's shell sets. */
const INTERACTIVE = { TERM: 'xterm-256color', CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined }

/** Runs a command on a real pseudo-terminal, whose screen xterm.js draws. It is killed at the end of the test. */
export function openPseudoTerminal(
  python: string,
  { file, args, directory, env }: Command,
  size: Size,
): PseudoTerminal {
  const screen = new Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true, scrollback: 10_000 })
  const sizeArgs = [String(size.columns), String(size.rows)]
  const child = spawn(python, [PROGRAM, ...sizeArgs, file, ...args], {
    cwd: directory,
    env: { ...process.env, ...INTERACTIVE, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let drawn: Promise<void> = Promise.resolve()
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString()
    drawn = new Promise((resolve) => {
      screen.write(bytes, resolve)
    })
  })
  const exited = once(child, 'exit')
  const lines = async (from: number, to: number) => {
    await drawn
    const { active } = screen.buffer
    return Array.from({ length: to - from }, (_, at) => active.getLine(from + at)?.translateToString(true) ?? '')
  }
  return {
    screen: () => lines(screen.buffer.active.baseY, screen.buffer.active.baseY + screen.rows),
    scrollback: () => lines(0, screen.buffer.active.baseY),
    resize({ columns, rows }) {
      screen.resize(columns, rows)
      child.stdin.write(`size ${columns} ${rows}\n`)
    },
    type: (text) => void child.stdin.write(`keys ${Buffer.from(text).toString('hex')}\n`),
    async interrupt() {
      child.stdin.end()
      const [code] = (await exited) as [number | null]
      await drawn
      return code
    },
    output: () => output,
  }
}
