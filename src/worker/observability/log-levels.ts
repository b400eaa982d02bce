import type { Logger, LogLevel } from '../../common/logging/logger.ts'

/** The level of a logger and when it was last changed, in ms since 1970; null if it was never changed. */
export type LoggerLevel = { readonly level: LevelName; readonly last_modified: number | null }

export type LevelName = keyof typeof LEVELS

/** Kafka Connect's names of the levels, and the corresponding pino levels. */
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

/** Case-insensitive; undefined for an unknown level. */
export function parseLevel(written: string): LevelName | undefined {
  const name = written.toUpperCase()
  return name in LEVELS ? (name as LevelName) : undefined
}

/**
 * The named loggers of this process and their levels. Names are hierarchical with dots; setting a level affects all
 * loggers below a name.
 */
export class LogLevels {
  readonly #root: Logger
  readonly #listeners: ((changed: readonly string[], level: LevelName) => void)[] = []
  readonly #named = new Map<string, Named>()

  constructor(root: Logger) {
    this.#root = root
    this.#named.set(ROOT, { state: { level: levelOf(root), last_modified: null }, logs: [new WeakRef(root)] })
  }

  /** Creates a named logger. Changing its level also changes the levels of its child loggers. */
  logger(name: string): Logger {
    const log = this.#root.child({ logger: name })
    const logs: WeakRef<Logger>[] = [new WeakRef(log)]
    // Child loggers of ended tasks are garbage-collected.
    log.onChild = (child) => logs.splice(0, logs.length, ...logs.filter((ref) => ref.deref()), new WeakRef(child))
    this.#named.set(name, { state: { level: levelOf(log), last_modified: null }, logs })
    return log
  }

  /** A logger whose lines are always written, for lines that another process has filtered by these levels. */
  unfiltered(): Logger {
    return this.#root.child({}, { level: 'trace' })
  }

  /** Registers a listener that is called with the names of loggers whose level has changed. */
  onChange(listener: (changed: readonly string[], level: LevelName) => void): void {
    this.#listeners.push(listener)
  }

  get(name: string): LoggerLevel | undefined {
    return this.#named.get(name)?.state
  }

  /** Sorted by name. */
  list(): Readonly<Record<string, LoggerLevel>> {
    const names = [...this.#named.keys()].sort()
    return Object.fromEntries(names.map((name) => [name, this.#named.get(name)?.state as LoggerLevel]))
  }

  /** Sets a level and returns the sorted names of all loggers that it changed. An unknown name is added. */
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
    const names = changed.map(([other]) => other).sort()
    for (const listener of this.#listeners) listener(names, level)
    return names
  }

  /** Applies a record of the config topic, which every worker receives. An unknown level is ignored. */
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
