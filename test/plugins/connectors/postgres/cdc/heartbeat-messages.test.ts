import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DatabaseError } from '../../../../../src/plugins/connectors/jdbc/database-error.ts'
import {
  type HeartbeatMessageOptions,
  HeartbeatMessages,
} from '../../../../../src/plugins/connectors/postgres/cdc/replication/heartbeat-messages.ts'
import type { Session } from '../../../../../src/plugins/connectors/postgres/session.ts'

const MIB = 1024n * 1024n

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Heartbeats each second on a server whose log is at `at` MiB. */
function start(own: Partial<HeartbeatMessageOptions> = {}) {
  const server = { at: 0n, failure: undefined as Error | undefined }
  const written: string[] = []
  const logged: object[] = []
  const query = async (_: string, sql: string) => {
    if (server.failure !== undefined) throw server.failure
    written.push(sql)
    return []
  }
  const note = () => undefined
  const heartbeats = new HeartbeatMessages({
    session: { query } as unknown as Session,
    intervalMs: 1_000,
    serverVersion: 170_000,
    isStandby: false,
    startLsn: 0n,
    serverLsn: () => server.at * MIB,
    log: { debug: note, info: (fields: object) => void logged.push(fields), warn: note, error: note },
    ...own,
  })
  return { server, written, logged, heartbeats, pass: () => vi.advanceTimersByTimeAsync(1_000) }
}

describe('heartbeat messages', () => {
  it('are written when the log has grown without changes, and not again before it grows', async () => {
    const { server, written, pass } = start()
    await pass()
    expect(written).toEqual([])
    server.at = 1n
    await pass()
    expect(written).toEqual(["SELECT pg_logical_emit_message(false, $1, ''::text, true)"])
    await pass()
    expect(written).toHaveLength(1)
    server.at = 2n
    await pass()
    expect(written).toHaveLength(2)
  })

  it('are not written while there are changes, whose positions are stored', async () => {
    const { server, written, heartbeats, pass } = start()
    server.at = 5n
    heartbeats.onChanges()
    await pass()
    await pass()
    expect(written).toEqual([])
    server.at = 6n
    await pass()
    expect(written).toHaveLength(1)
  })

  it('are not flushed before version 17, which cannot', async () => {
    const { server, written, pass } = start({ serverVersion: 160_000 })
    server.at = 1n
    await pass()
    expect(written).toEqual(["SELECT pg_logical_emit_message(false, $1, ''::text)"])
  })

  it('continue after an error that passes, and end with one log line after another one', async () => {
    const { server, written, logged, pass } = start()
    server.failure = new DatabaseError('no server', { isTransient: true })
    server.at = 1n
    await pass()
    expect(logged).toEqual([])
    server.failure = new DatabaseError('permission denied', { isTransient: false })
    for (server.at = 2n; server.at < 5n; server.at += 1n) await pass()
    expect(logged).toEqual([{ reason: 'permission denied' }])
    expect(written).toEqual([])
  })

  it.each([
    [{ isStandby: true }, 1],
    [{ serverVersion: 130_000 }, 1],
    [{ intervalMs: 0 }, 0],
  ])('are not written with %j', async (own, lines) => {
    const { server, written, logged, pass } = start(own)
    server.at = 9n
    await pass()
    expect(written).toEqual([])
    expect(logged).toHaveLength(lines)
  })

  it('end with the stream', async () => {
    const { server, written, heartbeats, pass } = start()
    heartbeats[Symbol.dispose]()
    server.at = 9n
    await pass()
    expect(written).toEqual([])
  })
})
