import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { ConnectorDeadLetters, DeadLetterQuery, ReplayRequest } from '../dead-letters/connector-dead-letters.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PayloadEdit } from '../plugin-host.ts'
import { parseObject, refuseUnknown } from './request-bodies.ts'

const PATH = '/ui/api/connectors/:name/dead-letters'
const RECORDS_DEFAULT = 25
const RECORDS_MAX = 100
const FORMS: readonly string[] = ['json', 'text', 'hex'] satisfies readonly PayloadEdit['form'][]

const deadLetterQuery = z.unknown().transform((value) => parseQuery(value as Readonly<Record<string, unknown>>))
const positionInPath = z.object({
  name: z.string(),
  partition: z.string().transform((value) => parseNumber(value, 'the partition')),
  offset: z.string().transform((value) => parseNumber(value, 'the offset')),
})
const replayBody = z.unknown().transform(parseReplay)

/** The routes of the console for the dead letters of a connector. */
export function deadLetterRoutes(app: FastifyInstance, deadLetters: ConnectorDeadLetters): void {
  // Records may contain more than anybody who reads a configuration may see, and who may write a connector can make it read
  // and write records anyway.
  const permission = { operation: 'write', on: 'connector' } as const
  const response = { 200: z.unknown() }

  addEndpoint(app, {
    method: 'GET',
    url: PATH,
    permission,
    querystring: deadLetterQuery,
    response,
    handler: async ({ params, query }, reply) =>
      reply.header('cache-control', 'no-store').send(await deadLetters.page(params.name, query)),
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${PATH}/:partition/:offset`,
    permission,
    params: positionInPath,
    response,
    handler: async ({ params: { name, ...position } }, reply) =>
      reply.header('cache-control', 'no-store').send(await deadLetters.record(name, position)),
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${PATH}/replay`,
    permission,
    body: replayBody,
    response,
    handler: async ({ params, body }) => deadLetters.replay(params.name, body),
  })
}

function parseQuery(query: Readonly<Record<string, unknown>>): DeadLetterQuery {
  const { partition, before, limit, error } = query
  if (before !== undefined && partition === undefined) throw refused("'before' is an offset: it needs 'partition'")
  return {
    limit: limit === undefined ? RECORDS_DEFAULT : parseNumber(limit, "'limit'", 1, RECORDS_MAX),
    ...(partition === undefined ? {} : { partition: parseNumber(partition, "'partition'") }),
    ...(before === undefined ? {} : { before: parseNumber(before, "'before'") }),
    ...(typeof error === 'string' && error !== '' ? { exceptionClass: error } : {}),
  }
}

function parseReplay(body: unknown): ReplayRequest {
  const request = parseObject(body, 'the request body')
  refuseUnknown(request, ['records', 'topic', 'dryRun'])
  const { records, topic, dryRun = false } = request
  if (!Array.isArray(records) || records.length === 0 || records.length > RECORDS_MAX)
    throw refused(`'records' is invalid: expected an array of 1 to ${RECORDS_MAX} records`)
  if (topic !== undefined && typeof topic !== 'string') throw refused("'topic' is invalid: expected a string")
  if (typeof dryRun !== 'boolean') throw refused("'dryRun' is invalid: expected true or false")
  const parsed = records.map((record, at) => parseRecord(record, `records[${at}]`))
  if (new Set(parsed.map(({ partition, offset }) => `${partition}/${offset}`)).size < parsed.length)
    throw refused("'records' contains a record twice")
  return { records: parsed, isDryRun: dryRun, ...(topic === undefined ? {} : { topic }) }
}

function parseRecord(record: unknown, what: string): ReplayRequest['records'][number] {
  const parsed = parseObject(record, what)
  refuseUnknown(parsed, ['partition', 'offset', 'key', 'value'])
  const { partition, offset, key, value } = parsed
  return {
    partition: parseNumber(partition, `'partition' of ${what}`),
    offset: parseNumber(offset, `'offset' of ${what}`),
    ...(key === undefined ? {} : { key: parseEdit(key, `'key' of ${what}`) }),
    ...(value === undefined ? {} : { value: parseEdit(value, `'value' of ${what}`) }),
  }
}

function parseEdit(edit: unknown, what: string): PayloadEdit {
  const { form, text } = parseObject(edit, what)
  if (!FORMS.includes(String(form)) || typeof text !== 'string')
    throw refused(`${what} is invalid: expected 'form' (${FORMS.join(', ')}) and 'text'`)
  return { form: form as PayloadEdit['form'], text }
}

function parseNumber(value: unknown, what: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= min && (number as number) <= max) return number as number
  throw refused(`${what} is invalid: expected a whole number from ${min}${max < 1e9 ? ` to ${max}` : ''}`)
}

function refused(message: string): WorkerError {
  return new WorkerError('invalid_request', message)
}
