import { jsonConverter } from '../../../src/plugins/converters/json/json-converter.ts'
import {
  type ConnectRecord,
  parseConfig,
  type Schema,
  type SchemaAndValue,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'
import type { Case, CaseRecord } from './case-data.ts'

/** The result of a transform or predicate: the changed members of the record, or the error. */
export type Outcome = { readonly out?: unknown; readonly error?: string | null }

export const catalog = shippedCatalog()

/** Completes the result of Java with the unchanged members of the record. */
export function wholeOutcome(record: CaseRecord, java: Outcome): Outcome {
  if (java.error !== undefined) return { error: java.error }
  return { out: isMembers(java.out) ? { ...record, partition: record.partition ?? null, ...java.out } : java.out }
}

function isMembers(out: unknown): out is object {
  return typeof out === 'object' && out !== null
}

/** Runs Weir's plugin with that name. */
export function outcomeOf({ class: name, config, record }: Case): Outcome {
  try {
    const predicate = catalog.find('predicate', name)
    if (predicate) return { out: predicate.create(parseConfig(predicate.config, config))(readRecord(record)) }
    const transform = catalog.find('transformation', name)!
    const changed = transform.create(parseConfig(transform.config, config))(readRecord(record))
    return { out: changed && { ...write(changed), ...('offset' in record && { offset: record.offset }) } }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

export function readRecord({ key, value, headers, partition, timestampMs = null, ...rest }: CaseRecord): ConnectRecord {
  const [keyed, valued] = [side(key), side(value)]
  return {
    ...rest,
    ...(partition !== null && { partition }),
    timestampMs,
    key: keyed.value,
    keySchema: keyed.schema,
    value: valued.value,
    valueSchema: valued.schema,
    headers: headers.map((header) => ({ key: header.key, ...side(header.value) })),
  }
}

function write({ topic, partition, timestampMs, headers, ...record }: ConnectRecord): object {
  return {
    topic,
    partition: partition ?? null,
    timestampMs,
    key: toNode(record.keySchema, record.key),
    value: toNode(record.valueSchema, record.value),
    headers: headers.map(({ key, schema, value }) => ({ key, value: toNode(schema, value) })),
  }
}

function converter(schemas: boolean) {
  const settings = { 'replace.null.with.default': 'false', 'decimal.format': 'NUMERIC' }
  const config = parseConfig(jsonConverter.config, { ...settings, 'schemas.enable': String(schemas) })
  return jsonConverter.create(config, { ...UNRESTRICTED, isKey: false })
}

const typed = converter(true)
const plain = converter(false)

function side(node: object | null): SchemaAndValue {
  if (node === null) return { schema: null, value: null }
  const [reader, json] = 'plain' in node ? [plain, node.plain] : [typed, node]
  return reader.toConnect('t', Buffer.from(JSON.stringify(json))) as SchemaAndValue
}

function toNode(schema: Schema | null, value: unknown): unknown {
  if (schema === null && (value === null || value === undefined)) return null
  if (schema === null && value instanceof Date) return { date: value.getTime() }
  const json = JSON.parse(String((schema === null ? plain : typed).fromConnect('t', schema, value)))
  return schema === null ? { plain: json } : json
}
