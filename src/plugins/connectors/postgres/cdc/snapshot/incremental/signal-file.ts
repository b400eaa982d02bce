import type { FileAccess, TaskLog } from '../../../../../../sdk/index.ts'
import type { RawSignal } from './signal.ts'

const BYTES_MAX = 1 << 20

/** Takes signals from a file: one JSON object on each line. */
export class SignalFile {
  readonly #path: string
  readonly #files: FileAccess
  readonly #log: TaskLog
  #isTaking = false
  #reported: string | undefined

  constructor(path: string, files: FileAccess, log: TaskLog) {
    this.#path = path
    this.#files = files
    this.#log = log
  }

  /** Returns the signals of the file and truncates it. A file that does not exist has none. */
  async take(): Promise<readonly RawSignal[]> {
    if (this.#isTaking) return []
    this.#isTaking = true
    try {
      const text = await this.#takeText()
      this.#reported = undefined
      return text.split('\n').flatMap((line) => this.#parse(line))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // The same error is reported once, not in each interval.
      if (code !== 'ENOENT' && message !== this.#reported) {
        this.#reported = message
        this.#log.warn({ file: this.#path, reason: message }, 'the file of signals cannot be read')
      }
      return []
    } finally {
      this.#isTaking = false
    }
  }

  async #takeText(): Promise<string> {
    const reading = await this.#files.open(this.#path, 'r')
    try {
      const { size } = await reading.stat()
      if (size === 0) return ''
      if (size > BYTES_MAX) throw new Error(`it has ${size} bytes; at most ${BYTES_MAX} are read`)
    } finally {
      await reading.close()
    }
    const writing = await this.#files.open(this.#path, 'a+')
    try {
      const text = await writing.readFile('utf8')
      await writing.truncate(0)
      return text
    } finally {
      await writing.close()
    }
  }

  #parse(line: string): readonly RawSignal[] {
    if (line.trim() === '') return []
    try {
      const { id, type, data } = JSON.parse(line) as Readonly<Record<string, unknown>>
      if (typeof id === 'string' && typeof type === 'string') {
        // The data is an object, or its text as in the signal table.
        return [{ id, type, data: data == null ? null : typeof data === 'string' ? data : JSON.stringify(data) }]
      }
    } catch {
      // Reported below.
    }
    const reason = 'a line is not an object with id, type and data'
    this.#log.warn(
      { file: this.#path, reason, line: line.slice(0, 200) },
      'ignoring a signal that cannot be understood',
    )
    return []
  }
}
