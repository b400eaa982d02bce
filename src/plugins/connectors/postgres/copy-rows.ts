import type { RowTexts } from '../jdbc/row-texts.ts'

const NEWLINE = 0x0a

/**
 * Reads the rows that a `COPY … TO STDOUT` in text format sends, each ended by a newline. A chunk may end anywhere. Throws what
 * `toError` returns for an error of the stream.
 */
export async function* readCopyRows(
  chunks: AsyncIterable<Buffer>,
  toError: (error: unknown) => unknown,
): AsyncGenerator<readonly RowTexts[]> {
  let started: Buffer[] = []
  try {
    for await (const chunk of chunks) {
      const end = chunk.lastIndexOf(NEWLINE) + 1
      if (end > 0) {
        yield rowsOf(Buffer.concat([...started, chunk.subarray(0, end)]).toString('utf8'))
        started = []
      }
      if (end < chunk.length) started.push(chunk.subarray(end))
    }
  } catch (error) {
    throw toError(error)
  }
  if (started.length > 0) throw new Error('the server sent a row without its end')
}

function rowsOf(text: string): readonly RowTexts[] {
  const lines = text.split('\n')
  // Behind the last newline.
  lines.pop()
  return text.includes('\\') ? lines.map(escapedCells) : lines.map(plainCells)
}

function plainCells(line: string): RowTexts {
  return line.split('\t')
}

function escapedCells(line: string): RowTexts {
  const cells = plainCells(line)
  return line.includes('\\') ? cells.map((cell) => parseCell(cell!)) : cells
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function parseCell(cell: string): string | null {
  if (!cell.includes('\\')) return cell
  return cell === '\\N' ? null : cell.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter)
}
