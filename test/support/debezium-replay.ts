import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonWriter } from '../../src/java-compat/json/connect-json-writer.ts'
import { eventSettings } from '../../src/plugins/connectors/cdc/config/event-keys.ts'
import type { DatabaseChange, SnapshotRow, Table } from '../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { ChangeReader } from '../../src/plugins/connectors/postgres/cdc/changes/change-reader.ts'
import { toTable } from '../../src/plugins/connectors/postgres/cdc/changes/relations.ts'
import { cdcConfig } from '../../src/plugins/connectors/postgres/cdc/config/cdc-config.ts'
import { valueSettings } from '../../src/plugins/connectors/postgres/cdc/config/value-keys.ts'
import { PostgresEventWriter } from '../../src/plugins/connectors/postgres/cdc/events/postgres-event-writer.ts'
import { parseLsn } from '../../src/plugins/connectors/postgres/cdc/replication/lsn.ts'
import { decodePgoutput, type Relation } from '../../src/plugins/connectors/postgres/cdc/replication/pgoutput.ts'
import { ColumnTypes } from '../../src/plugins/connectors/postgres/cdc/values/column-types.ts'
import { TypeCatalog } from '../../src/plugins/connectors/postgres/cdc/values/type-catalog.ts'
import { schemaToText } from '../../src/plugins/converters/json/schema-text.ts'
import { parseConfig, type Schema, type SourceRecord } from '../../src/sdk/index.ts'
import type { RecordedEvent, RecordedPart, RecordedTable, Recording } from './debezium-recording.ts'

const FILES = join(import.meta.dirname, '../golden/debezium-postgres')

/** An event as an object, whose numbers are texts, because some are beyond the precision of numbers. */
export type ParsedEvent = {
  readonly topic: string
  readonly keySchema: unknown
  readonly key: unknown
  readonly valueSchema: unknown
  readonly value: Readonly<Record<string, unknown>> | null
  readonly headers: readonly { readonly key: string; readonly schema: unknown; readonly value: unknown }[]
}

export function readRecording(name: string): Recording {
  const file = JSON.parse(readFileSync(join(FILES, `${name}.golden.json`), 'utf8')) as Recording<number>
  const withSchema = (part: RecordedPart<number>) => part && { ...part, schema: file.schemas[part.schema]! }
  const events = file.events.map((event) => ({
    ...event,
    key: withSchema(event.key),
    value: withSchema(event.value),
    headers: event.headers.map(({ key, value }) => ({ key, value: withSchema(value) })),
  }))
  return { ...file, events }
}

/** What Debezium wrote. */
export function recordedEvents({ events }: Recording): readonly ParsedEvent[] {
  return events.map(parseEvent)
}

/** What `PostgresEventWriter` makes of the same rows and messages. */
export async function replayedEvents(recording: Recording): Promise<readonly ParsedEvent[]> {
  const config = parseConfig(cdcConfig, {
    'database.hostname': 'localhost',
    'database.user': 'u',
    'database.dbname': 'd',
    'topic.prefix': 'p',
    ...recording.config,
  })
  const types = JSON.parse(readFileSync(join(FILES, 'catalog.golden.json'), 'utf8')) as (string | null)[][]
  const writer = new PostgresEventWriter({
    settings: eventSettings(config),
    types: new ColumnTypes(new TypeCatalog([...types, ...recording.types]), valueSettings(config)),
    version: recording.versions['debezium']!,
    database: recording.database,
    taskId: '0',
    runId: JSON.parse(headerOf(recording, '__debezium.context.runId') ?? '""') as string,
    nowUs: () => 0n,
    lastCommitLsn: undefined,
    lastCommitUs: 0n,
  })
  const changes = [...snapshotRows(recording), ...(await streamChanges(recording))]
  const offset = { sourcePartition: {}, sourceOffset: {} }
  return changes.flatMap((change) => writer.write(change, offset)).map((record) => parseEvent(toRecorded(record)))
}

function headerOf({ events }: Recording, key: string): string | undefined {
  return events.flatMap(({ headers }) => headers).find((header) => header.key === key)?.value?.payload
}

type SnapshotSource = {
  readonly snapshot: SnapshotRow['marker']
  readonly lsn: number
  readonly txId: number
  readonly ts_us: number
}

/** The rows of the tables in the order of their events, with what only Debezium's run can know: time, LSN and transaction. */
function snapshotRows({ tables, events }: Recording): readonly SnapshotRow[] {
  const sources = events
    .map(({ value }) => JSON.parse(value?.payload ?? '{}') as { readonly op?: string; readonly source: SnapshotSource })
    .filter(({ op }) => op === 'r')
    .map(({ source }) => source)
  const rows = tables.flatMap((table) => table.rows.map((row) => ({ table: toCatalogTable(table), row })))
  return rows.map((row, at): SnapshotRow => {
    const { snapshot, lsn, txId, ts_us } = sources[at]!
    return {
      kind: 'snapshot',
      ...row,
      marker: snapshot,
      lsn: BigInt(lsn),
      transactionId: txId,
      readAtUs: BigInt(ts_us),
    }
  })
}

const tables = new WeakMap<RecordedTable, Table>()

function toCatalogTable(recorded: RecordedTable): Table {
  const known = tables.get(recorded)
  if (known !== undefined) return known
  const { id, schema, name, columns } = recorded
  const keys = columns
    .filter(({ keyPosition }) => keyPosition !== null)
    .toSorted((a, b) => a.keyPosition! - b.keyPosition!)
    .map((column) => column.name)
  const table: Table = {
    id,
    schema,
    name,
    replicaIdentity: 'default',
    keyNames: keys,
    columns: columns.map(({ defaultExpression, keyPosition, ...column }) => ({
      ...column,
      isKey: keyPosition !== null,
      defaultExpression: defaultExpression ?? undefined,
    })),
  }
  tables.set(recorded, table)
  return table
}

async function streamChanges({ messages, tables: described }: Recording): Promise<readonly DatabaseChange[]> {
  const known = new Map<number, Table>()
  const relations = {
    get: (id: number) => known.get(id)!,
    async update(relation: Relation) {
      const found = described.find(({ id }) => id === relation.id)
      known.set(relation.id, toTable(relation, found && { table: toCatalogTable(found), attributes: [] }))
    },
  }
  const batch = messages.map(({ hex, lsn }) => decodePgoutput(Buffer.from(hex, 'hex'), parseLsn(lsn)))
  const reader = new ChangeReader({ relations, delivered: undefined })
  const changes: DatabaseChange[] = []
  for await (const read of reader.read(batches([batch]))) changes.push(...read.changes)
  return changes
}

async function* batches<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

function toRecorded(record: SourceRecord): RecordedEvent {
  return {
    topic: record.topic,
    key: partOf(record.keySchema, record.key),
    value: partOf(record.valueSchema, record.value),
    headers: (record.headers ?? []).map(({ key, schema, value }) => ({ key, value: partOf(schema, value) })),
    sourcePartition: {},
    sourceOffset: {},
  }
}

function partOf(schema: Schema | null | undefined, value: unknown): RecordedPart {
  if (schema === null || schema === undefined) return null
  const write = jsonWriter(schema, { decimals: 'BASE64', nullsToDefaults: false })
  return { schema: schemaToText(schema), payload: value === null ? 'null' : write(value) }
}

function parseEvent({ topic, key, value, headers }: RecordedEvent): ParsedEvent {
  return {
    topic,
    keySchema: parsedSchema(key?.schema),
    key: parseExact(key?.payload),
    valueSchema: parsedSchema(value?.schema),
    value: withoutTimes(parseExact(value?.payload) as ParsedEvent['value']),
    headers: headers.map((header) => ({
      key: header.key,
      schema: parsedSchema(header.value?.schema),
      value: parseExact(header.value?.payload),
    })),
  }
}

/** The times of processing differ with each run. */
function withoutTimes(value: ParsedEvent['value']): ParsedEvent['value'] {
  if (value === null || value['op'] === undefined) return value
  const { ts_ms, ts_us, ts_ns, ...others } = value
  return others
}

/** Parsed once, because most events of a table have the same. */
const schemas = new Map<string, unknown>()

function parsedSchema(text: string | undefined): unknown {
  if (text === undefined) return null
  const parsed = schemas.get(text) ?? parseExact(text)
  schemas.set(text, parsed)
  return parsed
}

function parseExact(text: string | undefined): unknown {
  if (text === undefined) return null
  return JSON.parse(text, (_name, value, context?: { readonly source: string }) =>
    typeof value === 'number' ? context!.source : value,
  )
}
