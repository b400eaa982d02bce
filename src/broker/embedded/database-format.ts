/**
 * Format of the data directory, incremented by each incompatible change. Format 2 had a `broker.check` with the checksums
 * of all pages, format 1 had none. Format 3 has the table `checksums`. Opening a directory of an earlier format upgrades it.
 */
export const FORMAT = 3

export const PAGE_BYTES = 16_384

/** SQLite's `application_id` of Weir's databases: 'Weir' in ASCII. */
export const APPLICATION_ID = 0x57656972

/**
 * The row id of a batch consists of the partition id in the high bits and the base offset in the low bits. So each
 * partition is a contiguous range of one b-tree, appended to at its end and read in order without another index.
 */
export const OFFSET_BITS = 43n
export const OFFSET_MASK = (1n << OFFSET_BITS) - 1n
/** Partition ids are never reused, so this bounds the partitions ever created. Each can have 2^43 records. */
export const PARTITION_ID_MAX = 2 ** 20 - 1

export function rowId(partitionId: number, offset: number): bigint {
  return (BigInt(partitionId) << OFFSET_BITS) | BigInt(offset)
}

/**
 * `batches.bytes` is the last column, so that queries of the other columns do not read it.
 * `open_batches`: batches of transactions that are not completed.
 * `doomed`: partitions of deleted topics whose batches are not deleted yet.
 * `partitions.end_floor`: lower bound of the end offset, needed when the last batches were deleted.
 * `partitions.clean_offset`, `clean_bytes`: offset that compaction has reached, and the bytes that it kept before it.
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

/** See `row-checksums.ts`. */
export const CHECKSUMS_SCHEMA = `
  create table checksums (name text primary key, value any) strict, without rowid;
`
