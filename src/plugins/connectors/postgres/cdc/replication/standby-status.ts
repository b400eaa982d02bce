import type { Lsn } from '../changes/change.ts'

// https://www.postgresql.org/docs/current/protocol-replication.html

/** 2000-01-01, the epoch of PostgreSQL, in ms since 1970. */
const EPOCH_MS = 946_684_800_000
const STATUS_BYTES = 34

export type StandbyPosition = { readonly received: Lsn; readonly acknowledged: Lsn }

/** The status of a standby server: what was received, and up to where the server may delete its log. */
export function standbyStatus(
  { received, acknowledged }: StandbyPosition,
  nowMs: number,
  isAnswerRequested: boolean,
): Buffer {
  const body = Buffer.alloc(STATUS_BYTES)
  body.write('r')
  body.writeBigUInt64BE(received > acknowledged ? received : acknowledged, 1)
  body.writeBigUInt64BE(acknowledged, 9)
  body.writeBigUInt64BE(acknowledged, 17)
  body.writeBigInt64BE(BigInt(Math.round(nowMs - EPOCH_MS)) * 1000n, 25)
  body.writeUInt8(isAnswerRequested ? 1 : 0, 33)
  return body
}
