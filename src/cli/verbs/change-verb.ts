import { createInterface } from 'node:readline/promises'
import { matchesWildcard } from '../../regex/wildcard.ts'
import { type ExitCode, UsageError, wholeNumber } from '../command.ts'
import { printableText } from '../terminal/printable-text.ts'
import {
  type ChangeName,
  type ChangeOutcome,
  type ChangeSelection,
  NotFoundError,
  type ResourceSource,
} from './resource-source.ts'
import { openSource, printError, type Verb, type VerbCall } from './verb.ts'
import { print } from './verb-output.ts'

/** A verb that changes each of the named resources. */
export function changeVerb(name: ChangeName, about: string, options: Verb['options'] = []): Verb {
  const kinds = name === 'delete' ? (['connector', 'subject'] as const) : (['connector'] as const)
  return {
    name,
    kinds,
    takesNames: 'required',
    about,
    options,
    examples:
      name === 'delete'
        ? ['delete connector/old-copy', 'delete subject old-value --yes']
        : [`${name} connector/orders-source`, `${name} connector 'orders-*'`],
    async run(call) {
      const source = await openSource(call)
      const selection = selectionOf(call)
      const run = source.changes[name]
      if (run === undefined) throw new UsageError(`weir ${name} does not apply to a ${call.kind}`)
      if (name === 'delete' && !(await isConfirmed(call))) return printError('nothing is deleted', 1)
      // What is deleted is named one by one.
      const names = name === 'delete' ? call.names : await expandPatterns(call, source)
      return changeEach({ ...call, names }, (one) => run(one, selection))
    },
  }
}

/** Replaces each name with `*` by those that match it, unless a resource has exactly this name. */
async function expandPatterns({ kind, names }: VerbCall, source: ResourceSource): Promise<readonly string[]> {
  if (!names.some((name) => name.includes('*'))) return names
  const known = await source.names()
  const expanded = names.flatMap((name) => {
    if (!name.includes('*') || known.includes(name)) return [name]
    const matching = known.filter((one) => matchesWildcard(name, one))
    if (matching.length === 0) throw new NotFoundError(`no ${kind} matches '${name}'; weir get ${kind}s lists all`)
    return matching
  })
  return [...new Set(expanded)]
}

/** A name that does not exist does not keep the others from being changed. */
async function changeEach({ kind, names }: VerbCall, run: (name: string) => Promise<ChangeOutcome>): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  for (const name of names) {
    try {
      const { done, note } = await run(name)
      print(`${kind}/${name} ${done}`)
      if (note !== undefined) printError(`note: ${note}`, 0)
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
      exitCode = printError(error.message, 1)
    }
  }
  return exitCode
}

function selectionOf({ kind, values }: VerbCall): ChangeSelection {
  const { task, failed, permanent, version } = values
  if (kind === 'connector' && (permanent || version !== undefined))
    throw new UsageError('--permanent and --version apply to subjects')
  return {
    task: task === undefined ? undefined : wholeNumber('--task', task),
    onlyFailed: failed,
    isPermanent: permanent,
    version,
  }
}

/** Asks once on a terminal. Throws a `UsageError` when there is none. */
async function isConfirmed({ target, kind, names, values }: VerbCall): Promise<boolean> {
  if (values.yes) return true
  const what = `delete ${names.map((one) => `${kind}/${one}`).join(', ')} of ${target.origin}`
  if (!process.stdin.isTTY)
    throw new UsageError(`standard input is no terminal, so nothing can be asked: add --yes to ${what}`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(printableText(`${what}? [y/N] `))).trim())
  } finally {
    terminal.close()
  }
}
