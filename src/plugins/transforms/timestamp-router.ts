import { DataError, defineTransform, field, z } from '../../sdk/index.ts'
import { parseDatePattern } from './date-pattern.ts'
import { names } from './key-value-transforms.ts'

export const timestampRouter = defineTransform({
  ...names('TimestampRouter'),
  summary: "Replaces the record's topic with a name that is formatted from the topic and the record's timestamp.",
  notes: 'Times are in UTC.',
  config: z.object({
    'topic.format': field
      .text({
        doc:
          'Format string which can contain <code>${topic}</code> and <code>${timestamp}</code> as placeholders for the ' +
          'topic and timestamp, respectively.',
        importance: 'HIGH',
      })
      .default('${topic}-${timestamp}'),
    'timestamp.format': field
      .text({
        doc: 'Format string for the timestamp that is compatible with <code>java.text.SimpleDateFormat</code>.',
        importance: 'HIGH',
      })
      .default('yyyyMMdd'),
  }),
  create({ 'topic.format': topicFormat, 'timestamp.format': timestampFormat }) {
    const pattern = parseDatePattern(timestampFormat)
    return (record) => {
      const { topic, timestampMs } = record
      if (timestampMs === null) throw new DataError(`Timestamp missing on record: ConnectRecord{topic='${topic}'}`)
      const named = topicFormat.replaceAll('${topic}', () => topic)
      return { ...record, topic: named.replaceAll('${timestamp}', () => pattern.format(timestampMs)) }
    }
  },
})
