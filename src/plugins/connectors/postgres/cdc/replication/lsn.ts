import type { Lsn } from '../changes/change.ts'

/** SQL expression for the end of the log; on a standby, the end of the log that the standby has replayed. */
export const CURRENT_LSN_SQL =
  'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END'

/** Parses PostgreSQL's text form of a position in the log: `16/B374D848`. Throws an `Error` if the text has another form. */
export function parseLsn(text: string): Lsn {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? []
  if (high === undefined || low === undefined) {
    throw new Error(`'${text}' is not a position in the log of a server: expected a form such as 16/B374D848`)
  }
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** Returns the text form, as PostgreSQL's functions show and accept it. */
export function printLsn(lsn: Lsn): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xff_ff_ff_ffn).toString(16)}`.toUpperCase()
}
