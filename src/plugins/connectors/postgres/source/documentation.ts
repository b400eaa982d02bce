/** Text for the reference page of `PostgresSource`, in addition to its configuration keys. */
export const SOURCE_DOCUMENTATION = `
Guarantee: with \`timestamp+incrementing\` and \`incrementing\`, every row is written at least once and in the order of these columns,
regardless of failures and restarts, as long as the database assigns their values (\`now()\`, a sequence).

The connector accepts the keys of the JDBC source connectors of Confluent and Aiven, whose class names \`JdbcSource\` has,
and continues from the offsets that those have stored:
\`{"protocol": "1", "table": "SCHEMA.TABLE"}\` with \`{"incrementing": ID, "timestamp": MS, "timestamp_nanos": NS}\`. The partition of a query
is \`{"query": "query"}\`. Tables are distributed to at most \`tasks.max\` tasks. The topic of a table is \`topic.prefix\` and its name without
the schema.

Rows that are read, by \`mode\`:
- \`bulk\`: all rows, at every query and after every start.
- \`incrementing\`: rows with a higher id than the last one. Changes of rows are not detected.
- \`timestamp\`: rows with a later timestamp than the last one. When reading stops among rows with the same timestamp, all rows with that
  timestamp are read again. So they are when \`query.suffix\` has a LIMIT, which may have cut off some of them; JDBC connectors skip those.
  The task fails if all rows up to the limit have one timestamp. \`FETCH FIRST 1000 ROWS WITH TIES\` cuts off none (since PostgreSQL 13).
- \`timestamp+incrementing\`: rows with a later timestamp, or with the same timestamp and a higher id. Detects changes, and repeats only rows
  that were not committed.

A \`query\` is read by one task, because its parts and their order cannot be derived from its text. To use several tasks, create a connector
for each part, or views (\`table.types=VIEW\`), which are distributed like tables.

Deleted rows are not detected. Timestamps and ids are assigned before a transaction commits. The connector therefore waits for open
transactions, up to \`transactions.wait.ms\` for each; rows of a longer transaction may be missed, and a warning is logged. Prepared
transactions, sequences with CACHE and timestamps from other clocks cannot be observed: set \`timestamp.delay.interval.ms\` for those. The
clock of the database is used, never that of the worker. If the clock of the database was set back, the task fails instead of skipping rows.

A row that cannot be converted (NaN in a column that is mapped to Decimal) is handled alone, according to \`errors.tolerance\`; its dead letter
contains the text of its columns. When the server becomes unavailable, the task waits for it; before the first connection it fails after
\`connection.attempts\`. Memory is bounded: the rows of a query are buffered on the server, which keeps a snapshot for that time.

| PostgreSQL | record |
| --- | --- |
| boolean, bit(1) | boolean |
| smallint, integer, bigint, oid | int16, int32, int64, int64 |
| real, double precision, money | float32, float64, float64 |
| numeric | Decimal, or according to \`numeric.mapping\`; without a precision its scale is 127, as in the JDBC connectors |
| date, time, timestamp, timestamptz | Date, Time, Timestamp (or according to \`timestamp.granularity\`) in milliseconds; infinity is the last day that can be represented |
| bytea | bytes |
| arrays of these types | array of optional items |
| text, varchar, char, json, jsonb, xml, uuid, enums and all other types | string, as PostgreSQL formats it |

A column is optional unless it is NOT NULL. Keys are null: use the transform \`ValueToKey\`. Types that the JDBC connectors omit (arrays,
intervals, ranges, addresses…) are included.
`
