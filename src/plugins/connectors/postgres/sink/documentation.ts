/** Text for the reference page of `PostgresSink`, in addition to its configuration keys. */
export const SINK_DOCUMENTATION = `
Guarantee: every record is written at least once, and exactly once with \`offsets.table\`, \`insert.mode=upsert\` or \`pk.mode=kafka\`. A record
that the database rejects is handled alone, according to \`errors.tolerance\`.

The connector accepts the keys of the JDBC sink connectors of Confluent and Aiven, whose class names \`JdbcSink\` has. The records that a task receives at once are written in one
transaction, in statements of up to \`batch.size\` rows. If a statement has several records with the same key, the last one is written; the
table ends in the same state as if the records had been written one by one.

A statement has one array for each column: in PostgreSQL's binary format if the type of the column is that of the field (integers, double
precision, numeric, text, varchar, boolean, bytea, date, time, timestamp, timestamptz), and otherwise as text, which PostgreSQL converts. While
the server executes a statement, the task encodes the next one.

With \`offsets.table\`, the next offset of each partition is stored in that table in the transaction of the records. These offsets take
precedence over those of the consumer group, so a record is never written twice, not even by a zombie task. To write
records again, change the offsets in the table while the connector is stopped; a task whose offset is deleted fails. A batch and its
offsets are one round trip. If some of its records are already written, the server rejects it and logs
\`not an error: records are compared with the stored offsets\`; then the task sends the others. \`pk.mode=kafka\` with
\`insert.mode=upsert\` has the same effect without a table, for rows that may be overwritten.

A record that violates the table definition (null in a NOT NULL column, a string that is too long, a duplicate key, a field without a column) is rejected
alone: the batch is split in halves until the record is found. Errors that do not concern a record (a missing table, a missing privilege, a wrong
password) fail the task. While the server is unavailable, the task retries \`max.retries\` times with a delay of \`retry.backoff.ms\`; no
records are lost.

Values need a schema. Types of columns that \`auto.create\` or \`auto.evolve\` creates: int8 and int16 smallint, int32 int, int64 bigint, float32
real, float64 double precision, boolean boolean, string text, bytes bytea, Decimal decimal, Date date, Time time, Timestamp timestamp, an array
of these an array, structs, maps and arrays of them jsonb. An existing column accepts whatever PostgreSQL can convert to its type: enums, uuid,
json, timestamptz, ranges…

A created table has a primary key on the columns of the key. \`insert.mode=upsert\` requires such a key, or a unique constraint, on exactly
these columns.
`
