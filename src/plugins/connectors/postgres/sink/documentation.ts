/** What the reference page says beside the keys. */
export const SINK_DOCUMENTATION = `
Guarantee: every record is written at least once, and exactly once with \`offsets.table\`, \`insert.mode=upsert\` or
\`pk.mode=kafka\`; what the database refuses goes where \`errors.tolerance\` says, alone.

It takes the keys of the JDBC sink connectors of Confluent and Aiven. The records that a task is given at once are one transaction, whose statements
have up to \`batch.size\` rows each. Within a statement the last record of a key counts; a table is as if every record had
been written in turn.

With \`offsets.table\` the next offset of each partition is stored in that table, in the transaction of the records: they win
over the offsets of the consumer group, and a record is never written twice, even by a task that was replaced and does not
know it. To write records again, change them there. \`pk.mode=kafka\` with \`insert.mode=upsert\` gives the same without a table,
for rows that may be rewritten.

A record that does not fit (a null in a column that has to have a value, a text that is too long, a key that is there
already, a field without a column) is refused alone: the batch is halved until it is found. What is about no record (a missing
table, a missing right, a wrong password) fails the task. A server that is away is waited for, \`max.retries\` times
\`retry.backoff.ms\`; nothing is lost meanwhile.

Values need a schema. What becomes of them, where a column has to be made by \`auto.create\` or \`auto.evolve\`: int8 and int16
smallint, int32 int, int64 bigint, float32 real, float64 double precision, boolean, string text, bytes bytea, Decimal decimal,
Date date, Time time, Timestamp timestamp, an array of these an array, structs and maps and arrays of them jsonb. A column
that is there takes whatever PostgreSQL can make its type of: enums, uuid, json, timestamptz, ranges…

A table that is made has a primary key on the columns of the key. \`insert.mode=upsert\` needs such a key, or a unique constraint,
on exactly these columns.
`
