import type { Broker } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { openBroker } from '../../broker/open-broker.ts'
import { messageOf } from '../../common/errors.ts'
import { createLogger } from '../../common/logging/logger.ts'
import { brokerSettings, environmentSettings, registrySettings } from '../../registry/settings.ts'
import { resolveSettings } from '../../worker/main.ts'
import { workerEnvironmentSettings } from '../../worker/settings.ts'
import { kafkaClientSettings, resolveBrokerAddress } from '../broker-flags.ts'
import { type Command, expectNoMore, parseArguments, parseVerb, UsageError } from '../command.ts'
import { readProgramSettings } from '../program-options.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, endpointOf, tlsOptions } from '../runtime-connection.ts'
import { readWorkerGroup } from '../takeover/read-worker-group.ts'
import { registryTakeover } from '../takeover/registry-takeover.ts'
import { isComplete, planText, statusText, type Takeover, type TakeoverGoal } from '../takeover/takeover.ts'
import { workerTakeover } from '../takeover/worker-takeover.ts'
import { printableText } from '../terminal/printable-text.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
  bootstrap: { type: 'string' },
  worker: { type: 'string' },
  back: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']
/** A broker to read, and how the takeover is derived from it. */
type Subject = {
  readonly address: BrokerAddress
  readonly read: (broker: Broker, goal: TakeoverGoal) => Promise<Takeover>
}

export const takeoverCommand: Command = {
  help: `usage: weir takeover status worker --config FILE [--worker URL]
       weir takeover status registry --config FILE
       weir takeover plan (worker|registry) --config FILE

Describes the takeover of a group of Kafka Connect workers or of Confluent registries by Weir. It changes nothing. status
prints the members of the group, what they do, the next step and how to return from here. plan prints all steps.

  --config FILE           settings of the worker or registry (.properties): its group, topics and Kafka
  --set KEY=VALUE         one setting; overrides the file; may be repeated
  --bootstrap HOST:PORT,… Kafka brokers, if no setting names them
  --worker URL            a worker of the group. Default: those that the group names
  --back                  the return from Weir to Kafka Connect or the other registry instead
  --output json           print the result as a JSON object
${CONNECTION_HELP}

The settings also contain the login to Kafka (security.protocol, sasl.*, ssl.*, for a registry with kafkastore. before
them). --user applies to --worker only: workers that the group names get no credentials.

Exit codes: 0 done (status: the takeover, or with --back the return, is complete), 1 it is not complete, 2 wrong usage, 3 undecided.

  weir takeover status registry --config schema-registry.properties`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const { verb, program } = parse(positionals, values)
    const { address, read } = program === 'worker' ? await workerGroup(values) : registryGroup(values)
    try {
      const takeover = await readFrom(address, (broker) => read(broker, values.back ? 'return' : 'takeover'))
      const isDone = isComplete(takeover)
      const result = { ...takeover, isComplete: isDone }
      const text = verb === 'status' ? statusText(takeover) : planText(takeover)
      // Any client can be a member of a group, with any name.
      const shown = values.output === 'json' ? JSON.stringify(result) : printableText(text, '\n')
      process.stdout.write(`${shown}\n`)
      return verb === 'plan' || isDone ? 0 : 1
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      process.stderr.write(`weir: ${messageOf(error)}\n`)
      return 3
    }
  },
}

function parse([word, kind, ...more]: readonly string[], { output, worker, user }: Values) {
  const usage = 'weir takeover status or plan, and worker or registry: weir takeover status worker'
  const verb = parseVerb('takeover', word, ['status', 'plan'], usage)
  const program = parseVerb(`takeover ${verb}`, kind, ['worker', 'registry'], usage)
  expectNoMore(more, usage)
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output ${output}: expected text or json`)
  if (worker !== undefined && program === 'registry') throw new UsageError('--worker applies to workers only')
  if (user !== undefined && worker === undefined) {
    throw new UsageError(
      '--user applies to the worker that --worker URL names: workers of the group get no credentials',
    )
  }
  return { verb, program }
}

async function readFrom(address: BrokerAddress, read: (broker: Broker) => Promise<Takeover>): Promise<Takeover> {
  const broker = await openBroker(address, { logger: createLogger({ level: 'error' }) })
  try {
    return await read(broker)
  } finally {
    await broker.close()
  }
}

async function workerGroup(values: Values): Promise<Subject> {
  const written = readProgramSettings(values, workerEnvironmentSettings(process.env))
  const { values: settings, rest } = await resolveSettings(written)
  const isGiven = written.some(({ key }) => key === 'bootstrap.servers')
  const bootstrap = { key: 'bootstrap.servers', value: isGiven ? settings['bootstrap.servers'] : undefined }
  const topics = [settings['config.storage.topic'], settings['offset.storage.topic'], settings['status.storage.topic']]
  const worker = values.worker === undefined ? undefined : endpointOf('--worker', values.worker, values)
  const location = { groupId: settings['group.id'], topics, worker, tls: tlsOptions(values).tls }
  return {
    address: resolveBrokerAddress(values, bootstrap, kafkaClientSettings(rest)),
    read: async (broker, goal) => workerTakeover(await readWorkerGroup(broker, location), goal),
  }
}

function registryGroup(values: Values): Subject {
  const settings = registrySettings(readProgramSettings(values, environmentSettings(process.env)))
  const key = 'brokerstore.bootstrap.servers'
  const { 'schema.registry.group.id': groupId, 'brokerstore.topic': topic } = settings.values
  return {
    address: resolveBrokerAddress(values, { key, value: settings.values[key] }, brokerSettings(settings)),
    read: async (broker, goal) => {
      const group = await broker.groups.describe(groupId)
      const exists = (await broker.topics.describe(topic)) !== undefined
      const ends = exists ? await broker.topics.offsets(topic, 'latest') : []
      return registryTakeover(group, { name: topic, endOffset: ends[0]?.offset }, goal)
    },
  }
}
