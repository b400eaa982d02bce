import type { StoredRecord } from '../../../../src/broker/broker.ts'
import type { ExpandedConnector } from '../../../../src/clients/worker-client.ts'
import { parseOffsetRecord } from '../../../../src/worker/stores/offset-state.ts'
import { promise } from '../../world.ts'
import { type ExternalSystem, isAltered } from './external-system.ts'
import { readPartition } from './stored-rows.ts'
import type { WorkerWorld } from './worker-steps.ts'

const TOPIC = 'rows'
const PARTITIONS = [0, 1, 2]

/** What running connectors have not delivered yet. Undefined if they have delivered everything. */
export async function undeliveredRows(
  { system, broker }: WorkerWorld,
  connectors: Readonly<Record<string, ExpandedConnector>>,
): Promise<string | undefined> {
  const isRunning = (name: string) => connectors[name]?.status?.connector.state === 'RUNNING'
  for (const partition of PARTITIONS) {
    const records = await readPartition(broker.backend, TOPIC, partition)
    const last = system.rowCount - 1
    if (isRunning('source') && !isAlteredBeyond(system, partition) && !records.some((record) => rowOf(record) === last))
      return `the source has not delivered row ${last} of partition ${partition}`
    if (!isRunning('sink')) continue
    const left = undelivered(system, partition, records)
    if (left.length > 0) return `the sink has not delivered ${left.length} records of partition ${partition}`
  }
  return undefined
}

/** Whether the source was told to continue behind the last row. */
function isAlteredBeyond({ alterations, rowCount }: ExternalSystem, partition: number): boolean {
  return alterations.some(
    (at) => at.connector === 'source' && at.partition === partition && at.position >= rowCount - 1,
  )
}

/** Records that the sink has not delivered, except those that a user has skipped. */
function undelivered(
  system: ExternalSystem,
  partition: number,
  records: readonly StoredRecord[],
): readonly StoredRecord[] {
  const delivered = new Set(system.delivered('sink', TOPIC, partition))
  const skippedTo = Math.max(
    0,
    ...system.alterations
      .filter((at) => at.connector === 'sink' && at.partition === partition)
      .map(({ position }) => position),
  )
  return records.filter(({ offset }) => offset >= skippedTo && !delivered.has(offset))
}

/** A stored offset is never ahead of what is stored. */
export async function checkOffsets({ broker: { backend }, system }: WorkerWorld): Promise<void> {
  const committed = await backend.groupOffsets({ groupId: 'connect-sink' })
  const stored = (
    await Promise.all(PARTITIONS.map((number) => readPartition(backend, 'connect-offsets', number)))
  ).flat()
  for (const partition of PARTITIONS) {
    const records = await readPartition(backend, TOPIC, partition)
    const end = committed.find((at) => at.topic === TOPIC && at.partition === partition)?.offset ?? 0
    const skipped = undelivered(system, partition, records).find(({ offset }) => offset < end)
    promise(
      skipped === undefined,
      () => `the sink has committed offset ${end} of partition ${partition} without offset ${skipped?.offset}`,
    )
    const rows = new Set(records.map(rowOf))
    for (const { key, value } of stored) {
      const { partition: at, offset } = parseOffsetRecord(key!, value)
      if (at?.['partition'] !== partition || offset === undefined) continue
      const row = Number(offset['row'])
      promise(
        rows.has(row) || isAltered(system, { connector: 'source', partition, position: row }),
        () => `the source has committed row ${row} of partition ${partition}, which is not stored`,
      )
    }
  }
}

/** Checks what the log and the ledger contain. */
export async function checkDeliveries({ broker, system, exactlyOnce }: WorkerWorld): Promise<void> {
  for (const partition of PARTITIONS) {
    const records = await readPartition(broker.backend, TOPIC, partition)
    checkRows(records, { system, exactlyOnce, partition })
    checkLedger(records, system, partition)
  }
}

type RowsOptions = { readonly system: ExternalSystem; readonly exactlyOnce: boolean; readonly partition: number }

/** A row comes after the row before it, which was stored earlier; with exactly-once delivery directly. */
function checkRows(records: readonly StoredRecord[], { system, exactlyOnce, partition }: RowsOptions): void {
  const seen = new Set([-1])
  let last = -1
  for (const record of records) {
    const row = rowOf(record)
    const where = `row ${row} of partition ${partition} at offset ${record.offset}`
    if (!isAltered(system, { connector: 'source', partition, position: row - 1 })) {
      promise(seen.has(row - 1), () => `${where} was stored before the row before it`)
      if (exactlyOnce) promise(row === last + 1, () => `${where} was stored after row ${last}`)
    }
    seen.add(row)
    last = row
  }
}

/** A record is delivered after all records before it, except those that a user has skipped. */
function checkLedger(records: readonly StoredRecord[], system: ExternalSystem, partition: number): void {
  const order = new Map(records.map(({ offset }, at) => [offset, at]))
  const starts = system.alterations
    .filter((at) => at.connector === 'sink' && at.partition === partition)
    .map(({ position }) => records.findIndex(({ offset }) => offset >= position))
  let next = 0
  for (const offset of system.delivered('sink', TOPIC, partition)) {
    const at = order.get(offset)
    const where = `offset ${offset} of partition ${partition}`
    promise(at !== undefined, () => `the sink has delivered ${where}, which is not committed`)
    promise(
      at! <= next || starts.includes(at!),
      () => `the sink has delivered ${where} before ${records[next]?.offset}`,
    )
    next = Math.max(next, at! + 1)
  }
}

function rowOf({ value }: StoredRecord): number {
  return Number(value!.toString())
}
