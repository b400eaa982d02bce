/** Text for the reference page of `PostgresCdcSource`, in addition to its configuration keys. */
export const CDC_DOCUMENTATION = `
Guarantee: every change of a captured table that is committed after the slot exists is written at least once, in the order of the
commits, regardless of failures and restarts. With \`exactly.once.source.support=enabled\` on the worker it is written once.

The connector accepts the configuration keys of Debezium's connector for PostgreSQL, writes the same records to the same topics, and
continues from the offsets that Debezium has stored; Debezium continues from its offsets, too. If the jar of Debezium is installed in
\`plugin.path\`, that class name refers to the jar.

The position of a change is the LSN of the commit and the number of the change in its transaction, because changes share LSNs. The
server may delete its log up to a position only after the worker has committed an offset behind it. While nothing is captured, offsets
advance with the log of the server, so that a quiet table retains no log; heartbeat records are not needed for this.

Before the start, the connector checks the server and reports everything that is wrong in one message, with what mends it. When the
server restarts or the network fails, it reconnects. It stops with an error when changes would be missing: the slot does not exist but
an offset is stored, the server has invalidated the slot, or the slot is ahead of the stored offset. \`offset.mismatch.strategy\` says
whether to continue nevertheless.
`
