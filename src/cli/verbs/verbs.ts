import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from '../command.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { formatColumns } from '../terminal/columns.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold } from '../terminal/style.ts'
import { changeVerb } from './change-verb.ts'
import { logsVerb, offsetsVerb } from './connector-verbs.ts'
import { lagVerb } from './lag-verb.ts'
import { parseOutputFormat, renderChanged, renderData, renderListing } from './listing.ts'
import type { Section } from './resource-source.ts'
import { diffVerb, versionsVerb } from './subject-verbs.ts'
import { openSource, type Verb, verbCommand } from './verb.ts'
import { print, textFormat } from './verb-output.ts'

const BOTH = ['connector', 'subject'] as const
const WATCH_MS = 1_000
const PATTERNS = 'In a name, * stands for any characters.'

const get: Verb = {
  name: 'get',
  kinds: BOTH,
  takesNames: 'optional',
  about: 'Lists connectors or subjects, or those that are named.',
  options: ['output', 'watch'],
  examples: ['get connectors', 'get subjects -o wide', 'get connector/orders-source -o json', 'get connectors --watch'],
  async run({ target, kind, names, values }) {
    const format = parseOutputFormat(values.output ?? 'table')
    const source = await openSource({ target, kind })
    const read = () => source.rows(names, format !== 'table' && format !== 'name')
    const rows = await read()
    if (rows.length === 0 && format !== 'json' && format !== 'yaml' && !values.watch) {
      const where = target.kind === 'kubernetes' ? `namespace ${target.namespace} of ${target.origin}` : target.origin
      process.stderr.write(`no ${kind}s in ${where}\n`)
      return 0
    }
    print(renderListing(source, rows, format, names.length === 1))
    if (!values.watch) return 0
    const signal = abortOnStopSignal()
    let known = new Map(rows.map((row) => [source.nameOf(row), JSON.stringify(source.dataOf(row))]))
    for (;;) {
      await sleep(WATCH_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
      const next = await read()
      const changed = next.filter((row) => known.get(source.nameOf(row)) !== JSON.stringify(source.dataOf(row)))
      known = new Map(next.map((row) => [source.nameOf(row), JSON.stringify(source.dataOf(row))]))
      if (changed.length === 0) continue
      print(renderChanged(source, next, changed, format))
    }
  },
}

const describe: Verb = {
  name: 'describe',
  kinds: BOTH,
  takesNames: 'required',
  about:
    'Shows states, traces, configuration and topics of a connector, or versions, level and schema of a subject. Secrets are masked.',
  options: ['format'],
  examples: ['describe connector/orders-source', 'describe subject orders-value'],
  async run(call) {
    const format = textFormat(call)
    const source = await openSource(call)
    const found = await Promise.all(call.names.map((name) => source.describe(name)))
    if (format === 'text') print(found.map(({ sections }) => describeText(sections)).join('\n\n---\n\n'))
    else print(renderData(found.length === 1 ? found[0]!.data : found.map(({ data }) => data), format))
    return 0
  },
}

/** Verbs of connectors and subjects, by name. */
export const VERBS: Readonly<Record<string, Verb>> = Object.fromEntries(
  [
    get,
    describe,
    logsVerb,
    changeVerb('pause', `Pauses connectors: their tasks stay, and process no records. ${PATTERNS}`),
    changeVerb('resume', `Resumes connectors that are paused or stopped. ${PATTERNS}`),
    changeVerb('stop', `Stops connectors: their tasks end, and their configuration and offsets stay. ${PATTERNS}`),
    changeVerb('restart', `Restarts connectors with all of their tasks, or what is selected. ${PATTERNS}`, [
      'task',
      'failed',
    ]),
    changeVerb(
      'delete',
      'Deletes connectors, whose offsets stay, or subjects with all of their versions. It asks once.',
      ['yes', 'permanent', 'version'],
    ),
    offsetsVerb,
    lagVerb,
    diffVerb,
    versionsVerb,
  ].map((verb) => [verb.name, verb]),
)

export function commandOfVerb(name: string): Command {
  return verbCommand(VERBS[name]!)
}

function describeText(sections: readonly Section[]): string {
  return sections
    .map(({ title, fields = [], table, text }) => {
      const lines = [
        ...fields.flatMap(([name, value]) =>
          value === undefined || value === '' ? [] : [[`${name}:`, printableText(value)]],
        ),
      ]
      const body = [
        lines.length === 0 ? undefined : formatColumns(lines),
        table && table.length > 1
          ? formatColumns(table.map((row) => row.map((cell) => printableText(cell))))
          : table && 'none',
        text === undefined ? undefined : printableText(text, '\n\t'),
      ].filter((part) => part !== undefined)
      const indent = (part: string) => part.replaceAll(/^/gm, '  ')
      return title === undefined ? body.join('\n') : [bold(title), ...body.map(indent)].join('\n')
    })
    .join('\n\n')
}
