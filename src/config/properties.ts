/** One entry of a `.properties` file and the line (from 1) on which it starts. */
export type Property = { readonly value: string; readonly line: number }

/**
 * Parses Java's `.properties` format: `#` and `!` comments; `=`, `:` or blanks as separator; `\` at the end of a line
 * continues it; the escapes `\n \t \r \f \\ \uXXXX`. The last value of a repeated key wins, as in Java.
 */
export function parseProperties(text: string): ReadonlyMap<string, Property> {
  const found = new Map<string, Property>()
  for (const { text: logical, line } of logicalLines(text)) {
    const split = separatorOf(logical)
    found.set(unescaped(logical.slice(0, split.keyEnd)), { value: unescaped(logical.slice(split.valueStart)), line })
  }
  return found
}

function* logicalLines(text: string): Generator<{ text: string; line: number }> {
  const lines = text.split(/\r\n|\n|\r/)
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1
    const first = (lines[at] ?? '').trimStart()
    if (first === '' || first.startsWith('#') || first.startsWith('!')) continue
    const parts = [first]
    for (let last = first; endsInOddBackslashes(last) && at + 1 < lines.length; parts.push(last)) {
      at += 1
      parts[parts.length - 1] = last.slice(0, -1)
      last = (lines[at] ?? '').trimStart()
    }
    yield { text: parts.join(''), line }
  }
}

function endsInOddBackslashes(line: string): boolean {
  let start = line.length
  while (line[start - 1] === '\\') start -= 1
  return (line.length - start) % 2 === 1
}

function separatorOf(line: string): { keyEnd: number; valueStart: number } {
  const match = /^((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*/s.exec(line)
  return { keyEnd: match?.[1]?.length ?? line.length, valueStart: match?.[0].length ?? line.length }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) =>
    code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code),
  )
}
