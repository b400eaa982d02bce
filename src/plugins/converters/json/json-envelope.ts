import { BoundedMap } from '../../../clients/bounded-map.ts'
import { type Exact, type JsonReader, parseExact, plainValue } from '../../../java-compat/json/connect-json-reader.ts'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, type Schema, type SchemaAndValue } from '../../../sdk/index.ts'
import { schemaFromJson } from './schema-text.ts'

/** A schema and the reader created for it. */
export type Plan = { readonly schema: Schema; readonly read: JsonReader }

export const HEAD = '{"schema":'
export const MIDDLE = ',"payload":'

const HEADS_MAX = 16
const CLOSING_BRACE = 0x7d

/**
 * Reads `{"schema":…,"payload":…}`. Envelopes with the same schema begin with the same bytes, so these bytes are used
 * as a cache key, and only the payload has to be parsed.
 */
export class EnvelopeReader {
  readonly #toPlan: (schema: Schema) => Plan
  readonly #plans: BoundedMap<string, Plan>
  /** The bytes that precede the payload, with their plan; the newest first. */
  #heads: readonly { readonly bytes: Buffer; readonly plan: Plan }[] = []

  constructor(schemasMax: number, toPlan: (schema: Schema) => Plan) {
    this.#toPlan = toPlan
    this.#plans = new BoundedMap(schemasMax)
  }

  /** Throws a `DataError` if the bytes are not such an envelope. */
  read(bytes: Buffer): SchemaAndValue {
    return this.#byHead(bytes) ?? this.#whole(bytes.toString())
  }

  #byHead(bytes: Buffer): SchemaAndValue | undefined {
    const head = this.#heads.find((known) => beginsWith(bytes, known.bytes))
    if (head === undefined || bytes[bytes.length - 1] !== CLOSING_BRACE) return undefined
    const payload = parsedOrNothing(bytes.toString('utf8', head.bytes.length, bytes.length - 1))
    return payload && { schema: head.plan.schema, value: head.plan.read(payload.json) }
  }

  #whole(text: string): SchemaAndValue {
    const envelope = text === '' ? null : parse(text)
    if (!isEnvelope(envelope)) {
      throw new DataError(
        'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. ' +
          'If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration.',
      )
    }
    if (envelope.schema === null) return { schema: null, value: plainValue(envelope.payload) }
    const key = plainJson(envelope.schema)
    const plan = this.#plans.get(key) ?? this.#plans.set(key, this.#toPlan(schemaFromJson(envelope.schema)))
    this.#rememberHead(text, plan)
    return { schema: plan.schema, value: plan.read(envelope.payload) }
  }

  /** Caches the head only if the text between the two member names is exactly the schema. */
  #rememberHead(text: string, plan: Plan): void {
    const middle = text.indexOf(MIDDLE)
    if (!text.startsWith(HEAD) || middle < 0 || !parsedOrNothing(text.slice(HEAD.length, middle))) return
    const bytes = Buffer.from(text.slice(0, middle + MIDDLE.length))
    this.#heads = [{ bytes, plan }, ...this.#heads].slice(0, HEADS_MAX)
  }
}

/** Throws a `DataError` if the text is not JSON. */
export function parse(text: string): Exact {
  try {
    return parseExact(text)
  } catch (error) {
    const reason = (error as Error).message
    throw new DataError(`Converting byte[] to Kafka Connect data failed due to serialization error: ${reason}`, {
      cause: error,
    })
  }
}

function parsedOrNothing(text: string): { readonly json: Exact } | undefined {
  try {
    return { json: parseExact(text) }
  } catch {
    return undefined
  }
}

function beginsWith(bytes: Buffer, head: Buffer): boolean {
  return bytes.length > head.length && bytes.compare(head, 0, head.length, 0, head.length) === 0
}

function isEnvelope(json: Exact): json is { readonly schema: Exact; readonly payload: Exact } {
  if (typeof json !== 'object' || json === null) return false
  return Object.keys(json).length === 2 && 'schema' in json && 'payload' in json
}
