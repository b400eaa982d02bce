import type { Broker } from '../../broker/broker.ts'
import { type DeadLetterRecord, parseDeadLetter } from '../../dead-letters/dead-letter.ts'
import { readToEnd } from '../../dead-letters/read-to-end.ts'
import { replayDeadLetters, replayGroupOf } from '../../dead-letters/replay.ts'
import { recordTopicAccess } from '../../worker/main.ts'
import { type Command, type ExitCode, expectNoMore, parseArguments, parseVerb, UsageError } from '../command.ts'
import { deadLetterJson, formatDeadLetter } from '../dead-letters/format-dead-letter.ts'
import { PROGRAM_OPTIONS, readProgramSettings } from '../program-options.ts'
import { printableText } from '../terminal/printable-text.ts'
import { withBroker } from '../with-broker.ts'

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

export const dlqCommand: Command = {
  help: `usage: weir dlq show TOPIC (--bootstrap HOST:PORT,… | --data DIR) [--connector NAME] [--stage STAGE] [--json]
       weir dlq replay TOPIC (--bootstrap HOST:PORT,… | --data DIR) [--connector NAME] [--stage STAGE] [--to TOPIC]

show prints the records of a dead-letter topic with the errors that their headers describe. replay copies the original
records back to the topics that they came from; a second replay continues where the first one ended, and leaves out what the
console has replayed.

  --connector NAME  only records of this connector
  --stage STAGE     only records that failed at this stage, such as VALUE_CONVERTER
  --json            print one JSON object per line, keys and values in base64
  --to TOPIC        replay to this topic instead of the original one
  --from-beginning  replay records again that were replayed before
  --dry-run         count what would be replayed, list what cannot be, and write nothing
  --config FILE     settings of the Kafka client (.properties), and those with which a worker has other topics than the usual ones,
                    to which nothing is replayed (connector.topics.denied, config.storage.topic, …); --set KEY=VALUE sets one

Exit codes: 0 done, 1 the topic does not exist or has records that cannot be replayed, 2 wrong usage, 3 undecided, such as when
the broker does not respond.

  weir dlq show orders-dead --bootstrap 127.0.0.1:9092`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [word, topic, ...more] = positionals
    const usage = 'weir dlq show TOPIC or weir dlq replay TOPIC'
    const verb = parseVerb('dlq', word, ['show', 'replay'], usage)
    expectNoMore(more, usage)
    if (topic === undefined) throw new UsageError(`expected ${usage}`)
    return withBroker(values, { createsData: false }, async (broker) => {
      if (!(await broker.topics.describe(topic))) return printError(`topic '${topic}' does not exist`)
      return verb === 'show' ? show(broker, topic, values) : replayAll(broker, topic, values)
    })
  },
}

async function show(broker: Broker, topic: string, values: Values): Promise<ExitCode> {
  const matches = matcherOf(values)
  const format = values.json ? deadLetterJson : formatDeadLetter
  for await (const polled of readToEnd(broker, topic, [])) {
    for (const { partition, records } of polled) {
      const deadLetters = records.map((record) => parseDeadLetter(partition, record))
      for (const deadLetter of deadLetters.filter(matches)) print(format(deadLetter))
    }
  }
  return 0
}

async function replayAll(broker: Broker, topic: string, values: Values): Promise<ExitCode> {
  const isDryRun = values['dry-run'] === true
  const access = recordTopicAccess(readProgramSettings(values))
  const { replayed, rejected, skipped } = await replayDeadLetters(broker, {
    topic,
    targetTopic: values.to,
    targetProblem: (target) =>
      access.allows('write', target)
        ? undefined
        : `its topic is '${target}', which a program uses for itself: choose another topic with --to`,
    matches: matcherOf(values),
    groupId: replayGroupOf(topic, values.connector, values.stage),
    fromBeginning: values['from-beginning'] === true,
    isDryRun,
    onRejected: ({ partition, record }, reason) => printError(`${partition}/${record.offset}: ${reason}`),
  })
  const before = skipped === 0 ? '' : `, replayed before in the console: ${skipped}`
  print(`${isDryRun ? 'to replay' : 'replayed'}: ${replayed}, not replayable: ${rejected}${before}`)
  return rejected === 0 ? 0 : 1
}

function matcherOf({ connector, stage }: Values): (deadLetter: DeadLetterRecord) => boolean {
  return ({ errors }) =>
    (connector === undefined || errors.get('connector.name') === connector) &&
    (stage === undefined || errors.get('stage') === stage)
}

function print(text: string): void {
  process.stdout.write(`${printableText(text, '\n')}\n`)
}

function printError(text: string): 1 {
  process.stderr.write(`${printableText(text, '\n')}\n`)
  return 1
}
