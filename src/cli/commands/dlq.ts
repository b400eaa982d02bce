import type { Broker } from '../../broker/broker.ts'
import { openBroker } from '../../broker/open-broker.ts'
import { createLogger } from '../../config/logger.ts'
import { PROGRAM_OPTIONS, readSettings, resolveBrokerAddress } from '../broker-options.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { type DeadLetter, deadLetterJson, formatDeadLetter, parseDeadLetter } from '../dead-letters/dead-letter.ts'
import { readToEnd } from '../dead-letters/read-to-end.ts'
import { replayDeadLetters } from '../dead-letters/replay.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  connector: { type: 'string' },
  stage: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
  'from-beginning': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

const CLIENT_SETTING = /^(?:client|security|sasl|ssl|metadata|request|retry|reconnect|socket|connections)\./

export const dlqCommand: Command = {
  help: `usage: weir dlq show TOPIC (--bootstrap HOST:PORT,… | --data DIR) [--connector NAME] [--stage STAGE] [--json]
       weir dlq replay TOPIC (--bootstrap HOST:PORT,… | --data DIR) [--connector NAME] [--stage STAGE] [--to TOPIC]

Shows what stands in a dead-letter topic and why, and, when the cause is mended, gives it another try: records go back to
the topic they came from, as they were. A second replay goes on where the first one ended.

  --connector NAME  letters of this connector only
  --stage STAGE     letters of this stage only, such as VALUE_CONVERTER
  --json            a JSON object a line, keys and values as base64
  --to TOPIC        replay: another topic than the one each came from
  --from-beginning  replay: also what was replayed before
  --dry-run         replay: count and say what can't be replayed, and write nothing
  --config FILE     settings of the Kafka client (.properties); --set KEY=VALUE gives one

  weir dlq show orders-dead --bootstrap 127.0.0.1:9092`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [verb, topic, ...more] = positionals
    if ((verb !== 'show' && verb !== 'replay') || topic === undefined || more.length > 0) {
      throw new UsageError('which dead letters? weir dlq show TOPIC or weir dlq replay TOPIC')
    }
    const written = Object.fromEntries(readSettings(values).map(({ key, value }) => [key, value]))
    const client = Object.fromEntries(Object.entries(written).filter(([key]) => CLIENT_SETTING.test(key)))
    const named = { name: 'bootstrap.servers', value: written['bootstrap.servers'] }
    const broker = await openBroker(resolveBrokerAddress(values, named, client), {
      logger: createLogger({ level: 'warn' }),
    })
    try {
      if (!(await broker.topics.describe(topic))) return printError(`there is no topic '${topic}'`)
      return await (verb === 'show' ? show(broker, topic, values) : replayAll(broker, topic, values))
    } finally {
      await broker.close()
    }
  },
}

async function show(broker: Broker, topic: string, values: Values): Promise<ExitCode> {
  const picks = matcherOf(values)
  const text = values.json ? deadLetterJson : formatDeadLetter
  for await (const polled of readToEnd(broker, topic, [])) {
    for (const { partition, records } of polled) {
      for (const letter of records.map((record) => parseDeadLetter(partition, record)).filter(picks))
        print(text(letter))
    }
  }
  return 0
}

async function replayAll(broker: Broker, topic: string, values: Values): Promise<ExitCode> {
  const isDryRun = values['dry-run'] === true
  const { replayed, rejected: refused } = await replayDeadLetters(broker, {
    topic,
    to: values.to,
    matches: matcherOf(values),
    groupId: ['weir-dlq', topic, values.connector, values.stage].filter((part) => part !== undefined).join('-'),
    fromBeginning: values['from-beginning'] === true,
    isDryRun,
    onRejected: ({ partition, record: stored }, reason) => printError(`${partition}/${stored.offset}: ${reason}`),
  })
  print(`${isDryRun ? 'to replay' : 'replayed'}: ${replayed}, left: ${refused}`)
  return refused === 0 ? 0 : 1
}

function matcherOf({ connector, stage }: Values): (letter: DeadLetter) => boolean {
  return ({ errors: told }) =>
    (connector === undefined || told.get('connector.name') === connector) &&
    (stage === undefined || told.get('stage') === stage)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function printError(text: string): 1 {
  process.stderr.write(`${text}\n`)
  return 1
}
