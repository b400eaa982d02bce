import { existsSync } from 'node:fs'
import type { Broker } from '../broker/broker.ts'
import { BrokerError } from '../broker/broker-error.ts'
import { dataFilesOf } from '../broker/embedded/data-files.ts'
import { openBroker } from '../broker/open-broker.ts'
import { messageOf } from '../common/errors.ts'
import { createLogger } from '../common/logging/logger.ts'
import { type BrokerFlags, kafkaClientSettings, resolveBrokerAddress } from './broker-flags.ts'
import { type ExitCode, UsageError } from './command.ts'
import { readProgramSettings } from './program-options.ts'
import { printableText } from './terminal/printable-text.ts'

type Values = BrokerFlags & { readonly config?: string | undefined; readonly set?: string[] | undefined }

export type WithBrokerOptions = {
  /** Whether a directory without data is initialized. Otherwise it is an error, because it is probably the wrong directory. */
  readonly createsData: boolean
}

/**
 * Runs a command that works on topics, with the broker that its options name. The exit code is 3 after an error of the broker.
 * Throws a `UsageError` for invalid options.
 */
export async function withBroker(
  values: Values,
  { createsData }: WithBrokerOptions,
  run: (broker: Broker) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = Object.fromEntries(readProgramSettings(values).map(({ key, value }) => [key, value]))
  const bootstrap = { key: 'bootstrap.servers', value: settings['bootstrap.servers'] }
  const address = resolveBrokerAddress(values, bootstrap, kafkaClientSettings(settings))
  if (address.kind === 'embedded' && !createsData && !existsSync(dataFilesOf(address.directory).database))
    throw new UsageError(`--data ${address.directory}: this is not a data directory: it contains no data`)
  try {
    const broker = await openBroker(address, { logger: createLogger({ level: 'warn' }) })
    try {
      return await run(broker)
    } finally {
      await broker.close()
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    process.stderr.write(`weir: ${printableText(messageOf(error), '\n')}\n`)
    return 3
  }
}
