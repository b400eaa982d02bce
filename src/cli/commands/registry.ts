import { openBroker } from '../../broker/open-broker.ts'
import { startAll } from '../../config/lifecycle.ts'
import { createLogger } from '../../config/logger.ts'
import { createMetrics } from '../../config/metrics.ts'
import { startRegistry } from '../../registry/main.ts'
import { brokerSettings, environmentSettings, registrySettings } from '../../registry/settings.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, readSettings, resolveBrokerAddress } from '../broker-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/program.ts'

export const registryCommand: Command = {
  help: `usage: weir registry (--bootstrap HOST:PORT,… | --data DIR) [--config FILE] [--set KEY=VALUE]…

Runs a schema registry that speaks as Confluent's does and keeps everything in one topic.

${PROGRAM_HELP}

Settings may also stand in the environment, as SCHEMA_REGISTRY_… with _ for each dot; they win over the file.

  weir registry --data ./d --set listeners=http://127.0.0.1:8081`,

  async run(args) {
    const { values, positionals } = parseArguments(args, PROGRAM_OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir registry takes options only, not '${positionals[0]}'`)
    const written = readSettings(values, environmentSettings(process.env))
    const settings = registrySettings(written)
    const bootstrap = settings.values['brokerstore.bootstrap.servers']
    const address = resolveBrokerAddress(
      values,
      { name: 'brokerstore.bootstrap.servers', value: bootstrap },
      brokerSettings(settings),
    )
    const logger = createLogger({ level: settings.values.debug ? 'debug' : 'info' })
    const gracePeriodMs = parseGracePeriod(values['grace-period'])
    const start = (fail: (error: Error) => void) =>
      startAll(logger, async (life) => {
        const broker = await openBroker(address, { logger })
        life.onStop('broker', () => broker.close())
        const parts = { broker, logger, metrics: createMetrics(), onFailed: fail }
        const started = await startRegistry(settings, parts)
        life.onStop('registry', () => started.stop(), Number.POSITIVE_INFINITY)
        return life
      })
    return runProgram({ logger, gracePeriodMs, start })
  },
}
