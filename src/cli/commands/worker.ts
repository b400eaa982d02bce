import { openBroker } from '../../broker/open-broker.ts'
import { startAll } from '../../common/lifecycle.ts'
import { createLogger, type Logger } from '../../common/logging/logger.ts'
import { createMetrics } from '../../common/metrics-registry.ts'
import type { Setting } from '../../config/settings.ts'
import { resolveSettings, startWorker } from '../../worker/main.ts'
import { workerEnvironmentSettings } from '../../worker/settings.ts'
import {
  KAFKA_REFERENCE_HELP,
  KAFKA_REFERENCE_OPTIONS,
  kafkaClientSettings,
  resolveBrokerAddress,
  withReferencedKafka,
} from '../broker-flags.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/run-program.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, protectedFiles, readProgramSettings } from '../program-options.ts'

const OPTIONS = { ...PROGRAM_OPTIONS, ...KAFKA_REFERENCE_OPTIONS } as const
type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

export const workerCommand: Command = {
  help: `usage: weir worker (--bootstrap HOST:PORT,… | --kafka-ref NAMESPACE/NAME | --data DIR) [--config FILE] [--set KEY=VALUE]…

Runs a connector worker that is compatible with Kafka Connect. Workers with the same group.id form a cluster.

${PROGRAM_HELP}
${KAFKA_REFERENCE_HELP}

Settings are also read from environment variables CONNECT_… with _ for each dot, which override the file.

  weir worker --bootstrap 127.0.0.1:9092 --set listeners=http://127.0.0.1:8083 --set group.id=c1`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`weir worker takes no arguments: '${positionals[0]}' is unexpected`)
    const logger = createLogger()
    return withReferencedKafka(values, logger, (found, settingsOfKafka) => runWorker(found, settingsOfKafka, logger))
  },
}

async function runWorker(values: Values, settingsOfKafka: readonly Setting[], logger: Logger): Promise<ExitCode> {
  const written = [...settingsOfKafka, ...readProgramSettings(values, workerEnvironmentSettings(process.env))]
  const settings = await resolveSettings(written)
  // The default of the setting, localhost:9092, must not select a broker: only a value that was given counts.
  const isGiven = written.some(({ key }) => key === 'bootstrap.servers')
  const bootstrap = { key: 'bootstrap.servers', value: isGiven ? settings.values['bootstrap.servers'] : undefined }
  const address = resolveBrokerAddress(values, bootstrap, kafkaClientSettings(settings.rest))
  const gracePeriodMs = parseGracePeriod(values['grace-period'])
  const start = (fail: (error: Error) => void) =>
    startAll(logger, async (lifecycle) => {
      const broker = await openBroker(address, { logger })
      lifecycle.onStop('broker', () => broker.close())
      const parts = {
        broker,
        logger,
        metrics: createMetrics(),
        isWarm: true,
        ownFiles: protectedFiles(values, address),
      }
      const started = await startWorker(settings, { ...parts, onFailed: fail })
      lifecycle.onStop('worker', () => started.stop(), Number.POSITIVE_INFINITY)
      return lifecycle
    })
  return runProgram({ logger, gracePeriodMs, start })
}
