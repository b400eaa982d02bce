import { messageOf } from '../common/errors.ts'
import { packageVersion } from '../common/package-version.ts'
import { configuresTracing, useTracer } from '../common/tracing.ts'
import { type ExitCode, orMeant } from './command.ts'
import { COMMAND_GROUPS, COMMANDS, PROGRAMS } from './command-list.ts'
import { endOnOutputError } from './process/output-errors.ts'
import { printableText } from './terminal/printable-text.ts'

const HELP = `weir manages Kafka connectors and schemas from declarative manifests.

usage: weir COMMAND …

${COMMAND_GROUPS.map(listOf).join('\n\n')}

weir COMMAND --help, or weir help COMMAND, describes a command; weir --version prints the version. Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 undecided.
`

/** Codes of errors in the command line or in a settings file. */
const USAGE_CODES = new Set([
  'usage',
  'invalid_settings',
  'unreadable_settings',
  'invalid_listener',
  'invalid_tls',
  'unreadable_dump',
])

/** Runs a command line: the words after `weir`. Prints why it fails, and resolves with the exit code. */
export async function runCommandLine([name = '--help', ...args]: readonly string[]): Promise<ExitCode> {
  if (name === 'help' && args[0] !== undefined) return runCommandLine([args[0], '--help'])
  if (name === '--help' || name === '-h' || name === 'help') return printAlone(HELP)
  if (name === '--version' || name === '-V') return printAlone(`weir ${packageVersion()} (Node.js ${process.version})`)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry === undefined)
    return printError(
      `unknown command '${name}'; ${orMeant(name, [...Object.keys(COMMANDS), 'help'], 'weir --help lists all commands')}`,
      2,
    )
  // The words of another command follow a separator.
  const isHelp = (args.includes('--help') || args.includes('-h')) && args[0] !== '--'
  if (entry.group !== PROGRAMS || isHelp) endOnOutputError()
  try {
    const command = await entry.load()
    if (isHelp) return print(command.help)
    return await (entry.group === PROGRAMS ? runTraced(name, () => command.run(args)) : command.run(args))
  } catch (error) {
    return fail(name, error)
  }
}

/** If the environment configures traces, those that were not sent yet are sent when the program has ended. */
async function runTraced(program: string, run: () => Promise<ExitCode>): Promise<ExitCode> {
  if (!configuresTracing(process.env)) return run()
  const { openTelemetryTracer } = await import('../common/open-telemetry-tracer.ts')
  const tracer = openTelemetryTracer(program, process.env)
  useTracer(tracer)
  try {
    return await run()
  } finally {
    await tracer.stop()
  }
}

function listOf(group: (typeof COMMAND_GROUPS)[number]): string {
  const own = Object.entries(COMMANDS).filter(([, entry]) => entry.group === group)
  return [`${group}:`, ...own.map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)].join('\n')
}

function fail(name: string, error: unknown): ExitCode {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  // An error without a code is a bug, so its stack is printed.
  if (code === undefined) return printError(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
  if (!USAGE_CODES.has(code)) return printError(messageOf(error), 1)
  return printError(`${messageOf(error)}\nweir ${name} --help describes the command`, 2)
}

function printAlone(text: string): ExitCode {
  endOnOutputError()
  return print(text)
}

function print(text: string): ExitCode {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  return 0
}

function printError(message: string, code: ExitCode): ExitCode {
  process.stderr.write(`weir: ${printableText(message, '\n')}\n`)
  return code
}
