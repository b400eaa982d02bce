import { runtimeOf } from '../target.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold, green, plain, red } from '../terminal/style.ts'
import { lineDifferences } from './line-differences.ts'
import { renderData } from './listing.ts'
import { numberOf, prettySchema, registrySubjects, versionOf } from './registry-subjects.ts'
import { NotFoundError } from './resource-source.ts'
import type { Verb } from './verb.ts'
import { print, printRows, textFormat } from './verb-output.ts'

export const diffVerb: Verb = {
  name: 'diff',
  kinds: ['subject'],
  takesNames: 'required',
  about:
    'Prints the lines by which two versions of a subject differ, and whether the newer one is compatible with the older one at the level of the subject.',
  options: ['from', 'to', 'format'],
  examples: ['diff subject/orders-value', 'diff subject orders-value --from 1 --to 3'],
  async run(call) {
    const { target, names, values } = call
    const format = textFormat(call)
    const { client } = registrySubjects(runtimeOf(target, 'registry', 'a subject'))
    const found = await Promise.all(
      names.map(async (name) => {
        const newer = await versionOf(client, name, numberOf(values.to ?? 'latest'))
        const versions = await client.versions(name)
        const before = values.from ?? versions.filter((version) => version < newer.version).at(-1)
        if (before === undefined) throw new NotFoundError(`subject '${name}' has no version before ${newer.version}`)
        const older = await versionOf(client, name, numberOf(String(before)))
        const { schema, schemaType, references } = newer
        const [{ compatibility }, verdict] = await Promise.all([
          client.config(name, { effective: true }),
          client.checkCompatibility(
            name,
            { schema, ...(schemaType && { schemaType }), ...(references && { references }) },
            { version: older.version },
          ),
        ])
        const lines = lineDifferences(prettySchema(older), prettySchema(newer))
        return { name, from: older.version, to: newer.version, level: compatibility, ...verdict, lines }
      }),
    )
    if (format === 'text')
      for (const { name, from, to, level, compatible, messages, lines } of found) {
        print(`${bold(`${name} version ${from} → ${to}`)}\n${lines.map(colored).join('\n')}`)
        print(
          `${compatible ? 'compatible' : 'incompatible'} at level ${level}${messages.map((message) => `\n  ${message}`).join('')}`,
        )
      }
    else print(renderData(found.length === 1 ? found[0] : found, format))
    return found.every(({ lines }) => lines.every((line) => line.startsWith(' '))) ? 0 : 1
  },
}

export const versionsVerb: Verb = {
  name: 'versions',
  kinds: ['subject'],
  takesNames: 'required',
  about: 'Lists the versions of a subject with their ids. With -o wide or json, also with their references.',
  options: ['output'],
  examples: ['versions subject/orders-value', 'versions subject orders-value -o json'],
  async run({ target, names, values }) {
    const { client } = registrySubjects(runtimeOf(target, 'registry', 'a subject'))
    const rows = (
      await Promise.all(
        names.map(async (subject) => {
          const { version: latest } = await versionOf(client, subject, 'latest')
          const all = await client.versions(subject)
          return Promise.all(
            all.map(async (version) => {
              const { id, schemaType = 'AVRO', references = [] } = await client.version(subject, version)
              return { subject, version, id, type: schemaType, isLatest: version === latest, references }
            }),
          )
        }),
      )
    ).flat()
    type Row = (typeof rows)[number]
    const listing = {
      columns: [
        { title: 'SUBJECT', cell: (row: Row) => row.subject },
        { title: 'VERSION', cell: (row: Row) => String(row.version) },
        { title: 'ID', cell: (row: Row) => String(row.id) },
        { title: 'TYPE', cell: (row: Row) => row.type },
        {
          title: 'REFERENCES',
          isWide: true as const,
          cell: (row: Row) => row.references.map((one) => `${one.subject}:${one.version}`).join(','),
        },
      ],
      nameOf: (row: Row) => `subject/${row.subject}:${row.version}`,
      dataOf: (row: Row) => row,
    }
    return printRows(listing, rows, values, '')
  },
}

/** `- removed` and `+ added` */
function colored(line: string): string {
  return (line.startsWith('-') ? red : line.startsWith('+') ? green : plain)(printableText(line))
}
