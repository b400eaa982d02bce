import { javaClass } from '../../../java-compat/java-class-name.ts'
import { DataError, defineTransform, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { parseDatePattern } from '../date-pattern.ts'
import { type Members, nonEmptyListField, ownMember, requireObject } from '../struct-access.ts'

const PURPOSE = "appending message's timestamp field to topic"
const ISO = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"

function patternField(key: string, doc: string) {
  return field.parsed(field.text({ doc, importance: 'HIGH' }), (pattern) => {
    try {
      return parseDatePattern(pattern)
    } catch (error) {
      throw new Error(`Invalid value ${pattern} for configuration ${key}: ${(error as Error).message}`)
    }
  })
}

/** Confluent's MessageTimestampRouter: routes by a timestamp in the value. */
export const messageTimestampRouter = defineTransform({
  class: 'MessageTimestampRouter',
  aliases: ['io.confluent.connect.transforms.MessageTimestampRouter'],
  version: SHIPPED_VERSION,
  summary: "Replaces the record's topic with a name that is formatted from the topic and a timestamp in the value.",
  notes: 'Times are in UTC. The value must be schemaless.',
  config: z.object({
    'topic.format': field
      .text({ doc: 'Name of the topic, with <code>${topic}</code> and <code>${timestamp}</code>.', importance: 'HIGH' })
      .default('${topic}-${timestamp}'),
    'message.timestamp.format': patternField(
      'message.timestamp.format',
      'Format of the timestamp in the value, as in <code>java.text.SimpleDateFormat</code>.',
    ).prefault(ISO),
    'message.timestamp.keys': nonEmptyListField('message.timestamp.keys', {
      doc: 'Fields that may have the timestamp. The first one that a value has is used.',
      importance: 'HIGH',
    }),
    'topic.timestamp.format': patternField(
      'topic.timestamp.format',
      'Format of the timestamp in the name of the topic.',
    ).prefault(ISO),
  }),
  create(settings) {
    const { 'topic.format': topicFormat, 'message.timestamp.format': read, 'topic.timestamp.format': write } = settings
    const keys = settings['message.timestamp.keys']
    const textOf = (members: Members) =>
      keys.map((key) => ownMember(members, key)).find((found) => found !== undefined && found !== null)
    return (record) => {
      if (record.valueSchema !== null) {
        const type = javaClass(record.value, record.valueSchema)
        throw new DataError(`Only Map objects supported in absence of schema for [${PURPOSE}], found: ${type}`)
      }
      const found = textOf(requireObject(record.value, PURPOSE))
      if (found === undefined) throw new DataError(`the value has none of the fields ${keys.join(', ')}`)
      const ms = typeof found === 'string' ? read.parse(found) : undefined
      if (ms === undefined) throw new DataError('the timestamp does not have the format of message.timestamp.format')
      const topic = topicFormat.replaceAll('${topic}', () => record.topic)
      return { ...record, topic: topic.replaceAll('${timestamp}', () => write.format(ms)) }
    }
  },
})
