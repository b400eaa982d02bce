#!/usr/bin/env -S node --max-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { postponeOptimization } from '../common/code-optimization.ts'
import { messageOf } from '../common/errors.ts'
import { didYouMean } from '../config/did-you-mean.ts'
import type { Command, ExitCode } from './command.ts'
import { endOnOutputError } from './process/output-errors.ts'
import { printableText } from './terminal/printable-text.ts'

type CommandEntry = {
  readonly summary: string
  /** Set for a command that runs until it is stopped. V8 optimizes its code only under load. */
  readonly isProgram?: true
  load(): Promise<Command>
}

/** The code of a command is loaded when the command is used. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: {
    summary: 'run the connectors and schemas of a directory of manifests',
    isProgram: true,
    load: async () => (await import('./commands/up.ts')).upCommand,
  },
  registry: {
    summary: 'run a schema registry',
    isProgram: true,
    load: async () => (await import('./commands/registry.ts')).registryCommand,
  },
  worker: {
    summary: 'run a connector worker',
    isProgram: true,
    load: async () => (await import('./commands/worker.ts')).workerCommand,
  },
  operator: {
    summary: 'reconcile the resources of a Kubernetes cluster',
    isProgram: true,
    load: async () => (await import('./commands/operator.ts')).operatorCommand,
  },
  check: {
    summary: 'check manifests before they are applied',
    load: async () => (await import('./commands/check.ts')).checkCommand,
  },
  takeover: {
    summary: 'describe the takeover of a group of other workers or registries',
    load: async () => (await import('./commands/takeover.ts')).takeoverCommand,
  },
  diff: {
    summary: 'print what applying manifests would change',
    load: async () => (await import('./commands/diff.ts')).diffCommand,
  },
  generate: {
    summary: 'write manifests of running connectors and schemas',
    load: async () => (await import('./commands/generate.ts')).generateCommand,
  },
  data: {
    summary: 'verify, repair, back up and restore the data of an embedded broker',
    load: async () => (await import('./commands/data.ts')).dataCommand,
  },
  topic: {
    summary: 'back up a topic to a file, and restore it',
    load: async () => (await import('./commands/topic.ts')).topicCommand,
  },
  dlq: {
    summary: 'show and replay dead letters',
    load: async () => (await import('./commands/dlq.ts')).dlqCommand,
  },
  plugins: {
    summary: 'list, describe and create plugins',
    load: async () => (await import('./commands/plugins.ts')).pluginsCommand,
  },
  crds: {
    summary: 'print the CustomResourceDefinitions',
    load: async () => (await import('./commands/crds.ts')).crdsCommand,
  },
  health: {
    summary: 'check the health of running programs',
    load: async () => (await import('./commands/health.ts')).healthCommand,
  },
  password: {
    summary: 'create a line of a users file',
    load: async () => (await import('./commands/password.ts')).passwordCommand,
  },
  export: {
    summary: 'export the content of a schema registry to files',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  import: {
    summary: 'import an export into a schema registry, with the same ids',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  convert: {
    summary: 'convert manifests of other systems to manifests of Weir',
    load: async () => (await import('./commands/convert.ts')).convertCommand,
  },
}

const HELP = `weir manages Kafka connectors and schemas from declarative manifests.

usage: weir COMMAND …

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

weir COMMAND --help describes a command. Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 undecided.
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

// Compiled code is cached between runs.
enableCompileCache()
process.exitCode = await main(process.argv.slice(2))

async function main([name = '--help', ...args]: readonly string[]): Promise<ExitCode> {
  if (name === '--help' || name === '-h' || name === 'help') return print(HELP)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry === undefined) {
    const meant = didYouMean(name, Object.keys(COMMANDS))
    return printError(
      `unknown command '${name}'; ${meant === undefined ? 'weir --help lists all commands' : `did you mean ${meant}?`}`,
      2,
    )
  }
  if (entry.isProgram) postponeOptimization()
  else endOnOutputError()
  try {
    const command = await entry.load()
    if (args.includes('--help') || args.includes('-h')) return print(command.help)
    return await command.run(args)
  } catch (error) {
    return fail(name, error)
  }
}

function fail(name: string, error: unknown): ExitCode {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  // An error without a code is a bug, so its stack is printed.
  if (code === undefined) return printError(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
  if (!USAGE_CODES.has(code)) return printError(messageOf(error), 1)
  return printError(`${messageOf(error)}\nweir ${name} --help describes the command`, 2)
}

function print(text: string): ExitCode {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  return 0
}

function printError(message: string, code: ExitCode): ExitCode {
  process.stderr.write(`weir: ${printableText(message, '\n')}\n`)
  return code
}
