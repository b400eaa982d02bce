import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Configures a Java program of Kafka to log to `server.log` in `directory`. Returns the JVM argument for it. */
export function writeLogging(directory: string, version: string): string {
  const file = join(directory, 'server.log')
  if (version.startsWith('3.')) {
    const config = join(directory, 'log4j.properties')
    writeFileSync(config, log4j1(file))
    return `-Dlog4j.configuration=file:${config}`
  }
  const config = join(directory, 'log4j2.properties')
  writeFileSync(config, log4j2(file))
  return `-Dlog4j2.configurationFile=${config}`
}

const log4j1 = (file: string) => `\
log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File=${file}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
`

const log4j2 = (file: string) => `\
status = error
rootLogger.level = INFO
rootLogger.appenderRefs = file
rootLogger.appenderRef.file.ref = file
appenders = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = ${file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
`
