// Numbers of the events of the binary log. Those from 160 on are MariaDB's.

export const EVENT = {
  query: 2,
  stop: 3,
  rotate: 4,
  formatDescription: 15,
  xid: 16,
  executeLoadQuery: 18,
  tableMap: 19,
  writeRowsV1: 23,
  updateRowsV1: 24,
  deleteRowsV1: 25,
  incident: 26,
  heartbeat: 27,
  rowsQuery: 29,
  writeRowsV2: 30,
  updateRowsV2: 31,
  deleteRowsV2: 32,
  gtid: 33,
  xaPrepare: 38,
  partialUpdateRows: 39,
  transactionPayload: 40,
  heartbeatV2: 41,
  gtidTagged: 42,
  annotateRows: 160,
  mariadbGtid: 162,
  queryCompressed: 165,
  writeRowsCompressedV1: 166,
  updateRowsCompressedV1: 167,
  deleteRowsCompressedV1: 168,
  writeRowsCompressed: 169,
  updateRowsCompressed: 170,
  deleteRowsCompressed: 171,
} as const

/**
 * Events without changes: of files (stop, format, the GTIDs before, checkpoints, the start of encryption), values that precede a
 * statement, blocks of a file to load, transactions without a GTID, and those of a group of servers.
 */
export const EVENTS_WITHOUT_CHANGES: ReadonlySet<number> = new Set([
  ...[EVENT.stop, EVENT.formatDescription, 5, 9, 13, 14, 17, 28, 34, 35, 36, 37, 161, 163, 164],
])

/** Set for an event that a reader may ignore if it does not know it. */
export const IGNORABLE_FLAG = 0x80

export type RowOperation = 'c' | 'u' | 'd'

/** The forms of events with rows. */
type RowEventForm = { readonly op: RowOperation; readonly hasExtraData: boolean; readonly isCompressed: boolean }

const form = (op: RowOperation, hasExtraData: boolean, isCompressed: boolean): RowEventForm => ({
  op,
  hasExtraData,
  isCompressed,
})

export const ROW_EVENTS: Readonly<Record<number, RowEventForm>> = {
  [EVENT.writeRowsV1]: form('c', false, false),
  [EVENT.updateRowsV1]: form('u', false, false),
  [EVENT.deleteRowsV1]: form('d', false, false),
  [EVENT.writeRowsV2]: form('c', true, false),
  [EVENT.updateRowsV2]: form('u', true, false),
  [EVENT.deleteRowsV2]: form('d', true, false),
  [EVENT.writeRowsCompressedV1]: form('c', false, true),
  [EVENT.updateRowsCompressedV1]: form('u', false, true),
  [EVENT.deleteRowsCompressedV1]: form('d', false, true),
  [EVENT.writeRowsCompressed]: form('c', true, true),
  [EVENT.updateRowsCompressed]: form('u', true, true),
  [EVENT.deleteRowsCompressed]: form('d', true, true),
}
