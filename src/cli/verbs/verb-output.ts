import { type ExitCode, UsageError } from '../command.ts'
import { parseOutputFormat, renderListing } from './listing.ts'
import type { VerbCall } from './verb.ts'

export function printRows<Row>(
  listing: Parameters<typeof renderListing<Row>>[0],
  rows: readonly Row[],
  { output = 'table' }: VerbCall['values'],
  none: string,
): ExitCode {
  const format = parseOutputFormat(output)
  if (rows.length === 0 && format !== 'json' && format !== 'yaml') process.stderr.write(`${none}\n`)
  else print(renderListing(listing, rows, format))
  return 0
}

export function textFormat({ values: { format = 'text' } }: VerbCall): 'text' | 'json' | 'yaml' {
  if (format === 'text' || format === 'json' || format === 'yaml') return format
  throw new UsageError(`-o ${format}: expected text, json or yaml`)
}

export function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`)
}
