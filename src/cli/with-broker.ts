import { existsSync } from 'node:fs'
import type { Broker } from '../broker/broker.ts'
import type { BrokerAddress } from '../broker/broker-address.ts'
import { BrokerError } from '../broker/broker-error.ts'
import { dataFilesOf } from '../broker/embedded/data-files.ts'
import { openBroker } from '../broker/open-broker.ts'
import { messageOf } from '../common/errors.ts'
import { createLogger } from '../common/logging/logger.ts'
import { type BrokerFlags, kafkaClientSettings, resolveBrokerAddress } from './broker-flags.ts'
import { type ExitCode, UsageError } from './command.ts'
import { readProgramSettings } from './program-options.ts'
import { type RunningStack, readRunningStack } from './running-stack.ts'
import { nearestStack } from './target.ts'
import { printableText } from './terminal/printable-text.ts'

type Values = BrokerFlags & { readonly config?: string | undefined; readonly set?: string[] | undefined }

export type WithBrokerOptions = {
  /** Whether a directory without data is initialized. Otherwise it is an error, because it is probably the wrong directory. */
  readonly createsData: boolean
}

/**
 * Runs a command that works on topics, with the broker that its options name, else that of the running `weir up`. The data of a running
 * `weir up` is used through that program. The exit code is 3 after an error of the broker.
 * Throws a `UsageError` for invalid options.
 */
export async function withBroker(
  values: Values,
  { createsData }: WithBrokerOptions,
  run: (broker: Broker, stack: RunningStack | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { address, stack } = commandBroker(values)
  if (address.kind === 'embedded' && !createsData && !existsSync(dataFilesOf(address.directory).database))
    throw new UsageError(`--data ${address.directory}: this is not a data directory: it contains no data`)
  try {
    const broker = await openBroker(address, { logger: createLogger({ level: 'warn' }) })
    try {
      return await run(broker, stack)
    } finally {
      await broker.close()
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    process.stderr.write(`weir: ${printableText(messageOf(error), '\n')}\n`)
    return 3
  }
}

/** The broker of a command. `stack`: the running `weir up` whose broker it is. Throws a `UsageError`. */
export function commandBroker(values: Values): { readonly address: BrokerAddress; readonly stack?: RunningStack } {
  const settings = Object.fromEntries(readProgramSettings(values).map(({ key, value }) => [key, value]))
  const client = kafkaClientSettings(settings)
  const bootstrap = { key: 'bootstrap.servers', value: settings['bootstrap.servers'] }
  if (values.data !== undefined && values.bootstrap === undefined) {
    const running = readRunningStack(values.data)
    if (running?.broker.kind === 'process') return { address: running.broker, stack: running }
  }
  if (values.data !== undefined || values.bootstrap !== undefined || bootstrap.value)
    return { address: resolveBrokerAddress(values, bootstrap, client) }
  const stack = nearestStack('give --bootstrap HOST:PORT for Kafka, or --data DIR for an embedded broker')
  return { address: brokerOfStack(stack, client), stack }
}

/** `client`: settings of Kafka's clients. */
export function brokerOfStack({ broker }: RunningStack, client: Readonly<Record<string, string>>): BrokerAddress {
  if (broker.kind === 'process') return broker
  return { kind: 'kafka', config: { ...client, 'bootstrap.servers': broker.bootstrap } }
}
