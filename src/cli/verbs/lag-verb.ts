import { BrokerError } from '../../broker/broker-error.ts'
import { openBroker } from '../../broker/open-broker.ts'
import type { Endpoint } from '../../clients/http-client.ts'
import { createWorkerActivityClient } from '../../clients/worker-activity-client.ts'
import { createWorkerClient, type WorkerClient } from '../../clients/worker-client.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { runtimeOf, type Target } from '../target.ts'
import type { Listing } from './listing.ts'
import { NotFoundError } from './resource-source.ts'
import { lagByWorkers, lagOnBroker, type SinkLag, sinkGroup } from './sink-lag.ts'
import { printError, type Verb, type VerbCall } from './verb.ts'
import { printRows } from './verb-output.ts'
import { notFound } from './worker-connectors.ts'

/** Of the brokers of a running `weir up`, which may need a login that only its own settings have. */
const STACK_BROKER_TIMEOUT_MS = 5_000

export const lagVerb: Verb = {
  name: 'lag',
  kinds: ['connector'],
  takesNames: 'required',
  about:
    'Shows the committed offsets of a sink, and how many records are after them: by the offsets of the brokers, with --bootstrap or of the ' +
    'running weir up, whether the sink runs or not; else as its workers measured them in the last ten seconds.',
  options: ['output', 'bootstrap', 'config'],
  examples: ['lag connector/orders-file', 'lag connector/orders-file --bootstrap 127.0.0.1:9092'],
  async run({ target, names, values }) {
    const endpoint = runtimeOf(target, 'worker', 'a lag')
    const client = createWorkerClient(endpoint)
    const sinks = await Promise.all(names.map((name) => sinkOf(client, name)))
    let onBroker: LagBroker | undefined
    try {
      onBroker = await openLagBroker(target, values)
      const rows = await mapConcurrently(sinks, async ({ name, groupId }) => {
        const known = groupId === undefined ? undefined : await onBroker?.lagOf(groupId)
        return (known ?? (await measuredLag(endpoint, name))).map((one) => ({ connector: name, ...one }))
      })
      return printRows(LAG_LISTING, rows.flat(), values, 'no offsets are committed')
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      return printError(error.message, 3)
    } finally {
      await onBroker?.close()
    }
  },
}

type LagRow = SinkLag & { readonly connector: string }
const LAG_LISTING: Listing<LagRow> = {
  columns: [
    { title: 'CONNECTOR', cell: ({ connector }) => connector },
    { title: 'TOPIC', cell: ({ topic }) => topic },
    { title: 'PARTITION', cell: ({ partition }) => String(partition) },
    { title: 'OFFSET', cell: ({ offset }) => String(offset ?? '') },
    { title: 'END', cell: ({ end }) => String(end ?? '') },
    { title: 'LAG', cell: ({ lag }) => String(lag ?? '') },
  ],
  nameOf: ({ connector }) => `connector/${connector}`,
  dataOf: (row) => row,
}

/** `groupId`: undefined if it is on other brokers than those of the worker. */
async function sinkOf(client: WorkerClient, name: string) {
  const { type, config } = await client.get(name).catch((error) => notFound(client, name, error))
  if (type === 'sink') return { name, groupId: sinkGroup(name, config) }
  throw new NotFoundError(`connector '${name}' is a ${type}: only sinks have a lag; weir offsets shows its position`)
}

async function measuredLag(endpoint: Endpoint, name: string): Promise<readonly SinkLag[]> {
  const { isMeasured, lags } = await lagByWorkers(
    createWorkerClient(endpoint),
    createWorkerActivityClient(endpoint),
    name,
  )
  if (!isMeasured)
    printError(
      'note: this worker does not measure lags, as Kafka Connect does not: --bootstrap HOST:PORT reads them from its brokers',
      0,
    )
  return lags
}

type LagBroker = {
  /** Undefined if the brokers of the running `weir up`, which nobody named, cannot tell. */
  lagOf(groupId: string): Promise<readonly SinkLag[] | undefined>
  close(): Promise<void>
}

/** Undefined if no broker is known. Those that options name must respond. */
async function openLagBroker(target: Target, values: VerbCall['values']): Promise<LagBroker | undefined> {
  const { bootstrap, config } = values
  const isNamed = bootstrap !== undefined || config !== undefined
  const stack = target.kind === 'runtimes' ? target.stack : undefined
  if (!isNamed && stack === undefined) return undefined
  const { brokerOfStack, commandBroker } = await import('../with-broker.ts')
  const address =
    isNamed || stack === undefined
      ? commandBroker({ bootstrap, config }).address
      : brokerOfStack(stack, { 'default.api.timeout.ms': String(STACK_BROKER_TIMEOUT_MS) })
  try {
    const broker = await openBroker(address, { logger: silentLogger() })
    return {
      lagOf: (groupId) =>
        lagOnBroker(broker, groupId).catch((error) => (isNamed ? Promise.reject(error) : unknownLag(error))),
      close: () => broker.close(),
    }
  } catch (error) {
    if (isNamed) throw error
    return unknownLag(error)
  }
}

function unknownLag(error: unknown): undefined {
  if (!(error instanceof BrokerError)) throw error
  printError(`note: lags are those that the workers measured, because the brokers do not tell: ${error.message}`, 0)
  return undefined
}
