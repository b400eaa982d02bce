/** Characters of one line of a task's log; what is longer is cut. */
const LINE_CHARS_MAX = 16_384

/** The beginning of a text, with the count of what is missing. */
export function cutText(text: string, charsMax: number = LINE_CHARS_MAX): string {
  if (text.length <= charsMax) return text
  return `${text.slice(0, charsMax)}… (${text.length - charsMax} more characters)`
}

/** The level of a line as pino writes it: `{"level":30,…`. */
export function levelOf(line: string): number {
  return Number.parseInt(line.slice(9, 11), 10)
}

/** A line that is too long is kept as the text of a shorter one. */
export function cutLine(line: string, fields: object): string {
  if (line.length <= LINE_CHARS_MAX) return line
  return JSON.stringify({
    level: levelOf(line),
    ...fields,
    line: cutText(line),
    msg: 'a log line was too long and is cut',
  })
}
