import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { UserError } from '../common/errors.ts'
import type { LogLimits } from '../common/logging/log-rate-limiter.ts'
import { PACKAGE_DIRECTORY } from '../common/program-files.ts'

/** Oldest version of Java that the host runs on. */
export const JAVA_MIN = 17

/** The Java to run hosts with, and the class path and limits of a host. */
export type JavaRuntime = {
  /** `java.home`; empty: `JAVA_HOME`, else `java` on `PATH`. */
  readonly home: string
  /** The directory of the host's jar and of those that it depends on. */
  readonly hostDirectory: string
  /** Maximum heap of one JVM, as `-Xmx` takes it. */
  readonly heapMax: string
  /** Further options of each JVM. */
  readonly options: readonly string[]
  /** Limits of what a task or connector in a JVM logs. */
  readonly log: LogLimits
}

/** Where the host is in the package of this release, and in a checkout when it is built. */
export function packagedHostDirectory(): string {
  return join(PACKAGE_DIRECTORY, 'java/host/lib')
}

/** The path of `java`. Throws a `UserError` when there is none. */
export function findJava({ home }: Pick<JavaRuntime, 'home'>, env: NodeJS.ProcessEnv = process.env): string {
  const executable = process.platform === 'win32' ? 'java.exe' : 'java'
  if (home !== '') {
    const file = join(home, 'bin', executable)
    if (existsSync(file)) return file
    throw missingJava(`java.home is ${home}, which has no bin/${executable}`)
  }
  const directories = [
    ...(env['JAVA_HOME'] ? [join(env['JAVA_HOME'], 'bin')] : []),
    ...(env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== ''),
  ]
  const found = directories.map((directory) => join(directory, executable)).find((file) => existsSync(file))
  if (found !== undefined) return found
  throw missingJava('there is no java in java.home, JAVA_HOME or PATH')
}

function missingJava(reason: string): UserError {
  return new UserError('java_missing', `Java plugins need Java ${JAVA_MIN} or newer: ${reason}`)
}
