import { z } from 'zod'
import type { ConnectorOffset, OffsetPart } from '../../clients/worker-client.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { WrittenConfig } from '../configuration/written-config.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'

export type CreateRequest = {
  readonly name: string
  readonly config: WrittenConfig
  readonly target?: StoredTargetState
}

const TARGETS: Readonly<Record<string, StoredTargetState>> = {
  RUNNING: 'STARTED',
  PAUSED: 'PAUSED',
  STOPPED: 'STOPPED',
}

// The parsers throw a `WorkerError` that describes the error in the body. Kafka Connect returns status 500 for most of
// them.

/** Maximum number of keys, because validation processes each key several times in the thread that serves requests. */
const KEYS_MAX = 2_000

const writtenConfig = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description:
    'Numbers, as they are written, and booleans are converted to strings. In a PATCH, null removes a key; elsewhere null is rejected.',
} as const

/** The configuration of a connector. */
export const configBody = z
  .unknown()
  .transform((body) => parseConfigBody(body))
  .meta({ id: 'WrittenConfig', ...writtenConfig })

/** The body of a request that creates a connector. */
export const createBody = z
  .unknown()
  .transform(parseCreateBody)
  .meta({
    id: 'NewConnector',
    type: 'object',
    properties: {
      name: { type: 'string' },
      config: writtenConfig,
      initial_state: { enum: ['RUNNING', 'PAUSED', 'STOPPED', null] },
    },
    required: ['name', 'config'],
    additionalProperties: false,
  })

const offsetPart = { type: ['object', 'null'] }

/** The body of a request that changes offsets. */
export const offsetsBody = z
  .unknown()
  .transform(parseOffsetsBody)
  .meta({
    id: 'NewOffsets',
    type: 'object',
    properties: {
      offsets: {
        type: 'array',
        items: { type: 'object', properties: { partition: offsetPart, offset: offsetPart }, required: ['partition'] },
      },
    },
    required: ['offsets'],
    additionalProperties: false,
  })

/** The level of a logger. Other members are ignored, as in Kafka Connect. */
export const levelBody = z
  .unknown()
  .transform(parseLevelBody)
  .meta({
    id: 'Level',
    type: 'object',
    properties: { level: { type: 'string' } },
    required: ['level'],
  })

/** Numbers and booleans are converted to strings. */
export function parseConfigBody(body: unknown, what = 'the request body'): WrittenConfig {
  const entries = Object.entries(parseObject(body, what))
  if (entries.length > KEYS_MAX)
    throw refused(`${what} has ${entries.length} keys: a configuration has at most ${KEYS_MAX}`)
  return Object.fromEntries(entries.map(([key, value]) => [key, parseText(value, `'${key}' of ${what}`)]))
}

function parseCreateBody(body: unknown): CreateRequest {
  const request = parseObject(body, 'the request body')
  refuseUnknown(request, ['name', 'config', 'initial_state'])
  const name = trimAsJava(parseText(request['name'] ?? null, "'name'") ?? '')
  const config = parseConfigBody(request['config'], "'config'")
  const initial = request['initial_state']
  return initial === undefined || initial === null ? { name, config } : { name, config, target: parseTarget(initial) }
}

function parseOffsetsBody(body: unknown): readonly ConnectorOffset[] {
  const request = parseObject(body, 'the request body')
  refuseUnknown(request, ['offsets'])
  const offsets = request['offsets'] ?? []
  if (!Array.isArray(offsets)) throw refused("'offsets' is invalid: expected a JSON array")
  if (offsets.length === 0) throw refused('Partitions / offsets need to be provided for an alter offsets request')
  return offsets.map((entry, index) => parseOffset(entry, `offsets[${index}]`))
}

function parseLevelBody(body: unknown): string {
  const { level } = parseObject(body, 'the request body')
  if (typeof level === 'string') return level
  throw refused(
    level === undefined
      ? "Desired 'level' parameter was not specified in request."
      : "'level' is invalid: expected a string",
  )
}

function parseOffset(entry: unknown, what: string): ConnectorOffset {
  const parsed = parseObject(entry, what)
  refuseUnknown(parsed, ['partition', 'offset'])
  return { partition: parsePart(parsed['partition'], what), offset: parsePart(parsed['offset'], what) }
}

function parsePart(part: unknown, what: string): OffsetPart | null {
  return part === undefined || part === null ? null : parseObject(part, what)
}

function parseTarget(state: unknown): StoredTargetState {
  const target = TARGETS[String(state).toUpperCase()]
  if (target) return target
  throw refused(`'initial_state' is '${state}': expected one of ${Object.keys(TARGETS).join(', ')}`)
}

function parseText(value: unknown, what: string): string | null {
  if (value === null) return null
  // It would be printed in another way than it is written.
  if (typeof value === 'number') throw new Error(`${what} is a number: the endpoint lacks hasWrittenNumbers`)
  if (typeof value === 'object') throw refused(`${what} is invalid: expected a string, a number or a boolean`)
  return String(value)
}

export function parseObject(body: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw refused(
    body === undefined || body === null ? `${what} is missing` : `${what} is invalid: expected a JSON object`,
  )
}

export function refuseUnknown(request: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const unknown = Object.keys(request).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw refused(`unknown field '${unknown}': expected ${known.map((key) => `'${key}'`).join(', ')}`)
}

function refused(message: string): WorkerError {
  return new WorkerError('invalid_request', message)
}
