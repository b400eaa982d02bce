/** Text for the reference page of `PostgresCdcSource`, in addition to its configuration keys. */
export const CDC_DOCUMENTATION = `
Tests compare the events of all types and operations with those of Debezium 3.4, kill worker and server in snapshots and
transactions, fail over to a standby, and move from a running Debezium and back. Not tested yet: managed services.

Guarantee: every change of a captured table that is committed after the slot exists, and that the rows of the first snapshot do not
contain, is written at least once, in the order of the commits, regardless of failures and restarts. With \`exactly.once.source.support=enabled\` on the worker it is written once.

The connector has the configuration keys of Debezium's connector for PostgreSQL, writes the same records to the same topics, and stores
offsets that both can read. If the jar of Debezium is installed in
\`plugin.path\`, that class name refers to the jar.

The position of a change is the LSN of the commit and the number of the change in its transaction, because changes share LSNs. The
server may delete its log up to a position only after the worker has committed an offset behind it. While nothing is captured, offsets
advance with the log of the server, so that a quiet table retains no log; heartbeat records are not needed for this. While the log grows
without changes of the captured database, the connector also writes a logical message with the prefix \`weir.heartbeat\` into it each
\`heartbeat.message.interval.ms\`. It is no event, but Debezium's connector would write one of it.

Before the start, the connector checks the server and reports everything that is wrong in one message, with what mends it. The
validation of a configuration (\`/validate\`, the admission webhook, and before a connector is created or changed) reports the same at
the keys concerned; Debezium reports errors of the connection only, all at \`database.hostname\`. When the server restarts or the
network fails, the connector reconnects, without a limit unless \`errors.max.retries\` has one. Meanwhile the task is RUNNING, as with
Debezium, and its status has the reason as \`trace\`: a wrong host is found there. A wrong user or password fails the task at once, and so
does a standby that would have to be changed. That a server is read-only (25006) at any later moment counts as a failover and is retried. It stops with an error when changes would be missing: the slot does not exist but
an offset is stored, the server has invalidated the slot, or the slot is ahead of the stored offset. \`offset.mismatch.strategy\` says
whether to continue nevertheless.

Existing rows are read with COPY before the first changes (\`snapshot.mode\`), in the snapshot of the new slot: no row is missing and none
is there twice. \`snapshot.max.threads\` sessions read at the same time, and large tables are divided by page ranges (since PostgreSQL
14). The stored offset says what has been read, so a snapshot that was interrupted continues with the rest; that is read in a newer
snapshot, and the changes since the first one follow. The last state of each key in a topic is then that of the table. Such a
snapshot may write a row once more that has changed in the meantime. \`initial_only\` always begins again, because no changes follow.
The server keeps its log until the snapshot is complete. If the slot is older than the snapshot and no offset is stored, the rows stand
for the inserts and updates before them: those of transactions that the snapshot sees are not sent again for the tables that it reads
whole. From the first delete of a table on, its changes are sent, because an earlier start may have written the deleted row. On a
standby, and after a failover, more may be sent again.

Signals request further snapshots: rows of \`signal.data.collection\`, records of \`signal.kafka.topic\`, or lines of \`signal.file\`, with the types \`execute-snapshot\`
(incremental or blocking), \`stop-snapshot\`, \`pause-snapshot\`, \`resume-snapshot\` and \`log\`. A signal that cannot be understood or executed is
logged with its id and ignored. An incremental snapshot reads chunks in the order of the key while changes continue; a row that changes
while its chunk is read is left to the stream. It continues after a restart. With \`read.only=true\` nothing is written to the database.
The offset of the signal topic is stored with that of the source, not in the group \`signal.kafka.groupId\`: each signal is executed at
least once, and those from before the first start are not. Its consumer settings are \`consumer.override.*\` instead of
\`signal.consumer.*\`. \`snapshot.mode=custom\` is not supported, because it names a Java class.
A blocking snapshot that is interrupted is not continued: send its signal again.

Keys, values, headers, schemas and topics are those of Debezium 3.4, which tests compare record for record. The page
[Differences from Debezium's PostgreSQL connector](../postgres-cdc-differences.md) lists the exceptions, such as values that Debezium
loses, and the keys of Debezium that have no effect. Keys that name Java code are refused.

The server does not send a large value (TOAST) that an update did not change, unless REPLICA IDENTITY is FULL.
\`unavailable.value.mode\` says what the event has for it. Types without a placeholder, such as \`numeric\`, then have null, so use
\`reselect\` or \`omit\` for tables with large values of such types. With \`omit\`, the transform \`ExtractNewRecordState\` and the
PostgreSQL sink with \`insert.mode=upsert\` keep the value that the target has.
`
