import type { Logger, LogLevel } from '../../config/logger.ts'

/** The level of one logger, and when somebody last changed it (ms since 1970; null: nobody did). */
export type LoggerLevel = { readonly level: LevelName; readonly last_modified: number | null }

type LevelName = keyof typeof LEVELS

/** What Kafka Connect calls the levels, and what they are here. */
const LEVELS = {
  OFF: 'silent',
  FATAL: 'fatal',
  ERROR: 'error',
  WARN: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
  TRACE: 'trace',
  ALL: 'trace',
} as const satisfies Readonly<Record<string, LogLevel>>

const ROOT = 'root'

type Named = { state: LoggerLevel; readonly logs: WeakRef<Logger>[] }

/** In any case; undefined for a level that does not exist. */
export function parseLevel(written: string): LevelName | undefined {
  const name = written.toUpperCase()
  return name in LEVELS ? (name as LevelName) : undefined
}

/** The named logs of this process and how much each tells. Names are dotted, and a level holds for all below a name. */
export class LogLevels {
  readonly #root: Logger
  readonly #named = new Map<string, Named>()

  constructor(root: Logger) {
    this.#root = root
    this.#named.set(ROOT, { state: { level: levelOf(root), last_modified: null }, logs: [new WeakRef(root)] })
  }

  /** A log whose level, and that of every log made from it, can be changed. */
  logger(name: string): Logger {
    const log = this.#root.child({ logger: name })
    const logs: WeakRef<Logger>[] = [new WeakRef(log)]
    // Logs of tasks come and go with them.
    log.onChild = (child) => logs.splice(0, logs.length, ...logs.filter((ref) => ref.deref()), new WeakRef(child))
    this.#named.set(name, { state: { level: levelOf(log), last_modified: null }, logs })
    return log
  }

  get(name: string): LoggerLevel | undefined {
    return this.#named.get(name)?.state
  }

  /** Sorted by name. */
  list(): Readonly<Record<string, LoggerLevel>> {
    const names = [...this.#named.keys()].sort()
    return Object.fromEntries(names.map((name) => [name, this.#named.get(name)?.state as LoggerLevel]))
  }

  /** Answers the names of all loggers whose level is another now, sorted. A name that is new stays known. */
  set(name: string, level: LevelName, nowMs: number): readonly string[] {
    const fresh: Named = { state: { level: this.#inherited(name), last_modified: null }, logs: [] }
    if (!this.#named.has(name)) this.#named.set(name, fresh)
    const affected = [...this.#named].filter(
      ([other]) => name === ROOT || other === name || other.startsWith(`${name}.`),
    )
    const changed = affected.filter(([, named]) => named === fresh || named.state.level !== level)
    for (const [, named] of changed) {
      named.state = { level, last_modified: nowMs }
      for (const log of named.logs) setLevel(log.deref(), LEVELS[level])
    }
    return changed.map(([other]) => other).sort()
  }

  /** What a record of the config topic says to every worker. A level that nobody knows changes nothing. */
  apply({ logger, level }: { readonly logger: string; readonly level: string }, nowMs: number): void {
    const known = parseLevel(level)
    if (known) this.set(logger, known, nowMs)
  }

  #inherited(name: string): LevelName {
    const above = [...this.#named.keys()].filter((other) => name.startsWith(`${other}.`)).sort()
    return (this.get(above.at(-1) ?? ROOT) as LoggerLevel).level
  }
}

function setLevel(log: Logger | undefined, level: LogLevel): void {
  if (log) log.level = level
}

function levelOf(log: Logger): LevelName {
  return log.level === 'silent' ? 'OFF' : (log.level.toUpperCase() as LevelName)
}
