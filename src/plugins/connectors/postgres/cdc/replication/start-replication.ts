import { quoted } from '../../../jdbc/identifier.ts'
import type { Lsn } from '../changes/change.ts'
import { printLsn } from './lsn.ts'

export type StartOptions = {
  readonly slot: string
  readonly publication: string
  readonly startLsn: Lsn
  readonly hasLogicalMessages: boolean
  readonly parameters: Readonly<Record<string, string>>
}

/** The command that starts replication. `parameters` override the other options of the output plugin. */
export function startReplicationSql(options: StartOptions): string {
  const { slot, publication, startLsn, hasLogicalMessages, parameters } = options
  const all = {
    proto_version: '1',
    publication_names: quoted(publication),
    ...(hasLogicalMessages && { messages: 'true' }),
    ...parameters,
  }
  const list = Object.entries(all).map(([name, value]) => `${quoted(name)} ${literal(value)}`)
  return `START_REPLICATION SLOT ${quoted(slot)} LOGICAL ${printLsn(startLsn)} (${list.join(', ')})`
}

/** Replication commands know no escapes, except for a doubled quote. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
