import { setTimeout as sleep } from 'node:timers/promises'
import { type Endpoint, RequestError } from '../../clients/http-client.ts'
import { createWorkerActivityClient, type LogPart } from '../../clients/worker-activity-client.ts'
import { type ConnectorOffset, createWorkerClient, type WorkerClient } from '../../clients/worker-client.ts'
import { retry } from '../../common/retry.ts'
import { type ExitCode, UsageError, wholeNumber } from '../command.ts'
import { abortOnStopSignal } from '../process/stop-signal.ts'
import { runtimeOf } from '../target.ts'
import { formatLogLine } from '../up/format-log-line.ts'
import { NotFoundError } from './resource-source.ts'
import { printError, type Verb } from './verb.ts'
import { print, printRows } from './verb-output.ts'
import { notFound } from './worker-connectors.ts'

const WATCH_MS = 1_000
/** Longer than tasks have to end, by default. */
const STOPPING_MS_MAX = 60_000
const STOPPING = { firstMs: 100, maxMs: 1_000 }
/** Kafka Connect has no error codes of its own for a connector, or consumers, that have not ended yet. */
const NOT_STOPPED = /must be in the STOPPED state|haven't stopped completely yet/

export const logsVerb: Verb = {
  name: 'logs',
  kinds: ['connector'],
  takesNames: 'required',
  about:
    'Prints the last lines that the workers have logged about a connector and its tasks, which they keep in memory.',
  options: ['follow', 'tail'],
  examples: ['logs connector/orders-source -f', 'logs connector orders-source --tail 20'],
  async run({ target, names, values }) {
    const endpoint = runtimeOf(target, 'worker', 'a log')
    const last = values.tail === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--tail', values.tail)
    const signal = values.follow ? abortOnStopSignal() : undefined
    let positions = await Promise.all(
      names.map((name) => printLog(endpoint, name, { isNamed: names.length > 1, last })),
    )
    while (signal !== undefined) {
      await sleep(WATCH_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
      const before = positions
      positions = await Promise.all(
        names.map((name, at) => printLog(endpoint, name, { isNamed: names.length > 1, position: before[at] })),
      )
    }
    return 0
  },
}

type LogQuery = {
  /** Whether each line has the name of its connector. */
  readonly isNamed: boolean
  readonly last?: number
  readonly position?: LogPart['position'] | undefined
}

/** Prints the lines after a position, or the last ones; returns the position after them. */
async function printLog(endpoint: Endpoint, name: string, query: LogQuery): Promise<LogPart['position']> {
  const { isNamed, last = Number.POSITIVE_INFINITY } = query
  const { lines, position, missing } = await readLog(endpoint, name, query.position ?? new Map())
  if (query.position === undefined) for (const reason of missing) printError(`without the log of ${reason}`, 0)
  for (const { line } of lines.slice(Math.max(0, lines.length - last)))
    print(logLine(isNamed ? { connector: name, ...line } : line))
  return position
}

async function readLog(endpoint: Endpoint, name: string, position: LogPart['position']): Promise<LogPart> {
  try {
    return await createWorkerActivityClient(endpoint).log(name, position)
  } catch (error) {
    const names = await createWorkerClient(endpoint).names()
    if (!(error instanceof RequestError && error.status === 404 && names.includes(name)))
      return notFound(createWorkerClient(endpoint), name, error)
    const message = 'this worker keeps no log of connectors, as Kafka Connect does not: read its log file'
    throw new NotFoundError(message, { cause: error })
  }
}

function logLine(line: Readonly<Record<string, unknown>>): string {
  return formatLogLine(JSON.stringify(line), Number.POSITIVE_INFINITY)
}

export const offsetsVerb: Verb = {
  name: 'offsets',
  kinds: ['connector'],
  takesNames: 'required',
  about:
    'Shows the committed offsets of a connector: its position in the source, or in the topics of a sink. With --set or --reset, it changes them: it stops the connector, if it is not stopped, and then restores its state.',
  options: ['output', 'set', 'reset'],
  examples: [
    'offsets connector/orders-source',
    'offsets connector orders-file -o json',
    'offsets connector/orders-file --set orders/0=42',
  ],
  async run({ target, names, values }) {
    const client = createWorkerClient(runtimeOf(target, 'worker', 'an offset'))
    const { set = [], reset = false } = values
    if (set.length > 0 && reset) throw new UsageError('--set and --reset exclude each other')
    const offsets = set.map(parseSinkOffset)
    if (offsets.length > 0) return changeOffsets(client, names, (name) => client.alterOffsets(name, offsets))
    if (reset) return changeOffsets(client, names, (name) => client.resetOffsets(name))
    const rows = (
      await Promise.all(
        names.map(async (connector) =>
          (
            await client.offsets(connector).catch((error) => notFound(client, connector, error))
          ).map((one) => ({ connector, ...one })),
        ),
      )
    ).flat()
    const listing = {
      columns: [
        { title: 'CONNECTOR', cell: ({ connector }: (typeof rows)[number]) => connector },
        { title: 'PARTITION', cell: ({ partition }: (typeof rows)[number]) => pairs(partition) },
        { title: 'OFFSET', cell: ({ offset }: (typeof rows)[number]) => pairs(offset) },
      ],
      nameOf: ({ connector }: (typeof rows)[number]) => `connector/${connector}`,
      dataOf: (row: (typeof rows)[number]) => row,
    }
    return printRows(listing, rows, values, 'no offsets are committed')
  },
}

/** Prints the former offsets of each connector, so that they can be set again, and the worker's message. */
async function changeOffsets(
  client: WorkerClient,
  names: readonly string[],
  change: (name: string) => Promise<string>,
): Promise<ExitCode> {
  for (const name of names) {
    const before = await client.offsets(name).catch((error) => notFound(client, name, error))
    const former = before.map(({ partition, offset }) => `${pairs(partition)}: ${pairs(offset)}`)
    printError(`note: the offsets of ${name} are ${former.join('; ') || 'none'}`, 0)
    try {
      print(`connector/${name}: ${await whileStopped(client, name, () => change(name))}`)
    } catch (error) {
      if (!(error instanceof RequestError && error.status === 400)) throw error
      return printError(`connector/${name}: ${error.message}`, 1)
    }
  }
  return 0
}

/** Stops a connector for a change of its offsets, and restores its state, also if the change fails. */
async function whileStopped(client: WorkerClient, name: string, change: () => Promise<string>): Promise<string> {
  const { state } = (await client.status(name)).connector
  if (state === 'STOPPED') return change()
  await client.stop(name)
  try {
    return await retry(change, { backoff: STOPPING, withinMs: STOPPING_MS_MAX, retriable: isStopping })
  } finally {
    await (state === 'PAUSED' ? client.pause(name) : client.resume(name))
  }
}

/** A worker refuses the change until all tasks have ended. */
function isStopping(error: unknown): boolean {
  return error instanceof RequestError && (error.retriable || NOT_STOPPED.test(error.message))
}

/** `orders/0=42`; the name of a topic has no slash. Throws a `UsageError`. */
function parseSinkOffset(text: string): ConnectorOffset {
  const [, topic = '', partition = '', offset = ''] = /^([^/=]+)\/(\d{1,9})=(\d{1,15})$/.exec(text) ?? []
  if (topic === '') throw new UsageError(`--set ${text}: expected TOPIC/PARTITION=OFFSET, such as orders/0=42`)
  return {
    partition: { kafka_topic: topic, kafka_partition: Number(partition) },
    offset: { kafka_offset: Number(offset) },
  }
}

/** `file=a.txt, line=4` */
function pairs(part: Readonly<Record<string, unknown>> | null): string {
  return Object.entries(part ?? {})
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')
}
