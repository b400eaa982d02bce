import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { UserError } from '../../common/errors.ts'
import { createLogger, type Logger } from '../../common/logging/logger.ts'
import { packageVersion } from '../../common/package-version.ts'
import type { Setting } from '../../config/settings.ts'
import { type BrokerFlags, embeddedBrokerAddress, stackBrokerAddress } from '../broker-flags.ts'
import { type Command, type ExitCode, parseArguments, parsePort, UsageError } from '../command.ts'
import { forceExitAfterFailure, forceExitAfterStop, parseGracePeriod } from '../process/run-program.ts'
import { waitForStopSignal } from '../process/stop-signal.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, readProgramSettings, settingsOfProgram } from '../program-options.ts'
import { DATA_DIRECTORY, writeRunningStack } from '../running-stack.ts'
import { type Stack, type StackOptions, startStack } from '../start-stack.ts'
import type { Display, StackDescription } from '../up/display.ts'
import { JsonLinesDisplay } from '../up/json-lines-display.ts'
import { waitUntilReady } from '../up/wait-until-ready.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  'registry-port': { type: 'string', default: '8081' },
  'worker-port': { type: 'string', default: '8083' },
  'console-port': { type: 'string', default: '8082' },
  once: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '300' },
} as const

/** Shorter than the operator's defaults: requests are local, and a person waits for the result. */
const OBSERVE_WORKER_MS = 500
const RESYNC_MS = 5_000

export const upCommand: Command = {
  help: `usage: weir up DIR [--data DIR | --bootstrap HOST:PORT,…] [--once]

Runs a registry and a worker, and reconciles the manifests in DIR and its subdirectories. Files may be added, edited and
deleted while it runs. Without --bootstrap it uses an embedded broker and needs no Kafka.

  --registry-port N       default 8081; 0 selects a free port
  --worker-port N         default 8083; 0 selects a free port
  --console-port N        default 8082; 0 selects a free port
  --once                  exit when all resources are Ready (exit code 0), or when one cannot become Ready (1)
  --timeout SECONDS       time limit of --once; default 300
${PROGRAM_HELP}

The default data directory is DIR/.weir. Settings with the prefix registry. or worker. apply to that program, others to Kafka's
clients: --set worker.offset.flush.interval.ms=500 --set security.protocol=SSL

On a terminal it shows a table; otherwise, and with TERM=dumb, it writes one JSON line for each change.

  weir up examples/quickstart
  weir up ./manifests --data ./d --registry-port 8081 --worker-port 8083 --once`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const manifests = parseFolder(positionals)
    const settings = readProgramSettings(values)
    const address = brokerAddressOf(manifests, values, settings)
    const consolePort = parsePort('--console-port', values['console-port'])
    const description = { manifests, broker: describe(address) }
    const failed = new AbortController()
    const options: Omit<StackOptions, 'logger'> = {
      cluster: { kind: 'directory', path: manifests },
      brokerAddress: address,
      registry: {
        port: parsePort('--registry-port', values['registry-port']),
        settings: settingsOfProgram('registry', settings),
      },
      worker: {
        port: parsePort('--worker-port', values['worker-port']),
        settings: settingsOfProgram('worker', settings),
      },
      ...(values.once ? {} : { console: { listener: `http://127.0.0.1:${consolePort}` } }),
      operator: { observeWorkerIntervalMs: OBSERVE_WORKER_MS, resyncPeriodMs: RESYNC_MS },
      servesCommands: !values.once,
      onFailed: (error) => failed.abort(error),
    }
    const timeoutMs = parseSeconds(values.timeout) * 1_000
    const { logger, display } = await createOutputs(description)
    const gracePeriodMs = parseGracePeriod(values['grace-period'])
    const ended = AbortSignal.any([createStopSignal(gracePeriodMs, logger), failed.signal])
    if (!values.once) display.open()
    const stack = await startStack({ ...options, logger }).catch((error: unknown) => {
      throw withPortOption(error, values)
    })
    const removeFile = values.once ? () => {} : describeTo(address, stack, manifests, logger)
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
      removeFile()
      await display.finish()
      await stack.stop()
      forceExitAfterStop(logger, failed.signal.aborted ? 1 : exitCode)
    }
    failed.signal.throwIfAborted()
    return exitCode
  },
}

function parseFolder([folder, ...more]: readonly string[]): string {
  if (folder === undefined)
    throw new UsageError('expected a directory: weir up DIR, such as weir up examples/quickstart')
  if (more.length > 0) throw new UsageError(`weir up takes one directory: '${more[0]}' is unexpected`)
  try {
    if (!statSync(folder).isDirectory())
      throw new UsageError(`${folder} is a file: give the directory that contains it`)
    readdirSync(folder)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new UsageError(
      isMissing ? `directory ${folder} does not exist` : `cannot read directory ${folder}: ${(error as Error).message}`,
    )
  }
  return folder
}

const PORT_OPTIONS = ['registry-port', 'worker-port', 'console-port'] as const

/** Adds to the error of a port that is in use the option that selects another one. */
function withPortOption(error: unknown, ports: Readonly<Record<(typeof PORT_OPTIONS)[number], string>>): unknown {
  if (!(error instanceof UserError && error.code === 'address_in_use')) return error
  const { port } = error.cause as { readonly port?: number }
  const option = PORT_OPTIONS.find((name) => Number(ports[name]) === port)
  if (option === undefined) return error
  return new UserError(error.code, `${error.message} with --${option}; 0 selects a free one`, { cause: error })
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text)
  throw new UsageError(`--timeout ${text}: expected a number of seconds, such as 60`)
}

function brokerAddressOf(manifests: string, values: BrokerFlags, settings: readonly Setting[]): BrokerAddress {
  const isNamed = values.bootstrap !== undefined || values.data !== undefined
  return (
    (isNamed ? stackBrokerAddress(values, settings) : undefined) ??
    embeddedBrokerAddress(join(manifests, DATA_DIRECTORY), values)
  )
}

/** Where the file for other commands is: in the data directory, which a `weir up` on Kafka does not have otherwise. */
function dataDirectoryOf(manifests: string, address: BrokerAddress): string {
  return resolve(address.kind === 'embedded' ? address.directory : join(manifests, DATA_DIRECTORY))
}

/** Writes the file by which other commands find this program. Returns a function that removes it. */
function describeTo(address: BrokerAddress, stack: Stack, manifests: string, logger: Logger): () => void {
  const directory = dataDirectoryOf(manifests, address)
  const { registryUrl, workerUrl, brokerSocket, operator } = stack
  const { consoleUrl } = operator
  try {
    return writeRunningStack(directory, {
      pid: process.pid,
      version: packageVersion(),
      manifests: resolve(manifests),
      directory,
      registryUrl,
      workerUrl,
      ...(consoleUrl !== undefined && { consoleUrl }),
      broker:
        address.kind === 'kafka' || brokerSocket === undefined
          ? { kind: 'kafka', bootstrap: bootstrapOf(address) }
          : { kind: 'process', ...brokerSocket },
    })
  } catch (error) {
    // Kafka is used, and the directory of the manifests is read-only.
    logger.debug({ err: error, directory }, 'other commands cannot find this program')
    return () => {}
  }
}

function describe(address: BrokerAddress): string {
  return address.kind === 'embedded' ? `embedded in ${address.directory}` : `Kafka at ${bootstrapOf(address)}`
}

function bootstrapOf(address: BrokerAddress): string {
  return address.kind === 'kafka' ? (address.config['bootstrap.servers'] ?? '') : ''
}

/** Aborts on a stop signal, and when standard output is closed, as by `weir up | head`. */
function createStopSignal(gracePeriodMs: number, logger: Logger): AbortSignal {
  const stop = new AbortController()
  void waitForStopSignal(gracePeriodMs, logger).then(() => stop.abort())
  process.stdout.on('error', () => stop.abort())
  return stop.signal
}

type Outputs = { readonly logger: Logger; readonly display: Display }

async function createOutputs(description: StackDescription): Promise<Outputs> {
  // A terminal without cursor control is written to as a file.
  if (!process.stdout.isTTY || process.env['TERM'] === 'dumb') {
    return { logger: createLogger(), display: new JsonLinesDisplay((line) => process.stdout.write(`${line}\n`)) }
  }
  const [{ LiveRegion }, { TableDisplay }, { formatLogLine }] = await Promise.all([
    import('../terminal/live-region.ts'),
    import('../up/table-display.ts'),
    import('../up/format-log-line.ts'),
  ])
  const region = new LiveRegion(process.stdout)
  const display = new TableDisplay(region, description)
  if (!process.stderr.isTTY) return { logger: createLogger(), display }
  // Log and table share the terminal: warnings and errors are printed above the table.
  const logger = createLogger({ level: 'warn', write: (line) => region.printAbove(formatLogLine(line, region.width)) })
  return { logger, display }
}
