import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UserError } from '../common/errors.ts'
import { didYouMean } from '../config/did-you-mean.ts'

/** 0: done. 1: the answer is no. 2: wrong usage. 3: undecided, such as when a server is unavailable. */
export type ExitCode = 0 | 1 | 2 | 3

export type Command = {
  /** What `--help` prints. */
  readonly help: string
  run(args: readonly string[]): Promise<ExitCode>
}

/** A command in the list of commands. Its code is loaded when it is used. */
export type ListedCommand = {
  readonly summary: string
  load(): Promise<Command>
}
export type ListedCommands = Readonly<Record<string, ListedCommand>>

/** An invalid command line. The message names what is wrong and what is expected. */
export class UsageError extends UserError<'usage'> {
  constructor(message: string) {
    super('usage', message)
  }
}

export type ArgumentOptions = NonNullable<ParseArgsConfig['options']>

/** Throws a `UsageError` for unknown options and for options without their value. */
export function parseArguments<const O extends ArgumentOptions>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(describeParseError(error as NodeJS.ErrnoException, args, options))
  }
}

function describeParseError(error: NodeJS.ErrnoException, args: readonly string[], options: ArgumentOptions): string {
  const option = /'(?:-\w, )?(--?[\w-]+)/.exec(error.message)?.[1] ?? args.find((arg) => arg.startsWith('-')) ?? ''
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const names = Object.keys(options).map((name) => `--${name}`)
    return `unknown option ${option}; ${orMeant(option, names, `the options are ${names.join(' ')}`)}`
  }
  const spec = options[option.replace(/^--/, '')]
  if (spec?.type === 'boolean') return `${option} takes no value`
  return `${option} needs a value: ${option} VALUE, or ${option}=VALUE when it begins with a dash`
}

/** `did you mean X?` if one of the known words is similar, else `otherwise`. */
export function orMeant(word: string, known: readonly string[], otherwise: string): string {
  const meant = didYouMean(word, known)
  return meant === undefined ? otherwise : `did you mean ${meant}?`
}

/** The first argument of a command such as `weir dlq show`. `usage`: what is expected. */
export function parseVerb<const Verb extends string>(
  command: string,
  word: string | undefined,
  verbs: readonly Verb[],
  usage: string,
): Verb {
  const verb = verbs.find((known) => known === word)
  if (verb !== undefined) return verb
  if (word === undefined) throw new UsageError(`expected ${usage}`)
  throw new UsageError(`unknown command 'weir ${command} ${word}'; ${orMeant(word, verbs, `expected ${usage}`)}`)
}

/** Throws a `UsageError` for arguments after those that a command takes. `usage`: what is expected. */
export function expectNoMore([surplus]: readonly string[], usage: string): void {
  if (surplus !== undefined) throw new UsageError(`'${surplus}' is unexpected: expected ${usage}`)
}

/** 0 means any free port. */
export function parsePort(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`${option} ${text}: expected a port from 1 to 65535, or 0 for any free one`)
}

/** The value of an option that is a number. Throws a `UsageError`. */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new UsageError(`${option} ${text}: expected a whole number`)
}
