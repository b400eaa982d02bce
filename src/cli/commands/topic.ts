import { messageOf, UserError } from '../../common/errors.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { PROGRAM_OPTIONS } from '../program-options.ts'
import { printableText } from '../terminal/printable-text.ts'
import { backUpTopic, restoreTopic } from '../topics/topic-backup.ts'
import { withBroker } from '../with-broker.ts'

const OPTIONS = { ...PROGRAM_OPTIONS, to: { type: 'string' }, from: { type: 'string' } } as const

export const topicCommand: Command = {
  help: `usage: weir topic backup TOPIC --to FILE (--bootstrap HOST:PORT,… | --data DIR)
       weir topic restore TOPIC --from FILE (--bootstrap HOST:PORT,… | --data DIR)

backup writes all records of a topic with keys, values, headers and timestamps to a file, from the beginning to its present
end. It waits for open transactions, and replaces only an earlier backup. restore verifies the file and writes the records
to an empty topic. If it does not exist, it is created with the same partitions and the configuration that was set on it, without
what depends on the number of brokers, such as min.insync.replicas. Offsets of the new topic begin at 0. For _schemas,
_dek_registry and the topics of workers: stop their programs before restore. The file may contain secrets.

  --config FILE       settings of the Kafka client (.properties); --set KEY=VALUE sets one

Exit codes: 0 done, 1 the topic or the file is not as it must be, 2 wrong usage, 3 undecided.

  weir topic backup _schemas --to schemas.jsonl --bootstrap 127.0.0.1:9092`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const [verb, topic, ...more] = positionals
    const path = verb === 'backup' ? values.to : values.from
    const other = verb === 'backup' ? values.from : values.to
    const isVerb = verb === 'backup' || verb === 'restore'
    if (!isVerb || topic === undefined || more.length > 0 || path === undefined || other !== undefined) {
      throw new UsageError('expected weir topic backup TOPIC --to FILE, or weir topic restore TOPIC --from FILE')
    }
    return withBroker(values, { createsData: verb === 'restore' }, async (broker) => {
      const copy = verb === 'backup' ? backUpTopic : restoreTopic
      try {
        const count = await copy(broker, topic, path)
        process.stdout.write(`${verb === 'backup' ? 'backed up' : 'restored'} ${count} records of ${topic}\n`)
        return 0
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        process.stderr.write(`weir: ${printableText(messageOf(error), '\n')}\n`)
        return 1
      }
    })
  },
}
