import { parts } from './parts.ts'

/** `npm run env`: lists the parts that this machine can provide for the tests, and how. */
const rows = await Promise.all(
  Object.values(parts).map(async ({ name, version, find }) => {
    const found = await find()
    const ready = found.how === 'missing' ? 'no' : found.cached ? 'at hand' : 'to be fetched'
    return [name, version, found.how, ready, found.detail]
  }),
)

const table = [['PART', 'VERSION', 'FROM', 'READY', 'DETAIL'], ...rows]
const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
for (const row of table)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
