/** Text for the reference pages of the sources, in addition to their configuration keys. */
export const MYSQL_CDC_DOCUMENTATION = `
The connector reads the binary log of the server as a replica does. It has the configuration keys of Debezium's connectors for MySQL and
MariaDB, writes the same records to the same topics, and stores offsets and a schema history that both can read. If the jar of Debezium is
installed in \`plugin.path\`, that class name refers to the jar. The differences between both connectors are their names: either can read
from either server.

Guarantee: every change of a captured table that is committed after the position of the snapshot is written at least once, in the order of
the commits, regardless of failures and restarts. With \`exactly.once.source.support=enabled\` on the worker it is written once: the
stored offset names the event and the row within a transaction. If another server continues within a transaction, the changes of that
transaction are written again, because its log may have them in other events.

Existing rows are read before the first changes (\`snapshot.mode\`), all at one moment. The server is locked until the position of its log and
the structure of all tables are read. A snapshot that was interrupted begins again. Until its end, its transaction keeps tables from being altered.

The server needs \`log_bin\` and \`binlog_format=ROW\`. With \`binlog_row_image=MINIMAL\` or \`NOBLOB\`, \`unavailable.value.mode\` says what events
have for values that the log does not have. With GTIDs, which MariaDB always has, another server of the same data can continue: list it in
\`database.hostname\`. The task stops with an error when changes would be missing: the server has purged the stored position, the log
has changes as statements, an event is damaged or not supported, or the structure of a captured table is not known.

The structure of tables is parsed from the statements in the log and stored in the topic \`schema.history.internal.kafka.topic\`, before the
next change is written. Do not share or compact that topic. A statement of a captured database that cannot be parsed stops the task; report it, and meanwhile take
a new snapshot or use \`snapshot.mode=recovery\`.

Signals request further snapshots: rows of \`signal.data.collection\`, records of \`signal.kafka.topic\`, or lines of \`signal.file\`, with the types
\`execute-snapshot\` (incremental or blocking), \`stop-snapshot\`, \`pause-snapshot\`, \`resume-snapshot\` and \`log\`. A signal that cannot be understood or
executed is logged with its id and ignored. An incremental snapshot reads chunks in the order of the key while changes continue, also of a table that is altered
meanwhile; a row that changes while its chunk is read is left to the stream. It continues after a restart. Keys may have columns of all types but FLOAT, DOUBLE, JSON and those of geometry. With \`read.only=true\` nothing is written to the database; MySQL needs \`gtid_mode=ON\` for
it. The end of a chunk is a position of the log in each case, so the rows of watermarks are for other readers of the signal table. The offset of
the signal topic is stored with that of the source, not in the group \`signal.kafka.groupId\`: each signal is executed at least once, and those from before the first
start are not. Its consumer settings are \`consumer.override.*\` instead of \`signal.consumer.*\`. A blocking snapshot locks the server until its
position is read, whatever \`snapshot.locking.mode\` is; one that is interrupted is not continued: send its signal again. If the schema history has captured tables only, it lacks a
signal table that is added later: start once with \`snapshot.mode=recovery\`.

Not supported yet, and refused with the reason: \`snapshot.max.threads\` above 1,
\`gtid.source.includes\` and \`gtid.source.excludes\`, \`binlog.buffer.size\`, modes that skip changes,
histories outside of a topic, columns with MariaDB's attribute COMPRESSED, tables with system versioning whose period columns are not declared,
the character sets armscii8, cp850, cp852, dec8, geostd8, hp8, keybcs2, macce and swe7, partial JSON values and GTIDs with tags. As with
Debezium, changes of an XA transaction are written when it is prepared, and events do not have columns of the types INET4 and INET6.

Tests compare the events of some 60 statements and of all types on MariaDB with those of Debezium 3.4, move from a running Debezium and back,
kill the worker during the snapshot and the changes with exactly-once delivery, kill the source during incremental snapshots while rows change, and continue on a replica by its GTIDs. There is no MySQL server
in these tests: what only MySQL has, such as its GTIDs, compressed transactions and binary JSON, is tested with data that follows the documentation of
the protocol.

| differs from Debezium 3.4 | reason |
| --- | --- |
| transaction metadata has no BEGIN for a statement outside of a transaction | Debezium writes a BEGIN without an END for each |
| the topic of changes of tables has those of captured databases and tables | Debezium has all, unless \`store.only.captured.tables.ddl\` is set |
| a zero \`TIMESTAMP\` is null also in changes | Debezium has null in existing rows, and 1970 in changes |
| a \`TIMESTAMP\` always has as many digits of the fraction as its column | Debezium removes zeros in existing rows only |
| a value of an \`ENUM\` with a comma has no backslash in changes | Debezium has it in changes only |
| a default with a quote has one quote | Debezium has it doubled, as in SQL |
| texts are right after \`CONVERT TO CHARACTER SET\` | Debezium reads them with the former character set |
| \`CREATE OR REPLACE TABLE\` replaces the table | Debezium keeps its structure, and fails at the next row |
| a \`YEAR\` of zero is read | the driver of Debezium fails the snapshot |
| a column \`REAL\` is a float64 | its values do not fit in a float32 |
| a value that a minimal row image does not have is a placeholder | Debezium has null, which is a value, too |
`
