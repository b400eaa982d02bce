import type { TaskContext } from '../../../../sdk/index.ts'
import { initialStatements } from '../../cdc/config/connection-texts.ts'
import { Session, type SessionOptions } from '../session.ts'
import type { CdcConfig } from './config/cdc-config.ts'
import { connectionUrlOf, DATABASE_KEY_NAMES } from './config/database-keys.ts'

type SessionContext = Pick<TaskContext<CdcConfig>, 'connector' | 'config' | 'log' | 'signal' | 'files' | 'network'>

export function databaseSessionOptions(context: SessionContext): SessionOptions {
  const { connector, config, log, signal, files, network } = context
  return {
    url: connectionUrlOf(config),
    user: config['database.user'],
    password: config['database.password'],
    applicationName: `weir ${connector}`,
    keyNames: DATABASE_KEY_NAMES,
    log,
    access: { files, network },
    signal,
  }
}

/** Opens a session for queries, and executes `database.initial.statements`. */
export async function openDatabaseSession(options: SessionOptions, config: CdcConfig): Promise<Session> {
  const session = await Session.open(options, { attempts: 1, backoffMs: 0 })
  try {
    for (const sql of initialStatements(config['database.initial.statements'])) {
      await session.query('execute database.initial.statements', sql, [], 0)
    }
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}
