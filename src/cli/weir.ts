#!/usr/bin/env -S node --max-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { didYouMean } from '../config/did-you-mean.ts'
import { messageOf } from '../config/errors.ts'
import type { Command, ExitCode } from './command.ts'

type Entry = { readonly summary: string; load(): Promise<Command> }

/** Each command's code is loaded when it is asked for. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  up: {
    summary: 'run everything a folder of manifests declares, here and now',
    load: async () => (await import('./commands/up.ts')).upCommand,
  },
  registry: {
    summary: 'run a schema registry',
    load: async () => (await import('./commands/registry.ts')).registryCommand,
  },
  worker: { summary: 'run a connector worker', load: async () => (await import('./commands/worker.ts')).workerCommand },
  operator: {
    summary: 'keep what a Kubernetes cluster declares',
    load: async () => (await import('./commands/operator.ts')).operatorCommand,
  },
  data: {
    summary: 'verify, repair, back up and restore the data of an embedded broker',
    load: async () => (await import('./commands/data.ts')).dataCommand,
  },
  dlq: {
    summary: 'show dead letters, and give them another try',
    load: async () => (await import('./commands/dlq.ts')).dlqCommand,
  },
  plugins: {
    summary: 'list, describe and begin plugins',
    load: async () => (await import('./commands/plugins.ts')).pluginsCommand,
  },
  crds: {
    summary: 'print the CustomResourceDefinitions',
    load: async () => (await import('./commands/crds.ts')).crdsCommand,
  },
  health: {
    summary: 'ask running programs whether they are healthy',
    load: async () => (await import('./commands/health.ts')).healthCommand,
  },
  password: {
    summary: "make a line of a registry's users file",
    load: async () => (await import('./commands/password.ts')).passwordCommand,
  },
  export: {
    summary: 'write all that a schema registry holds to files',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  import: {
    summary: 'make a schema registry hold what was exported, with the same ids',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
}

const HELP = `weir keeps the connectors and schemas of a Kafka estate as they were declared.

usage: weir COMMAND …

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

weir COMMAND --help tells more. Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 could not decide.
`

/** Errors that say how the command line or a settings file should have been written. */
const USAGE_CODES = new Set([
  'usage',
  'invalid_settings',
  'unreadable_settings',
  'invalid_listener',
  'invalid_tls',
  'unreadable_dump',
])

// What a command loads is compiled once for all its starts.
enableCompileCache()
process.exitCode = await main(process.argv.slice(2))

async function main([name = '--help', ...args]: readonly string[]): Promise<ExitCode> {
  if (name === '--help' || name === '-h' || name === 'help') return print(HELP)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry === undefined) {
    const meant = didYouMean(name, Object.keys(COMMANDS))
    return complain(
      `there is no command '${name}'; ${meant === undefined ? 'weir --help lists them' : `did you mean ${meant}?`}`,
      2,
    )
  }
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
  // What has no code of ours is a bug: its stack is what helps.
  if (code === undefined) return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
  if (!USAGE_CODES.has(code)) return complain(messageOf(error), 1)
  return complain(`${messageOf(error)}\nweir ${name} --help tells more`, 2)
}

function print(text: string): ExitCode {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  return 0
}

function complain(sentence: string, code: ExitCode): ExitCode {
  process.stderr.write(`weir: ${sentence}\n`)
  return code
}
