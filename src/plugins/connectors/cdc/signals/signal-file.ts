import type { FileAccess, TaskLog } from '../../../../sdk/index.ts'
import { parseRawSignal, type RawSignal, type SignalChannel } from './signal.ts'

const BYTES_MAX = 1 << 20

/** Takes signals from a file: one JSON object on each line. */
export class SignalFile implements SignalChannel {
  readonly #path: string
  readonly #files: FileAccess
  readonly #log: TaskLog
  #isPolling = false
  #reported: string | undefined

  constructor(path: string, files: FileAccess, log: TaskLog) {
    this.#path = path
    this.#files = files
    this.#log = log
  }

  /** Executes the signals of the file and truncates it. A file that does not exist has none. */
  async poll(execute: (signal: RawSignal) => Promise<void>): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      for (const signal of await this.#take()) {
        await execute(signal).catch((error: unknown) => {
          this.#log.warn({ signal: signal.id, err: error }, 'a signal could not be executed; write it again')
        })
      }
    } finally {
      this.#isPolling = false
    }
  }

  async close(): Promise<void> {}

  async #take(): Promise<readonly RawSignal[]> {
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
    const signal = parseRawSignal(line)
    if (signal !== undefined) return [signal]
    const reason = 'a line is not an object with id, type and data'
    this.#log.warn(
      { file: this.#path, reason, line: line.slice(0, 200) },
      'ignoring a signal that cannot be understood',
    )
    return []
  }
}
