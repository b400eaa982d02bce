import { field } from '../../../../../sdk/index.ts'
import { parseNamePattern } from '../../../cdc/config/name-patterns.ts'
import { SNAPSHOT_MODES } from '../../../cdc/snapshot/snapshot-mode.ts'
import { ISOLATION_MODES } from '../snapshot/snapshot-transactions.ts'

const group = 'Snapshot'

const configurationBased = (doc: string) =>
  field.boolean({ doc: `With \`snapshot.mode=configuration_based\`: ${doc}`, importance: 'LOW', group }).default(false)

/** Keys of the snapshot, as those of Debezium. */
export const snapshotKeys = {
  'snapshot.mode': field
    .oneOf(SNAPSHOT_MODES, {
      doc:
        'When existing rows are read: `initial` once, before the first changes; `initial_only` once, without changes after it; ' +
        '`always` at every start; `no_data` (or `never`) not at all; `when_needed` also when the slot has lost the stored position; ' +
        '`configuration_based` as `snapshot.mode.configuration.based.*` say.',
      importance: 'HIGH',
      group,
    })
    .default('initial'),
  'snapshot.mode.configuration.based.snapshot.data': configurationBased(
    'whether to read existing rows, at each start.',
  ),
  'snapshot.mode.configuration.based.snapshot.schema': configurationBased(
    'accepted for compatibility; schemas need no snapshot.',
  ),
  'snapshot.mode.configuration.based.start.stream': configurationBased('whether to continue with changes.'),
  'snapshot.mode.configuration.based.snapshot.on.schema.error': configurationBased(
    'accepted for compatibility; schemas need no snapshot.',
  ),
  'snapshot.mode.configuration.based.snapshot.on.data.error': configurationBased(
    'whether to read existing rows when the slot has lost the stored position.',
  ),
  'snapshot.include.collection.list': patterns('snapshot.include.collection.list', {
    doc:
      'Tables whose existing rows are read, as SCHEMA.TABLE. Default: all captured tables. Regular expressions that match the ' +
      'whole name, separated by commas; upper and lower case are the same.',
    importance: 'MEDIUM',
    group,
  }),
  'snapshot.select.statement.overrides': field
    .list({
      doc:
        'Tables, as SCHEMA.TABLE, whose existing rows are those of a SELECT statement: that of the key ' +
        '`snapshot.select.statement.overrides.SCHEMA.TABLE`.',
      importance: 'MEDIUM',
      group,
    })
    .default([]),
  'snapshot.max.threads': field
    .int({
      doc: 'Sessions that read existing rows at the same time. Large tables are divided between them.',
      importance: 'MEDIUM',
      min: 1,
      max: 64,
      group,
    })
    .default(1),
  'snapshot.tables.order.by.row.count': field
    .oneOf(['disabled', 'ascending', 'descending'], {
      doc: 'Whether tables are read in the order of their estimated number of rows.',
      importance: 'LOW',
      group,
    })
    .default('disabled'),
  'snapshot.fetch.size': field
    .int({
      doc: 'Maximum number of rows of a batch of existing rows. The bytes that wait in memory have a limit of their own.',
      importance: 'MEDIUM',
      min: 1,
      group,
    })
    .default(10_240),
  'snapshot.delay.ms': field
    .long({ doc: 'Delay before existing rows are read, in ms.', importance: 'LOW', min: 0, group })
    .default(0),
  'streaming.delay.ms': field
    .long({ doc: 'Delay between existing rows and changes, in ms.', importance: 'LOW', min: 0, group })
    .default(0),
  'snapshot.locking.mode': field
    .oneOf(['none', 'shared'], {
      doc:
        'Which tables cannot be altered while existing rows are read: each from the moment in which its reading begins (`none`), or ' +
        'all from the beginning (`shared`). Reading and writing rows is never blocked.',
      importance: 'LOW',
      group,
    })
    .default('none'),
  'snapshot.lock.timeout.ms': field
    .long({
      doc: 'How long to wait for the lock of a table with `snapshot.locking.mode=shared`, in ms.',
      importance: 'LOW',
      min: 0,
      max: 2_147_483_647,
      group,
    })
    .default(10_000),
  'snapshot.isolation.mode': field
    .oneOf(ISOLATION_MODES, {
      doc:
        'Isolation level of a snapshot for which no slot was created; with a new slot it is that of the slot, REPEATABLE READ. With the ' +
        'last two, tables are read at different moments by one session, and changes correct what differs.',
      importance: 'LOW',
      group,
    })
    .default('serializable'),
}

function patterns(key: string, info: field.FieldInfo) {
  return field.parsed(field.list(info), (entries) => entries.map((entry) => parseNamePattern(key, entry))).prefault('')
}
