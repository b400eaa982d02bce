import { randomUUID } from 'node:crypto'
import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import { defineSource, RetriableError, type SourceContext, type SourceRecord } from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { DatabaseError } from '../database-error.ts'
import { Session, type SessionOptions } from '../session.ts'
import { streamChanges } from './change-stream.ts'
import { type CdcConfig, cdcConfig } from './config/cdc-config.ts'
import { connectionUrlOf, initialStatements } from './config/database-keys.ts'
import { eventSettings } from './config/event-keys.ts'
import { valueSettings } from './config/value-keys.ts'
import { CDC_DOCUMENTATION } from './documentation.ts'
import { EventWriter } from './events/event-writer.ts'
import { cdcPartition, parseCdcOffset } from './offset.ts'
import { prepareStart } from './replication/prepare-start.ts'
import { createSlot, dropSlot } from './replication/slot.ts'
import { ColumnTypes } from './values/column-types.ts'

type Context = SourceContext<CdcConfig>

/** Writes the changes of PostgreSQL tables to topics, with the configuration keys, events and offsets of Debezium. */
export const postgresCdcSource = defineSource({
  class: 'PostgresCdcSource',
  aliases: ['io.debezium.connector.postgresql.PostgresConnector', 'PostgresConnector'],
  version: SHIPPED_VERSION,
  summary: 'Writes the changes of the rows of PostgreSQL tables to topics, as Debezium does.',
  notes: CDC_DOCUMENTATION,
  config: cdcConfig,
  async *poll(context) {
    try {
      yield* capture(context)
    } catch (error) {
      if (context.signal.aborted) return
      if (!(error instanceof DatabaseError) || !error.isTransient) throw error
      throw new RetriableError(error.message, { cause: error })
    } finally {
      if (context.signal.aborted && context.config['slot.drop.on.stop']) await dropOwnSlot(context)
    }
  },
  alterOffsets(config, offsets) {
    for (const { partition, offset } of offsets) {
      const expected = cdcPartition(config['topic.prefix'])
      if (Object.keys(partition).length !== 1 || partition['server'] !== expected['server']) {
        throw new Error(`the partition of an offset must be ${plainJson(expected)}, not ${plainJson(partition)}`)
      }
      if (offset !== null && parseCdcOffset(offset).delivered === undefined) {
        throw new Error(
          `an offset must have lsn_commit, the position in the log of the server, not ${plainJson(offset)}; null removes the offset`,
        )
      }
    }
  },
})

async function* capture(context: Context): AsyncGenerator<readonly SourceRecord[]> {
  const { config, log } = context
  const sessionOptions = sessionOptionsOf(context)
  await using session = await openSession(sessionOptions, config)
  const partition = cdcPartition(config['topic.prefix'])
  const raw = context.resumeFrom(partition)
  const stored = raw === undefined ? undefined : parseCdcOffset(raw)
  const { state, filter, position } = await prepareStart(session, config, stored, log)
  const continued = position.kind === 'slot' && position.continues ? stored : undefined
  const startLsn = position.kind === 'slot' ? position.startLsn : await createOwnSlot(sessionOptions, config)
  const types = await ColumnTypes.open(session, valueSettings(config))
  const writer = new EventWriter({
    settings: eventSettings(config),
    types,
    version: SHIPPED_VERSION,
    database: state.database,
    taskId: String(context.task),
    runId: randomUUID(),
    nowUs: () => BigInt(Date.now()) * 1000n,
    lastCommitLsn: continued?.lastCommitLsn,
  })
  yield* streamChanges({
    context,
    partition,
    session,
    sessionOptions,
    serverVersion: state.version,
    startLsn,
    stored: continued,
    filter,
    writer,
    onTable: (table) => types.load(session, new Set(table.columns.map(({ typeId }) => typeId))),
  })
}

function sessionOptionsOf({ connector, config, log, signal, files, network }: Context): SessionOptions {
  return {
    url: connectionUrlOf(config),
    user: config['database.user'],
    password: config['database.password'],
    applicationName: `weir ${connector}`,
    log,
    access: { files, network },
    signal,
  }
}

async function openSession(options: SessionOptions, config: CdcConfig): Promise<Session> {
  const session = await Session.open(options, { attempts: 1, backoffMs: 0 })
  for (const sql of initialStatements(config['database.initial.statements'])) {
    await session.query('execute database.initial.statements', sql)
  }
  return session
}

/** Returns the position of the first change that the slot will have. */
async function createOwnSlot(options: SessionOptions, config: CdcConfig): Promise<bigint> {
  await using session = await Session.open({ ...options, replication: true }, { attempts: 1, backoffMs: 0 })
  const slot = { name: config['slot.name'], isFailover: config['slot.failover'] }
  return (await createSlot(session, slot)).consistentLsn
}

async function dropOwnSlot(context: Context): Promise<void> {
  const { config, log } = context
  const options = { ...sessionOptionsOf(context), signal: AbortSignal.timeout(DROP_TIMEOUT_MS) }
  try {
    await using session = await openSession(options, config)
    await dropSlot(session, config['slot.name'])
  } catch (error) {
    log.warn({ err: error }, `the replication slot ${config['slot.name']} could not be dropped; drop it by hand`)
  }
}

const DROP_TIMEOUT_MS = 10_000
