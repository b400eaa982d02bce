import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../common/errors.ts'
import { HostConnection } from './host-connection.ts'
import { HostLostError } from './host-error.ts'
import type { HostLogLine } from './host-log.ts'
import { hostAddress, JavaHost } from './java-host.ts'
import type { JavaRuntime } from './java-runtime.ts'
import type { JavaLocationDescription, JavaPluginDescription, JavaPluginLocation } from './plugin-location.ts'

export type DescribeOptions = {
  readonly runtime: JavaRuntime
  /** The classes to describe, as discovery found them. */
  readonly classes: readonly Pick<JavaPluginDescription, 'kind' | 'class'>[]
  /** How long the JVM may take to start and to describe its plugins, each in ms of its own time. */
  readonly timeoutMs: number
  readonly onLog: (line: HostLogLine) => void
}

const FRAME_BYTES_MAX = 32 * 1024 * 1024
/** The thread of the host that executes the requests of its first connection. */
const WORK_THREAD = 'connection-1-work'

/**
 * Describes the plugins of a location in a JVM that is started for this only. Rejects with a `UserError` when it cannot
 * be started or ends before it answers.
 */
export async function describeLocation(
  location: JavaPluginLocation,
  { runtime, classes, timeoutMs, onLog }: DescribeOptions,
): Promise<JavaLocationDescription> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-java-'))
  try {
    const address = hostAddress(directory, 'describe')
    const host = await JavaHost.start({
      runtime,
      location,
      address,
      startMsMax: timeoutMs,
      onLog,
    })
    const late = Promise.withResolvers<UserError>()
    const endLimit = host.limitOwnTime(timeoutMs, WORK_THREAD, (stack) =>
      late.resolve(failure(location, `did not describe its plugins within ${timeoutMs} ms of its own time${stack}`)),
    )
    try {
      const ended = host.ended.then((what) => failure(location, what))
      const describing = HostConnection.open(address, { frameBytesMax: FRAME_BYTES_MAX }).then((connection) =>
        connection.call('describe', { classes: classes.map((one) => [one.kind, one.class]) }),
      )
      // The connection ends together with the host, whose exit says more.
      const outcome = await Promise.race([
        describing.catch((error: unknown) => (error instanceof HostLostError ? ended : Promise.reject(error))),
        ended,
        late.promise,
      ])
      if (outcome instanceof UserError) throw outcome
      return toDescription(outcome)
    } finally {
      endLimit()
      host.kill()
      await host.ended
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function failure({ path }: JavaPluginLocation, what: string): UserError {
  return new UserError('java_host_failed', `the Java host of ${path} ${what}`)
}

/** Adds what Java's definitions do not have. */
function toDescription(outcome: unknown): JavaLocationDescription {
  const { plugins, faults } = outcome as JavaLocationDescription
  return {
    plugins: plugins.map((plugin) => ({
      ...plugin,
      definitions: plugin.definitions.map((definition) => ({ ...definition, recommended: [], reaches: null })),
    })),
    faults,
  }
}
