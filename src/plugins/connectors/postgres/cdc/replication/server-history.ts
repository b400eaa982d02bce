import { Session, type SessionOptions } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import { parseLsn } from './lsn.ts'

/** In one history of a server, a transaction id at a position of the log means one transaction. */
export type ServerHistory = {
  /** The identifier of the system, and the timeline, which is another one after a failover or a restore. */
  readonly history: string
  /** The log before this position is on disk. */
  readonly flushedLsn: Lsn
  readonly isStandby: boolean
}

export async function readServerHistory(options: SessionOptions, isStandby: boolean): Promise<ServerHistory> {
  const session = await Session.open({ ...options, replication: true }, { attempts: 1, backoffMs: 0 })
  try {
    const [row] = await session.query('identify the server', 'IDENTIFY_SYSTEM')
    const [system, timeline, flushed] = row!
    return { history: `${system}/${timeline}`, flushedLsn: parseLsn(flushed!), isStandby }
  } finally {
    await session.close()
  }
}
