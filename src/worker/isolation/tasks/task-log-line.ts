import { truncateText } from '../../../common/truncate-text.ts'

/** Maximum length of a log line of a task, in characters. */
export const LINE_CHARS_MAX = 16_384

/** The level of a line as pino writes it: `{"level":30,…`. */
export function levelOf(line: string): number {
  return Number.parseInt(line.slice(9, 11), 10)
}

/** Returns the line, or a line of the same level with the beginning of its text if it is too long. */
export function cutLine(line: string, fields: object): string {
  if (line.length <= LINE_CHARS_MAX) return line
  const msg = 'a log line was too long and is cut'
  return JSON.stringify({ level: levelOf(line), ...fields, line: truncateText(line, LINE_CHARS_MAX), msg })
}
