import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { RecordStart } from '../../records/offset-ranges.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { TopicDirectory } from '../topics/topic-directory.ts'
import type { TopicRecords } from '../topics/topic-records.ts'

export type TopicRoutes = { readonly directory: TopicDirectory; readonly records: TopicRecords }

const TOPICS = '/ui/api/topics'
const TOPIC = `${TOPICS}/:topic` as const
const SEARCH_LENGTH_MAX = 1_000
const TOPICS_MAX = 500
const RECORDS_MAX = 500
const TEXT = { min: 100, max: 1_048_576, default: 2_000 }
/** Positions of all partitions that a scan reads. */
const POSITIONS_LENGTH_MAX = 8_000
const POSITIONS = /^\d{1,10}:\d{1,16}(?:,\d{1,10}:\d{1,16})*$/

const number = (what: string, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.string().transform((text) => parseNumber(text, what, min, max))
const text = (what: string) =>
  z.string().transform((value) => {
    if (value.length <= SEARCH_LENGTH_MAX) return value
    throw refused(`${what} is invalid: expected at most ${SEARCH_LENGTH_MAX} characters`)
  })

const listQuery = z.object({
  search: text("'search'").default(''),
  internal: z.string().optional(),
  offset: number("'offset'").default(0),
  limit: number("'limit'", 1, TOPICS_MAX).default(100),
})
const scanQuery = z.object({
  from: z.string().default('end'),
  partition: number("'partition'", 0, 2 ** 31 - 1).optional(),
  positions: z.string().optional(),
  limit: number("'limit'", 1, RECORDS_MAX).default(50),
  search: text("'search'").default(''),
  length: number("'length'", TEXT.min, TEXT.max).default(TEXT.default),
})
const position = z.object({
  topic: z.string(),
  partition: number('the partition', 0, 2 ** 31 - 1),
  offset: number('the offset'),
})

/**
 * The topics of the cluster in the console. To see topics and to read their records are two permissions: whoever may see what runs
 * may not read data for that.
 */
export function topicRoutes(app: FastifyInstance, { directory, records }: TopicRoutes): void {
  const describe = { operation: 'describe', on: 'topic' } as const
  const read = { operation: 'read', on: 'topic' } as const
  const response = { 200: z.unknown() }
  const missing = (topic: string) => new WorkerError('topic_not_found', `there is no topic '${topic}'`)

  addEndpoint(app, {
    method: 'GET',
    url: TOPICS,
    permission: { operation: 'describe', on: 'any topic' },
    querystring: listQuery,
    response,
    handler: async ({ query: { internal, ...query }, rights }, reply) => {
      const ofTopics = rights.forKind('topics')
      const withInternal = internal === 'true'
      void reply.header('cache-control', 'no-store')
      return directory.list({ ...query, withInternal }, (topic) => ofTopics.allows('describe', topic))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: TOPIC,
    permission: describe,
    response,
    handler: async ({ params: { topic }, rights }, reply) => {
      const found = await directory.describe(topic, (connector) => rights.allows('read', connector))
      if (found === undefined) throw missing(topic)
      return reply.header('cache-control', 'no-store').send(found)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${TOPIC}/groups`,
    permission: describe,
    response,
    handler: async ({ params: { topic } }, reply) => {
      const found = await directory.groups(topic)
      if (found === undefined) throw missing(topic)
      return reply.header('cache-control', 'no-store').send(found)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${TOPIC}/records`,
    permission: read,
    querystring: scanQuery,
    response,
    handler: async ({ params: { topic }, query }, reply) => {
      const { partition, limit, search, length } = query
      const from = parseStart(query.from)
      const positions = query.positions === undefined ? undefined : parsePositions(query.positions)
      const found = await records.scan({
        scan: {
          topic,
          from,
          limit,
          ...(partition === undefined ? {} : { partition }),
          ...(positions && { positions }),
        },
        textMax: length,
        ...(search === '' ? {} : { search }),
      })
      return sendJson(reply, found)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${TOPIC}/records/:partition/:offset`,
    permission: read,
    params: position,
    response,
    handler: async ({ params: { topic, ...at } }, reply) => sendJson(reply, await records.read(topic, at)),
  })
}

/** The thread that read the records has printed them: a buffer is sent as it is. */
function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json').send(Buffer.from(json))
}

function parseStart(from: string): RecordStart {
  if (from === 'beginning' || from === 'end') return from
  const [, kind, digits = ''] = /^(offset|time):(\d{1,16})$/.exec(from) ?? []
  if (kind === undefined)
    throw refused("'from' is invalid: expected beginning, end, offset:NUMBER or time:MILLISECONDS")
  const value = parseNumber(digits, `'from'`)
  return kind === 'offset' ? { offset: value } : { timeMs: value }
}

function parsePositions(text: string): ReadonlyMap<number, number> {
  if (text.length > POSITIONS_LENGTH_MAX || !POSITIONS.test(text))
    throw refused("'positions' is invalid: expected PARTITION:OFFSET, separated by commas")
  return new Map(
    text.split(',').map((entry) => {
      const [partition = '', offset = ''] = entry.split(':')
      return [Number(partition), parseNumber(offset, "'positions'")] as const
    }),
  )
}

function parseNumber(text: string, what: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw refused(`${what} is invalid: expected a whole number from ${min}${max < 1e9 ? ` to ${max}` : ''}`)
}

function refused(message: string): WorkerError {
  return new WorkerError('invalid_request', message)
}
