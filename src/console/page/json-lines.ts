/** Where the values of a JSON text are. Lines begin with 1. */
export type JsonLines = {
  /** Line of each value, by its JSON pointer, such as `/fields/0/type`. */
  readonly lines: ReadonlyMap<string, number>
  /** Line at which the text is not JSON. */
  readonly errorLine?: number
}

const SCALAR = /(?:"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
const BLANK = /[ \t\r\n]*/y
/** The text is one that a person has entered. A deeper one would exhaust the stack. */
const DEPTH_MAX = 500

class NotJson extends Error {}

/** Finds the line number of each JSON value. If the text is not valid JSON, only values before the error are found. */
export function findJsonLines(text: string): JsonLines {
  const lines = new Map<string, number>()
  let at = 0
  let [countedTo, line] = [0, 1]

  const lineHere = () => {
    for (; countedTo < at; countedTo += 1) if (text[countedTo] === '\n') line += 1
    return line
  }
  const matched = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) throw new NotJson()
    at += found.length
    return found
  }
  const take = (character: string): boolean => {
    matched(BLANK)
    if (text[at] !== character) return false
    at += 1
    return true
  }
  const need = (character: string) => {
    if (!take(character)) throw new NotJson()
  }
  const list = (end: string, readOne: (index: number) => void) => {
    if (take(end)) return
    for (let index = 0; ; index += 1) {
      readOne(index)
      if (take(end)) return
      need(',')
    }
  }
  const value = (pointer: string, depth: number) => {
    matched(BLANK)
    if (depth > DEPTH_MAX) throw new NotJson()
    lines.set(pointer, lineHere())
    if (take('[')) list(']', (index) => value(`${pointer}/${index}`, depth + 1))
    else if (take('{'))
      list('}', () => {
        matched(BLANK)
        if (text[at] !== '"') throw new NotJson()
        const name = JSON.parse(matched(SCALAR)) as string
        need(':')
        value(`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1)
      })
    else matched(SCALAR)
  }

  try {
    value('', 0)
    matched(BLANK)
    if (at < text.length) throw new NotJson()
    return { lines }
  } catch {
    return { lines, errorLine: lineHere() }
  }
}

/** The line of a value, or of the nearest one around it that exists. */
export function lineOfPointer({ lines }: JsonLines, pointer: string): number | undefined {
  for (let rest = pointer.replace(/^#/, '').replace(/\/$/, ''); ; rest = rest.slice(0, rest.lastIndexOf('/'))) {
    const line = lines.get(rest)
    if (line !== undefined || !rest.includes('/')) return line
  }
}
