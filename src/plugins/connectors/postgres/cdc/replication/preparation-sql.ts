import { quoted, quotedTable } from '../../../jdbc/identifier.ts'
import type { ReplicaIdentityRule } from '../config/replica-identities.ts'
import type { CapturedTable } from './captured-tables.ts'
import { type PublicationConfig, publicationSql } from './publication.ts'
import type { ServerState } from './server-state.ts'

export type PreparationConfig = PublicationConfig & {
  readonly 'replica.identity.autoset.values': readonly ReplicaIdentityRule[]
}

/** The statements that a start executes: they set replica identities, and create or change the publication. */
export function preparationSql(
  { tables, publication }: Pick<ServerState, 'tables' | 'publication'>,
  config: PreparationConfig,
): readonly string[] {
  const identities = tablesWithOtherIdentity(tables, config['replica.identity.autoset.values'])
  return [...identities.map(identitySql), ...publicationSql(config, publication, tables)]
}

/** The tables whose replica identity differs from the first rule that matches, with this rule. */
export function tablesWithOtherIdentity(
  tables: readonly CapturedTable[],
  rules: readonly ReplicaIdentityRule[],
): readonly (readonly [table: CapturedTable, rule: ReplicaIdentityRule])[] {
  return tables.flatMap((table) => {
    const rule = rules.find(({ tables: pattern }) => pattern.test(`${table.schema}.${table.name}`))
    return rule === undefined || hasIdentity(table, rule) ? [] : [[table, rule] as const]
  })
}

function hasIdentity(table: CapturedTable, { identity }: ReplicaIdentityRule): boolean {
  if (identity.kind === 'index') return table.identityIndex === identity.index
  return identity.kind[0] === table.replicaIdentity
}

function identitySql([table, { identity }]: readonly [CapturedTable, ReplicaIdentityRule]): string {
  const value = identity.kind === 'index' ? `USING INDEX ${quoted(identity.index)}` : identity.kind.toUpperCase()
  return `ALTER TABLE ${quotedTable(table)} REPLICA IDENTITY ${value}`
}
