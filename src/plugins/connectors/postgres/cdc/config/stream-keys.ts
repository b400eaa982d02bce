import { field } from '../../../../../sdk/index.ts'
import { retryKeys } from '../../../cdc/retriable-database-error.ts'
import { parseReplicaIdentities } from './replica-identities.ts'

const replication = 'Replication'
const heartbeat = 'Heartbeat'
const batches = 'Batches'

const AUTOCREATE_MODES = ['all_tables', 'filtered', 'disabled', 'no_tables'] as const
const MISMATCH_STRATEGIES = ['trust_offset', 'trust_slot', 'trust_greater_lsn', 'no_validation'] as const

export type AutocreateMode = (typeof AUTOCREATE_MODES)[number]
export type MismatchStrategy = (typeof MISMATCH_STRATEGIES)[number]

/** Names of slots that PostgreSQL accepts. */
const SLOT_NAME = /^[a-z0-9_]{1,63}$/

/** Keys of slots, publications and the stream, as those of Debezium. */
export const streamKeys = {
  'plugin.name': field
    .text({
      doc: 'Output plugin of the slot: only `pgoutput`, which each server has.',
      importance: 'MEDIUM',
      group: replication,
    })
    .refine(
      (name) => name.toLowerCase() === 'pgoutput',
      'only pgoutput is supported: set plugin.name=pgoutput, and slot.name to a new name, because a slot keeps its plugin',
    )
    .default('pgoutput'),
  'slot.name': field
    .text({
      doc: 'Name of the replication slot. It is created if it does not exist.',
      importance: 'HIGH',
      group: replication,
    })
    .refine(
      (name) => SLOT_NAME.test(name),
      'the name of a slot consists of 1 to 63 lower-case letters, digits and underscores',
    )
    .default('debezium'),
  'slot.drop.on.stop': field
    .boolean({
      doc: 'Whether to drop the slot when the task stops. Changes while it is stopped are then lost: for tests only.',
      importance: 'MEDIUM',
      group: replication,
    })
    .default(false),
  'slot.failover': field
    .boolean({
      doc: 'Whether a new slot is synchronized to standby servers, so that it exists after a failover. Needs PostgreSQL 17.',
      importance: 'MEDIUM',
      group: replication,
    })
    .default(false),
  'slot.stream.params': field
    .parsed(
      field.text({
        doc: 'Further options of the output plugin: `NAME=VALUE`, separated by semicolons, such as `origin=none`.',
        importance: 'LOW',
        group: replication,
      }),
      parseStreamParameters,
    )
    .prefault(''),
  'publication.name': field
    .text({ doc: 'Name of the publication.', importance: 'HIGH', nonEmpty: true, group: replication })
    .default('dbz_publication'),
  'publication.autocreate.mode': field
    .oneOf(AUTOCREATE_MODES, {
      doc:
        'How a missing publication is created: for `all_tables` (needs a superuser), for the captured tables (`filtered`, which also ' +
        'updates an existing one), with `no_tables`, or never (`disabled`).',
      importance: 'MEDIUM',
      group: replication,
    })
    .default('all_tables'),
  'publish.via.partition.root': field
    .boolean({
      doc: 'Whether a new publication publishes changes of partitions as changes of their root table.',
      importance: 'MEDIUM',
      group: replication,
    })
    .default(false),
  'replica.identity.autoset.values': field
    .parsed(
      field.text({
        doc:
          'Replica identities to set before the start: `REGEX:VALUE`, separated by commas. The expression matches SCHEMA.TABLE; ' +
          'the value is DEFAULT, FULL, NOTHING or `INDEX NAME`.',
        importance: 'MEDIUM',
        group: replication,
      }),
      parseReplicaIdentities,
    )
    .prefault(''),
  'offset.mismatch.strategy': field
    .oneOf(MISMATCH_STRATEGIES, {
      doc:
        'What to do when changes between the stored offset and the position of the slot were discarded by the server: fail ' +
        '(`trust_offset`), or continue without them (`trust_slot`, `trust_greater_lsn`, `no_validation`).',
      importance: 'HIGH',
      group: replication,
    })
    .default('trust_offset'),
  'status.update.interval.ms': field
    .int({ doc: 'Interval of status messages to the server, in ms.', importance: 'LOW', min: 1, group: replication })
    .default(10_000),
  'xmin.fetch.interval.ms': field
    .long({
      doc: 'Interval in which the xmin of the slot is read for `source.xmin` of events, in ms. 0: it is null.',
      importance: 'LOW',
      min: 0,
      group: replication,
    })
    .default(0),
  'lsn.flush.mode': field
    .oneOf(['connector', 'manual', 'connector_and_driver'], {
      doc:
        'Whether the slot advances with the committed offsets. `manual`: only by `pg_replication_slot_advance`, and the server keeps its ' +
        'log until then. `connector_and_driver` is the same as `connector`.',
      importance: 'MEDIUM',
      group: replication,
    })
    .default('connector'),
  'flush.lsn.source': field
    .boolean({ doc: 'Former key: `false` is `lsn.flush.mode=manual`.', importance: 'LOW', group: replication })
    .default(true),
  'heartbeat.interval.ms': field
    .int({
      doc: 'Interval of records to the heartbeat topic, in ms. 0: none. The slot advances without them, too.',
      importance: 'MEDIUM',
      min: 0,
      group: heartbeat,
    })
    .default(0),
  'heartbeat.message.interval.ms': field
    .int({
      doc:
        'Interval of logical messages into the log of the server, in ms, while it grows by at least 1 MiB without changes to capture. ' +
        'They have no events. 0: none. Without the right to write them, and on a standby, there are none, too.',
      importance: 'LOW',
      min: 0,
      group: heartbeat,
    })
    .default(60_000),
  'heartbeat.action.query': field
    .text({ doc: 'SQL statement to execute with each heartbeat.', importance: 'LOW', group: heartbeat })
    .default(''),
  'max.batch.size': field
    .int({ doc: 'Maximum number of existing rows of a batch.', importance: 'MEDIUM', min: 1, group: batches })
    .default(2048),
  ...retryKeys,
}

/** `NAME=VALUE;NAME=VALUE`. Throws an `Error` for another form. */
export function parseStreamParameters(text: string): Readonly<Record<string, string>> {
  const entries = text
    .split(';')
    .filter((entry) => entry.trim() !== '')
    .map((entry): [string, string] => {
      const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(entry) ?? []
      if (name === undefined || value === undefined) {
        throw new Error(`Invalid value ${text} for configuration slot.stream.params: '${entry}' is not NAME=VALUE`)
      }
      return [name, value.trim()]
    })
  return Object.fromEntries(entries)
}
