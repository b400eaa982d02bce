/**
 * Format of the data directory. A change that this code can't read raises it. Since 2 `broker.check` lies beside the
 * database; a directory of format 1 is taken over when it is opened.
 */
export const FORMAT = 2
export const FORMAT_WITHOUT_CHECK_FILE = 1

export const PAGE_BYTES = 16_384

/** Marks the file as Weir's: 'Weir' in ASCII. */
export const APPLICATION_ID = 0x57656972

/**
 * A batch's row id says where it stands: the partition in the high bits, the base offset in the low ones. So a
 * partition is one range of one b-tree, appended at its end and read in order, without an index beside it.
 */
export const OFFSET_BITS = 43n
export const OFFSET_MASK = (1n << OFFSET_BITS) - 1n
/** 2^20 partitions ever made, 2^43 records each. */
export const PARTITION_ID_MAX = 2 ** 20 - 1

export function rowId(partitionId: number, offset: number): bigint {
  return (BigInt(partitionId) << OFFSET_BITS) | BigInt(offset)
}

/**
 * `batches.bytes` stands last, so that what is asked of the other columns does not read it.
 * `open_batches`: those of transactions that have not ended. `doomed`: partitions whose topic is gone, batches not yet.
 * `partitions.end_floor`: the end is never below, although the last batches may have been deleted.
 * `partitions.clean_offset`, `clean_bytes`: up to where compaction came, and what it left.
 */
export const SCHEMA = `
  create table settings (name text primary key, value any) strict, without rowid;
  create table topics (id integer primary key, name text not null unique, configs text not null) strict;
  create table partitions (
    id integer primary key autoincrement,
    topic_id integer not null,
    number integer not null,
    start_offset integer not null default 0,
    end_floor integer not null default 0,
    clean_offset integer not null default 0,
    clean_bytes integer not null default 0
  ) strict;
  create table batches (
    id integer primary key,
    last_offset integer not null,
    max_timestamp_ms integer not null,
    appended_ms integer not null,
    bytes blob not null
  ) strict;
  create table open_batches (id integer primary key, transactional_id text not null) strict;
  create table doomed (partition_id integer primary key) strict;
  create table transactional_ids (
    name text primary key,
    producer_id integer not null,
    epoch integer not null
  ) strict, without rowid;
  create table groups (name text primary key, protocol_type text not null, generation integer not null)
    strict, without rowid;
  create table group_offsets (
    group_name text not null,
    topic text not null,
    partition integer not null,
    offset integer not null,
    metadata text,
    primary key (group_name, topic, partition)
  ) strict, without rowid;
`
