import { createRegistryClient } from '../../clients/registry-client.ts'
import { counted } from '../../common/counted.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { RecordDecoder } from '../../records/record-decoder.ts'
import {
  type Command,
  type ExitCode,
  expectNoMore,
  parseArguments,
  parseVerb,
  UsageError,
  wholeNumber,
} from '../command.ts'
import { waitForStopSignal } from '../process/stop-signal.ts'
import { PROGRAM_OPTIONS } from '../program-options.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, endpointOf } from '../runtime-connection.ts'
import { printableText } from '../terminal/printable-text.ts'
import {
  followTopic,
  type PeekedRecord,
  parseStart,
  peekJson,
  peekText,
  peekTopic,
  RecordFilter,
} from '../topics/peek-topic.ts'
import { backUpTopic, restoreTopic } from '../topics/topic-backup.ts'
import { withBroker } from '../with-broker.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  ...CONNECTION_OPTIONS,
  to: { type: 'string' },
  from: { type: 'string' },
  registry: { type: 'string' },
  partition: { type: 'string' },
  limit: { type: 'string' },
  where: { type: 'string' },
  follow: { type: 'boolean', short: 'f' },
  output: { type: 'string', short: 'o', default: 'text' },
} as const
type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

const LIMIT = 10

export const topicCommand: Command = {
  help: `usage: weir topic peek TOPIC [-f] [--from START] [--limit N] [--where EXPRESSION] [--bootstrap HOST:PORT,… | --data DIR]
       weir topic backup TOPIC --to FILE [--bootstrap HOST:PORT,… | --data DIR]
       weir topic restore TOPIC --from FILE [--bootstrap HOST:PORT,… | --data DIR]

Without --bootstrap and --data, it uses the broker of the running weir up of this directory.

peek prints records with their keys, headers and values: decoded by the schema of their id (Avro, JSON Schema, Protobuf), else as JSON,
text or hexadecimal. By default it prints the newest ${LIMIT}, or with --where the newest of those that match. Anybody who may read the
topic sees its data: encrypted fields stay encrypted, and nothing is masked.

  -f, --follow        print new records until Ctrl-C, or until --limit
  --from START        earliest, latest, an offset, or a time such as 2026-11-28T12:00:00Z; then the oldest records come first
  --limit N           number of records; default: ${LIMIT}, with -f unlimited
  --partition N       this partition only
  --where EXPRESSION  only records for which this CEL expression is true, with key, value, headers, partition, offset and timestamp
  --registry URL      the registry of the schemas; default: that of the running weir up
  -o, --output FORMAT text, or json for one JSON object in each line
${CONNECTION_HELP.replace(/\n {2}--help$/, '')}

backup writes all records of a topic with keys, values, headers and timestamps to a file, from the beginning to its present
end. It waits for open transactions, and replaces only an earlier backup. restore verifies the file and writes the records
to an empty topic. If it does not exist, it is created with the same partitions and the configuration that was set on it, without
what depends on the number of brokers, such as min.insync.replicas. Offsets of the new topic begin at 0. For _schemas,
_dek_registry_keys and the topics of workers: stop their programs before restore. The file may contain secrets.

  --config FILE       settings of the Kafka client (.properties); --set KEY=VALUE sets one

Exit codes: 0 done, 1 the topic or the file is not as it must be, 2 wrong usage, 3 undecided.

  weir topic peek orders --where 'value.orderunits > 5.0'
  weir topic backup _schemas --to schemas.jsonl --bootstrap 127.0.0.1:9092`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [word, topic, ...more] = positionals
    const usage = 'weir topic peek TOPIC, weir topic backup TOPIC --to FILE, or weir topic restore TOPIC --from FILE'
    const verb = parseVerb('topic', word, ['peek', 'backup', 'restore'], usage)
    expectNoMore(more, usage)
    if (verb === 'peek') return peek(topic, values)
    const path = verb === 'backup' ? values.to : values.from
    const other = verb === 'backup' ? values.from : values.to
    if (topic === undefined || path === undefined || other !== undefined) throw new UsageError(`expected ${usage}`)
    return withBroker(values, { createsData: verb === 'restore' }, async (broker) => {
      const copy = verb === 'backup' ? backUpTopic : restoreTopic
      try {
        const count = await copy(broker, topic, path)
        process.stdout.write(
          `${verb === 'backup' ? 'backed up' : 'restored'} ${counted(count, 'record')} of ${topic}\n`,
        )
        return 0
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        process.stderr.write(`weir: ${printableText(messageOf(error), '\n')}\n`)
        return 1
      }
    })
  },
}

async function peek(topic: string | undefined, values: Values): Promise<ExitCode> {
  if (topic === undefined || values.to !== undefined) throw new UsageError('expected weir topic peek TOPIC')
  const filter = new RecordFilter(values.where)
  const { from = 'latest', limit, partition, follow, registry, output } = values
  if (output !== 'text' && output !== 'json') throw new UsageError(`-o ${output}: expected text or json`)
  const given = {
    topic,
    from: parseStart(from),
    limit: limit !== undefined ? wholeNumber('--limit', limit) : follow ? Number.POSITIVE_INFINITY : LIMIT,
    partition: partition === undefined ? undefined : wholeNumber('--partition', partition),
    matches: (record: PeekedRecord) => filter.matches(record),
  }
  const named = registry === undefined ? undefined : endpointOf('--registry', registry, values)
  return withBroker(values, { createsData: false }, async (broker, stack) => {
    const endpoint = named ?? (stack && endpointOf('--registry', stack.registryUrl, values))
    const client = endpoint && createRegistryClient(endpoint)
    const options = { ...given, decoder: new RecordDecoder({ registry: client }) }
    const records = follow ? followTopic(broker, options, stopSignal()) : peekTopic(broker, options)
    for await (const record of records)
      process.stdout.write(`${output === 'json' ? peekJson(record) : peekText(record)}\n`)
    if (filter.problem !== undefined) process.stderr.write(`weir: ${printableText(filter.problem)}\n`)
    return 0
  })
}

function stopSignal(): AbortSignal {
  const stop = new AbortController()
  void waitForStopSignal().then(() => stop.abort())
  return stop.signal
}
