/** What the reference page says beside the keys. */
export const SOURCE_DOCUMENTATION = `
Guarantee: with \`timestamp+incrementing\` and \`incrementing\`, every row is written at least once and in the order of these
columns, whatever is killed or restarted, as long as they are given by the database (\`now()\`, a sequence).

It takes the keys of the JDBC source connectors of Confluent and Aiven, and goes on from the offsets those have stored: \`{"protocol": "1",
"table": "SCHEMA.TABLE"}\` at \`{"incrementing": ID, "timestamp": MS, "timestamp_nanos": NS}\`; a query has the partition
\`{"query": "query"}\`. Tables are shared out between at most \`tasks.max\` tasks. The topic of a table is \`topic.prefix\` and its
name without the schema.

Which rows are read:
- \`bulk\`: all, at every reading and after every start.
- \`incrementing\`: those with a higher id than the last. A change of a row is not seen.
- \`timestamp\`: those with a later timestamp than the last. After a stop in between, rows with the very timestamp that was
  being read come again.
- \`timestamp+incrementing\`: those that are later, or as late and higher. Sees changes, and repeats only what was not
  committed yet.

A \`query\` is read by one task: where it could be cut, and whether its parts would still be in order, only who wrote it
knows. For several tasks, make a connector of each part, or views (\`table.types=VIEW\`): they are shared out as tables are.

Deleted rows are not seen. Timestamps and ids are given out before a transaction commits: so reading waits for the
transactions that are open, up to \`transactions.wait.ms\` for each, and rows of one that takes longer may be missed (a warning
says so). Prepared transactions, sequences with a CACHE and timestamps of other clocks can't be waited for:
\`timestamp.delay.interval.ms\` is for those. The clock that counts is the database's, never the worker's; a database whose
clock was set back fails the task rather than skip rows.

A row that can't be told (a NaN where the mapping says Decimal) goes where \`errors.tolerance\` says, alone: as dead letter with
the texts of its cells. A server that is away is waited for once it was reached; before that the task fails after
\`connection.attempts\`. Memory is
bounded: the rows of a reading wait on the server, which keeps a snapshot for as long.

| PostgreSQL | record |
| --- | --- |
| boolean, bit(1) | boolean |
| smallint, integer, bigint, oid | int16, int32, int64, int64 |
| real, double precision, money | float32, float64, float64 |
| numeric | Decimal, or by \`numeric.mapping\`; without a precision its scale is 127 as in the JDBC connector |
| date, time, timestamp, timestamptz | Date, Time, Timestamp (or by \`timestamp.granularity\`) in milliseconds; infinity is the last day that can be told |
| bytea | bytes |
| arrays of all these | array of optional items |
| text, varchar, char, json, jsonb, xml, uuid, enums and everything else | string, as PostgreSQL shows it |

A column is optional unless it is NOT NULL. Keys are null: \`ValueToKey\` makes them. What the JDBC connector leaves out
(arrays, intervals, ranges, addresses…) is there as well.
`
