import { openBroker } from '../../broker/open-broker.ts'
import { startAll } from '../../config/lifecycle.ts'
import { createLogger } from '../../config/logger.ts'
import { createMetrics } from '../../config/metrics.ts'
import { startWorker } from '../../worker/main.ts'
import { environmentSettings, filledInSettings } from '../../worker/settings.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, protectedFiles, readSettings, resolveBrokerAddress } from '../broker-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/program.ts'

/** Settings of Kafka's clients, which a worker is configured with at the top level. */
const CLIENT_SETTING = /^(?:client|security|sasl|ssl|metadata|request|retry|reconnect|socket|connections)\./

export const workerCommand: Command = {
  help: `usage: weir worker (--bootstrap HOST:PORT,… | --data DIR) [--config FILE] [--set KEY=VALUE]…

Runs a connector worker that speaks as Kafka Connect's does, in a cluster with all that have its group.id.

${PROGRAM_HELP}

Settings may also stand in the environment, as CONNECT_… with _ for each dot; they win over the file.

  weir worker --bootstrap 127.0.0.1:9092 --set listeners=http://127.0.0.1:8083 --set group.id=c1`,

  async run(args) {
    const { values, positionals } = parseArguments(args, PROGRAM_OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir worker takes options only, not '${positionals[0]}'`)
    const written = readSettings(values, environmentSettings(process.env))
    const settings = await filledInSettings(written)
    // The setting has a default, as Kafka Connect's examples have it; only one that was written counts here.
    const isNamed = written.some(({ key }) => key === 'bootstrap.servers')
    const named = isNamed ? settings.values['bootstrap.servers'] : undefined
    const client = Object.fromEntries(Object.entries(settings.rest).filter(([key]) => CLIENT_SETTING.test(key)))
    const address = resolveBrokerAddress(values, { name: 'bootstrap.servers', value: named }, client)
    const logger = createLogger()
    const gracePeriodMs = parseGracePeriod(values['grace-period'])
    const start = (fail: (error: Error) => void) =>
      startAll(logger, async (life) => {
        const broker = await openBroker(address, { logger })
        life.onStop('broker', () => broker.close())
        const parts = {
          broker,
          logger,
          metrics: createMetrics(),
          isWarm: true,
          ownFiles: protectedFiles(values, address),
        }
        const started = await startWorker(settings, { ...parts, onFailed: fail })
        life.onStop('worker', () => started.stop(), Number.POSITIVE_INFINITY)
        return life
      })
    return runProgram({ logger, gracePeriodMs, start })
  },
}
