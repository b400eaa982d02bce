import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BrokerAddress } from '../../broker/backend.ts'
import { createLogger, type Logger } from '../../config/logger.ts'
import type { Setting } from '../../config/settings.ts'
import {
  embeddedBrokerAddress,
  PROGRAM_HELP,
  PROGRAM_OPTIONS,
  readSettings,
  settingsOfProgram,
  stackBrokerAddress,
} from '../broker-options.ts'
import { type Command, type ExitCode, parseArguments, parsePort, UsageError } from '../command.ts'
import { startMainThreadWatchdog } from '../process/main-thread-watchdog.ts'
import { forceExitAfterFailure, forceExitAfterStop, parseGracePeriod } from '../process/program.ts'
import { waitForStopSignal } from '../process/stop-signal.ts'
import { type StackOptions, startStack } from '../stack.ts'
import { LiveRegion } from '../terminal/live-region.ts'
import { type Display, JsonLinesDisplay, type StackDescription, TableDisplay } from '../up/display.ts'
import { formatLogLine } from '../up/log-line.ts'
import { waitUntilReady } from '../up/wait-until-ready.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  'registry-port': { type: 'string', default: '8081' },
  'worker-port': { type: 'string', default: '8083' },
  once: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '60' },
} as const

/** Local looks are cheap, and somebody watches. */
const OBSERVE_WORKER_MS = 500
const RESYNC_MS = 5_000

export const upCommand: Command = {
  help: `usage: weir up DIR [--data DIR | --bootstrap HOST:PORT,…] [--once]

Runs a registry and a worker, and keeps everything that the manifests in DIR and its sub-folders declare. Files may be
added, edited and deleted while it runs. Without --bootstrap it needs no Kafka: it brings a broker of its own.

  --registry-port N       default 8081; 0 takes a free one
  --worker-port N         default 8083; 0 takes a free one
  --once                  end when everything is Ready (exit code 0) or can't be (1)
  --timeout SECONDS       how long --once waits; default 60
${PROGRAM_HELP}

Data is kept in DIR/.weir unless --data says otherwise. Settings begin with the name of who they are for, registry. or
worker.; others are for Kafka's clients: --set worker.offset.flush.interval.ms=500 --set security.protocol=SSL

On a terminal it shows a table; in a pipe it writes a JSON line for each change.

  weir up examples/quickstart
  weir up ./manifests --data ./d --registry-port 8081 --worker-port 8083 --once`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const manifests = parseFolder(positionals)
    const settings = readSettings(values)
    const address = brokerAddressOf(manifests, values, settings)
    const about = { manifests, log: describe(address) }
    const failed = new AbortController()
    const options: Omit<StackOptions, 'logger'> = {
      cluster: { kind: 'directory', path: manifests },
      brokerAddress: address,
      registry: {
        port: parsePort('--registry-port', values['registry-port']),
        written: settingsOfProgram('registry', settings),
      },
      worker: {
        port: parsePort('--worker-port', values['worker-port']),
        written: settingsOfProgram('worker', settings),
      },
      operator: { observeWorkerMs: OBSERVE_WORKER_MS, resyncMs: RESYNC_MS },
      onFailed: (error) => failed.abort(error),
    }
    const timeoutMs = parseSeconds(values.timeout) * 1_000
    const { logger, display } = createOutputs(about)
    const gracePeriodMs = parseGracePeriod(values['grace-period'])
    const ended = AbortSignal.any([createStopSignal(gracePeriodMs, logger), failed.signal])
    if (!values.once) display.open()
    const stack = await startStack({ ...options, logger })
    display.start(stack)
    let exitCode: ExitCode = 0
    try {
      if (values.once) {
        const rows = await waitUntilReady(stack.operator, timeoutMs, ended)
        exitCode = rows.every(({ ready }) => ready === 'True') ? 0 : 1
      } else if (!ended.aborted) {
        await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }))
      }
    } finally {
      if (failed.signal.aborted) forceExitAfterFailure(gracePeriodMs, logger)
      await display.finish()
      await stack.stop()
      forceExitAfterStop(logger, failed.signal.aborted ? 1 : exitCode)
    }
    failed.signal.throwIfAborted()
    return exitCode
  },
}

function parseFolder([folder, ...more]: readonly string[]): string {
  if (folder === undefined) throw new UsageError('which folder? weir up DIR, such as weir up examples/quickstart')
  if (more.length > 0)
    throw new UsageError(`weir up takes one folder, not ${more.length + 1}: '${more[0]}' is too many`)
  try {
    if (!statSync(folder).isDirectory()) throw new UsageError(`${folder} is a file: give the folder that holds it`)
    readdirSync(folder)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const gone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new UsageError(
      gone ? `there is no folder ${folder}` : `can't read folder ${folder}: ${(error as Error).message}`,
    )
  }
  return folder
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text)
  throw new UsageError(`--timeout ${text}: expected a number of seconds, such as 60`)
}

type LogValues = Parameters<typeof stackBrokerAddress>[0]

function brokerAddressOf(manifests: string, values: LogValues, settings: readonly Setting[]): BrokerAddress {
  const isNamed = values.bootstrap !== undefined || values.data !== undefined
  return (
    (isNamed ? stackBrokerAddress(values, settings) : undefined) ??
    embeddedBrokerAddress(join(manifests, '.weir'), values)
  )
}

function describe(address: BrokerAddress): string {
  if (address.kind === 'embedded') return `embedded in ${address.directory}`
  return address.kind === 'kafka' ? `Kafka at ${address.config['bootstrap.servers']}` : 'of another thread'
}

/** Aborts when somebody asks this process to end, or when nobody reads what it writes any more. */
function createStopSignal(gracePeriodMs: number, logger: Logger): AbortSignal {
  const asked = new AbortController()
  void waitForStopSignal(gracePeriodMs, logger).then(() => asked.abort())
  startMainThreadWatchdog(gracePeriodMs, logger)
  process.stdout.on('error', () => asked.abort())
  return asked.signal
}

function createOutputs(about: StackDescription): { readonly logger: Logger; readonly display: Display } {
  if (!process.stdout.isTTY) {
    return { logger: createLogger(), display: new JsonLinesDisplay((line) => process.stdout.write(`${line}\n`)) }
  }
  const screen = new LiveRegion(process.stdout)
  const display = new TableDisplay(screen, about)
  if (!process.stderr.isTTY) return { logger: createLogger(), display }
  // Both are this terminal: the log goes above the table, and only what a person has to know.
  const logger = createLogger({ level: 'warn', write: (line) => screen.printAbove(formatLogLine(line, screen.width)) })
  return { logger, display }
}
