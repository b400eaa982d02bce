import { type ConnectRecord, DataError, defineTransform, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { compileJsonPath, JSON_PATH_NOTES } from '../json-path/json-path.ts'
import { recordTransforms, type Side } from '../key-value-transforms.ts'
import { fieldOf, memberOf, ownMember, requireObject, requireStruct } from '../struct-access.ts'

const PURPOSE = 'topic extraction'
const CONFLUENT = 'io.confluent.connect.transforms.ExtractTopic'
const SKIP = 'skip.missing.or.null'

const skipKey = () =>
  field.boolean({ doc: 'Whether a record without a topic passes unchanged, instead of being an error.' }).default(false)

/** Confluent's ExtractTopic for keys and values. */
export const extractTopic = recordTransforms({
  name: 'ExtractTopic',
  original: CONFLUENT,
  summary: "Replaces the record's topic with a field of the key or value.",
  notes: `The field must be a string.\n${JSON_PATH_NOTES}`,
  config: z
    .object({
      field: field
        .text({ doc: 'Name of the field, or a JSON path. Empty: the whole key or value.', importance: 'MEDIUM' })
        .default(''),
      'field.format': field
        .oneOf(['PLAIN', 'JSON_PATH'], { doc: 'Whether field is a name or a JSON path.' })
        .default('PLAIN'),
      [SKIP]: skipKey(),
    })
    .superRefine(({ field: path, 'field.format': format }, context) => {
      if (format !== 'JSON_PATH') return
      try {
        compileJsonPath(path)
      } catch (error) {
        const message = `Invalid value ${path} for configuration field: ${(error as Error).message}`
        field.addProblem(context, 'field', message)
      }
    }),
  create({ field: name, 'field.format': format, [SKIP]: skips }, side) {
    if (format === 'PLAIN') return topicRouter((record) => plainField(side.read(record), name), skips)
    const select = compileJsonPath(name)
    return topicRouter((record) => {
      const found = select(side.read(record).value ?? null)
      return found.isMissing ? undefined : found.value
    }, skips)
  },
})

/** Confluent's ExtractTopic for headers. */
export const extractTopicFromHeader = defineTransform({
  class: 'ExtractTopicFromHeader',
  aliases: [`${CONFLUENT}$Header`],
  version: SHIPPED_VERSION,
  summary: "Replaces the record's topic with the value of a header.",
  notes: 'The header must be a string. If there are several with this name, the last one is used.',
  config: z.object({
    field: field.text({ doc: 'Name of the header.', importance: 'HIGH', nonEmpty: true }),
    [SKIP]: skipKey(),
  }),
  create({ field: name, [SKIP]: skips }) {
    return topicRouter(({ headers }) => headers.findLast(({ key }) => key === name)?.value, skips)
  },
})

/** Aiven's ExtractTopic, which differs in its keys. */
export const aivenExtractTopic = recordTransforms({
  name: 'AivenExtractTopic',
  original: 'io.aiven.kafka.connect.transforms.ExtractTopic',
  summary: "Replaces the record's topic with a field of the key or value, with the configuration keys of Aiven.",
  notes: 'The field must be a string. A whole key or value must be a string with a schema.',
  config: z.object({
    'field.name': field
      .text({ doc: 'Name of the field. Empty: the whole key or value.', importance: 'HIGH' })
      .default(''),
    [SKIP]: skipKey(),
  }),
  create({ 'field.name': name, [SKIP]: skips }, side) {
    return topicRouter((record) => plainField(side.read(record), name), skips)
  },
})

/** Undefined or null if there is no such field, or no value. */
function plainField({ schema, value }: Side, name: string): unknown {
  if (name === '' || value === null || value === undefined) return value
  if (schema === null) return ownMember(requireObject(value, PURPOSE), name)
  const struct = requireStruct(value, schema, PURPOSE)
  const found = fieldOf(schema, name)
  return found === undefined ? undefined : memberOf(struct, found)
}

function topicRouter(
  topicOf: (record: ConnectRecord) => unknown,
  skips: boolean,
): <R extends ConnectRecord>(record: R) => R {
  return (record) => {
    const topic = topicOf(record)
    if (typeof topic === 'string' && topic !== '') return { ...record, topic }
    if (topic !== undefined && topic !== null && topic !== '') {
      throw new DataError(`the name of a topic must be a string, got a value of type ${typeof topic}`)
    }
    if (skips) return record
    throw new DataError(
      `the field with the name of the topic is missing, null or empty: set ${SKIP}=true to keep the topic`,
    )
  }
}
