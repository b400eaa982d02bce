import type { HostLogLevel, LogLevelSource } from '../../../java/host-log.ts'
import type { LevelName, LogLevels } from '../../observability/log-levels.ts'

/** SLF4J, which Java plugins log with, has no level above ERROR. */
const HOST_LEVELS: Readonly<Record<LevelName, HostLogLevel>> = {
  OFF: 'OFF',
  FATAL: 'OFF',
  ERROR: 'ERROR',
  WARN: 'WARN',
  INFO: 'INFO',
  DEBUG: 'DEBUG',
  TRACE: 'TRACE',
  ALL: 'TRACE',
}

/** The levels that were set through the REST API or in the settings, for the loggers of JVMs. */
export function javaLogLevels(levels: LogLevels): LogLevelSource {
  return {
    current: () => Object.entries(levels.list()).map(([logger, { level }]) => ({ logger, level: HOST_LEVELS[level] })),
    onChange: (listener) =>
      levels.onChange((changed, level) => listener(changed.map((logger) => ({ logger, level: HOST_LEVELS[level] })))),
  }
}
