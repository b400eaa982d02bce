import type { OtherKeys } from '../../../../../sdk/index.ts'

/** Keys of Debezium 3.4 that `cdcConfig` does not define: with variable names, of Java code, and without effect (documented). */
const KNOWN = [
  'column\\.mask\\.with\\.\\d+\\.chars',
  'column\\.mask\\.hash\\..+\\.with\\.salt\\..+',
  'column\\.truncate\\.to\\.\\d+\\.chars',
  'snapshot\\.select\\.statement\\.overrides\\..+',
  'converters|post\\.processors|database\\.sslfactory|sourceinfo\\.struct\\.maker|transaction\\.metadata\\.factory|snapshot\\.query\\.mode',
  'max\\.queue\\.size(\\.in\\.bytes)?|poll\\.interval\\.ms|query\\.fetch\\.size',
  'database\\.tcpKeepAlive|executor\\.shutdown\\.timeout\\.ms|slot\\.max\\.retries|slot\\.retry\\.delay\\.ms',
  'lsn\\.flush\\.timeout\\.(ms|action)|event\\.processing\\.failure\\.handling\\.mode|schema\\.refresh\\.mode|table\\.ignore\\.builtin',
  'guardrail\\.collections\\.(max|limit\\.action)|custom\\.metric\\.tags|custom\\.sanitize\\.pattern|include\\.schema\\.comments',
  '(notification|openlineage\\.integration|internal|signal\\.consumer)\\..+|snapshot\\..+\\.custom\\.name',
]

/** Keys of Debezium before its version 3.4, by their present names. */
const FORMER: Readonly<Record<string, string>> = {
  'schema.whitelist': 'schema.include.list',
  'schema.blacklist': 'schema.exclude.list',
  'table.whitelist': 'table.include.list',
  'table.blacklist': 'table.exclude.list',
  'column.whitelist': 'column.include.list',
  'column.blacklist': 'column.exclude.list',
  'database.server.name': 'topic.prefix',
  'slot.drop_on_stop': 'slot.drop.on.stop',
  'toasted.value.placeholder': 'unavailable.value.placeholder',
  'truncate.handling.mode': 'skipped.operations',
  'sanitize.field.names': 'field.name.adjustment.mode',
  'heartbeat.topics.prefix': 'topic.heartbeat.prefix',
  'transaction.topic': 'topic.transaction',
  'snapshot.custom.class': 'snapshot.mode.custom.name',
}

export const cdcOtherKeys: OtherKeys = { known: KNOWN, former: FORMER }
