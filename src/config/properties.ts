import { isUtf8 } from 'node:buffer'

/** One entry of a `.properties` file and the line (from 1) on which it starts. */
export type Property = { readonly value: string; readonly line: number }

/** A `.properties` file, and the line of the first entry that has another value if the file is read as UTF-8. */
export type PropertiesFile = {
  readonly properties: ReadonlyMap<string, Property>
  readonly ambiguousLine: number | undefined
}

/**
 * Reads a file as Java's `Properties.load(InputStream)`, with which Kafka's programs read their settings: its characters are those of ISO
 * 8859-1, and others are escapes. Throws an `Error` for an invalid escape.
 */
export function readProperties(bytes: Buffer): PropertiesFile {
  const properties = parseProperties(bytes.toString('latin1'))
  return { properties, ambiguousLine: isUtf8(bytes) ? firstOther(properties, bytes.toString('utf8')) : undefined }
}

function firstOther(properties: ReadonlyMap<string, Property>, text: string): number | undefined {
  const others = parseProperties(text)
  return [...properties].find(([key, { value }]) => others.get(key)?.value !== value)?.[1].line
}

/**
 * Parses Java's `.properties` format: `#` and `!` comments; `=`, `:` or blanks as separator; `\` at the end of a line
 * continues it; the escapes `\n \t \r \f \\ \uXXXX`. The last value of a repeated key wins, as in Java. Throws an
 * `Error` for an invalid escape.
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
  return text.replace(/\\(u.{0,4}|.)/gs, (_, code: string) => {
    if (!code.startsWith('u')) return ESCAPES[code] ?? code
    if (!/^u[0-9a-fA-F]{4}$/.test(code)) throw new Error(`Malformed \\uxxxx encoding: \\${code}`)
    return String.fromCharCode(Number.parseInt(code.slice(1), 16))
  })
}
