import { field, type OtherKeys, z } from '../../../../../sdk/index.ts'
import { columnMaskProblem } from '../../../cdc/config/column-masks.ts'
import { eventKeys, eventSettings } from '../../../cdc/config/event-keys.ts'
import { javaClassProblem } from '../../../cdc/config/java-class-keys.ts'
import { namingKeys, namingProblem } from '../../../cdc/config/naming-keys.ts'
import { signalKeys } from '../../../cdc/config/signal-keys.ts'
import { TableFilter } from '../../../cdc/config/table-filter.ts'
import type { EventSettings } from '../../../cdc/events/event-settings.ts'
import type { MysqlValueSettings } from '../values/mysql-value-settings.ts'
import { mysqlDatabaseKeys } from './mysql-database-keys.ts'
import {
  historyKeys,
  MYSQL_EXCLUSIVE_KEYS,
  mysqlSnapshotKeys,
  mysqlStreamKeys,
  mysqlTableKeys,
  mysqlValueKeys,
} from './mysql-keys.ts'

const DEFAULT_STRATEGY = 'io.debezium.schema.DefaultTopicNamingStrategy'

/** Keys of Debezium that would change what the connector does, with the values that do not. */
const UNSUPPORTED: Readonly<Record<string, { readonly allowed: readonly string[]; readonly reason: string }>> = {
  'schema.history.internal': {
    allowed: ['io.debezium.storage.kafka.history.KafkaSchemaHistory'],
    reason: 'the schema history is in a topic only',
  },
  'snapshot.max.threads': { allowed: ['1'], reason: 'existing rows are read by one session' },
  'snapshot.isolation.mode': { allowed: ['repeatable_read'], reason: 'existing rows are read at one moment' },
  'gtid.source.includes': { allowed: [], reason: 'transactions of all servers are read' },
  'gtid.source.excludes': { allowed: [], reason: 'transactions of all servers are read' },
  'binlog.buffer.size': { allowed: ['0'], reason: 'transactions are not buffered' },
  'inconsistent.schema.handling.mode': { allowed: ['fail'], reason: 'changes are never skipped' },
  'event.processing.failure.handling.mode': { allowed: ['fail'], reason: 'changes are never skipped' },
  'event.deserialization.failure.handling.mode': { allowed: ['fail'], reason: 'changes are never skipped' },
  'schema.history.internal.skip.unparseable.ddl': {
    allowed: ['false'],
    reason: 'changes of captured tables are never skipped',
  },
  'table.ignore.builtin': { allowed: ['true'], reason: 'tables of the system are never captured' },
}

/** The configuration of `MysqlCdcSource`. Other keys are those with variable names, such as `column.mask.with.5.chars`. */
export const mysqlCdcConfig = z
  .object({
    ...mysqlDatabaseKeys,
    ...mysqlTableKeys,
    ...mysqlValueKeys,
    ...namingKeys,
    'topic.naming.strategy': namingKeys['topic.naming.strategy'].default(DEFAULT_STRATEGY),
    ...eventKeys('DATABASE.TABLE'),
    ...mysqlSnapshotKeys,
    ...signalKeys('DATABASE.TABLE'),
    ...historyKeys,
    ...mysqlStreamKeys,
  })
  .catchall(z.string())
  .superRefine((config, context) => {
    for (const problem of [
      columnMaskProblem(config),
      namingProblem(config),
      javaClassProblem(config, ''),
      ...Object.keys(UNSUPPORTED).map((key) => unsupportedProblem(config, key)),
    ]) {
      if (problem !== undefined) field.addProblem(context, problem.key, problem.message)
    }
    for (const [include, exclude] of MYSQL_EXCLUSIVE_KEYS) {
      if (config[include].length > 0 && config[exclude].length > 0) {
        field.addProblem(context, exclude, `${include} and ${exclude} cannot be combined: remove one of them`)
      }
    }
  })

export type MysqlCdcConfig = z.infer<typeof mysqlCdcConfig>

function unsupportedProblem(config: Readonly<Record<string, unknown>>, key: string) {
  const { allowed, reason } = UNSUPPORTED[key]!
  const value = String(config[key] ?? '').trim()
  if (value === '' || allowed.includes(value)) return undefined
  return {
    key,
    message: `${key}=${value} is not supported: ${reason}. Remove the key, or install the jar of Debezium in plugin.path`,
  }
}

/** Keys of Debezium 3.4 without effect, or with variable names. */
const KNOWN = [
  'snapshot\\.select\\.statement\\.overrides\\..+',
  'column\\.mask\\.with\\.\\d+\\.chars',
  'column\\.mask\\.hash\\..+\\.with\\.salt\\..+',
  'column\\.truncate\\.to\\.\\d+\\.chars',
  'converters|post\\.processors|database\\.sslfactory|sourceinfo\\.struct\\.maker|transaction\\.metadata\\.factory|snapshot\\.query\\.mode',
  'max\\.queue\\.size(\\.in\\.bytes)?|poll\\.interval\\.ms|query\\.fetch\\.size|connect\\.keep\\.alive|use\\.nongraceful\\.disconnect',
  'database\\.(server\\.id\\.offset|protocol|jdbc\\.driver|jdbc\\.protocol|connectionTimeZone)|driver\\..+|executor\\.shutdown\\.timeout\\.ms',
  'min\\.row\\.count\\.to\\.stream\\.results|streaming\\.delay\\.ms|snapshot\\.tables\\.order\\.by\\.row\\.count|gtid\\.source\\.filter\\.dml\\.events',
  'guardrail\\.collections\\.(max|limit\\.action)|custom\\.metric\\.tags|custom\\.sanitize\\.pattern|include\\.schema\\.comments',
  'schema\\.history\\.internal\\..+|(notification|openlineage\\.integration|internal|signal\\.consumer)\\..+',
  'signal\\.kafka\\.groupId|incremental\\.snapshot\\.allow\\.schema\\.changes',
  'connector\\.adapter',
  ...Object.keys(UNSUPPORTED).map((key) => key.replaceAll('.', '\\.')),
]

/** Keys of Debezium before its version 3.4, by their present names. */
const FORMER: Readonly<Record<string, string>> = {
  'database.whitelist': 'database.include.list',
  'database.blacklist': 'database.exclude.list',
  'table.whitelist': 'table.include.list',
  'table.blacklist': 'table.exclude.list',
  'column.whitelist': 'column.include.list',
  'column.blacklist': 'column.exclude.list',
  'database.server.name': 'topic.prefix',
  'database.history.kafka.topic': 'schema.history.internal.kafka.topic',
  'database.history.kafka.bootstrap.servers': 'schema.history.internal.kafka.bootstrap.servers',
  'sanitize.field.names': 'field.name.adjustment.mode',
  'heartbeat.topics.prefix': 'topic.heartbeat.prefix',
  'transaction.topic': 'topic.transaction',
}

export const mysqlOtherKeys: OtherKeys = { known: KNOWN, former: FORMER }

/** Names of topics always contain the database. */
export function mysqlEventSettings(config: MysqlCdcConfig): EventSettings {
  const settings = eventSettings(config)
  return { ...settings, topics: { ...settings.topics, hasSchema: true } }
}

export function mysqlValueSettings(config: MysqlCdcConfig): MysqlValueSettings {
  return {
    decimals: config['decimal.handling.mode'],
    times: config['time.precision.mode'],
    unsignedBigints: config['bigint.unsigned.handling.mode'],
    binary: config['binary.handling.mode'],
    adjustsYears: config['enable.time.adjuster'],
  }
}

const SYSTEM_DATABASES = new Set(['mysql', 'performance_schema', 'sys', 'information_schema'])

export function isSystemDatabase(name: string): boolean {
  return SYSTEM_DATABASES.has(name.toLowerCase())
}

export function captureFilter(config: MysqlCdcConfig): TableFilter {
  return new TableFilter({
    schemas: { include: config['database.include.list'], exclude: config['database.exclude.list'] },
    tables: { include: config['table.include.list'], exclude: config['table.exclude.list'] },
    isSystemSchema: isSystemDatabase,
    signalTable: config['signal.data.collection'],
  })
}
