import { openBroker } from '../../broker/open-broker.ts'
import { startAll } from '../../common/lifecycle.ts'
import { createLogger } from '../../common/logging/logger.ts'
import { createMetrics } from '../../common/metrics-registry.ts'
import type { Setting } from '../../config/settings.ts'
import { startRegistry } from '../../registry/main.ts'
import { brokerSettings, environmentSettings, registrySettings } from '../../registry/settings.ts'
import {
  KAFKA_REFERENCE_HELP,
  KAFKA_REFERENCE_OPTIONS,
  resolveBrokerAddress,
  withReferencedKafka,
} from '../broker-flags.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/run-program.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, readProgramSettings } from '../program-options.ts'

const OPTIONS = { ...PROGRAM_OPTIONS, ...KAFKA_REFERENCE_OPTIONS } as const
type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

export const registryCommand: Command = {
  help: `usage: weir registry (--bootstrap HOST:PORT,… | --kafka-ref NAMESPACE/NAME | --data DIR) [--config FILE] [--set KEY=VALUE]…

Runs a schema registry that is compatible with Confluent Schema Registry and stores everything in one topic.

${PROGRAM_HELP}
${KAFKA_REFERENCE_HELP}

Settings are also read from environment variables SCHEMA_REGISTRY_… with _ for each dot, which override the file.

  weir registry --data ./d --set listeners=http://127.0.0.1:8081`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`weir registry takes no arguments: '${positionals[0]}' is unexpected`)
    return withReferencedKafka(values, createLogger(), runRegistry)
  },
}

async function runRegistry(values: Values, settingsOfKafka: readonly Setting[]): Promise<ExitCode> {
  const settings = registrySettings([
    ...settingsOfKafka.map((setting) => ({ ...setting, key: `brokerstore.${setting.key}` })),
    ...readProgramSettings(values, environmentSettings(process.env)),
  ])
  const bootstrap = settings.values['brokerstore.bootstrap.servers']
  const address = resolveBrokerAddress(
    values,
    { key: 'brokerstore.bootstrap.servers', value: bootstrap },
    brokerSettings(settings),
  )
  const logger = createLogger({ level: settings.values.debug ? 'debug' : 'info' })
  const gracePeriodMs = parseGracePeriod(values['grace-period'])
  const start = (fail: (error: Error) => void) =>
    startAll(logger, async (lifecycle) => {
      const broker = await openBroker(address, { logger })
      lifecycle.onStop('broker', () => broker.close())
      const parts = { broker, logger, metrics: createMetrics(), onFailed: fail }
      const started = await startRegistry(settings, parts)
      lifecycle.onStop('registry', () => started.stop(), Number.POSITIVE_INFINITY)
      return lifecycle
    })
  return runProgram({ logger, gracePeriodMs, start })
}
