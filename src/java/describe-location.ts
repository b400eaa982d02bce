import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../common/errors.ts'
import { withTimeout } from '../common/timeout.ts'
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
  readonly timeoutMs: number
  readonly onLog: (line: HostLogLine) => void
}

const FRAME_BYTES_MAX = 32 * 1024 * 1024

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
    try {
      const connection = await HostConnection.open(address, { timeoutMs, frameBytesMax: FRAME_BYTES_MAX })
      const described = connection.call('describe', { classes: classes.map((one) => [one.kind, one.class]) })
      const ended = host.ended.then((what) => failure(location, what))
      const late = () => failure(location, `did not describe its plugins within ${timeoutMs} ms`)
      // The connection ends together with the host, whose exit says more.
      const outcome = await withTimeout(
        Promise.race([
          described.catch((error: unknown) => (error instanceof HostLostError ? ended : Promise.reject(error))),
          ended,
        ]),
        timeoutMs,
        late,
      )
      if (outcome instanceof UserError) throw outcome
      return toDescription(outcome)
    } finally {
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
