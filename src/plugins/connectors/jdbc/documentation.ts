/** Text for the reference page of `JdbcSource`, in addition to its configuration keys. */
export const JDBC_SOURCE_DOCUMENTATION = `
The scheme of \`connection.url\` selects the database: \`jdbc:postgresql:\`, \`jdbc:mysql:\` or \`jdbc:mariadb:\`. Modes, guarantees, offsets and
errors are those that [PostgresSource](postgres-source.md) describes, for each database. This page has what is different with MySQL and
MariaDB.

A database is what JDBC calls a catalog: tables are named \`DATABASE.TABLE\`, and the partition of their offsets is
\`{"protocol": "1", "table": "DATABASE.TABLE"}\`, as the JDBC connectors store it. Without \`catalog.pattern\`, the tables of the database of
\`connection.url\` are read, and those of all databases if it has none. \`table.types\` may be \`TABLE\` and \`VIEW\`.

The connection uses UTF-8 and UTC. A \`timestamp\` is an instant; a \`datetime\` is a local time of \`db.timezone\`. If \`timestamp.column.name\`
has columns of both types, \`db.timezone\` must be UTC. To wait for open transactions, the account needs the privilege \`PROCESS\`; without it,
a warning is logged once, and rows of transactions that end out of order may be missed: set \`timestamp.delay.interval.ms\`. Set it, too,
if statements wait longer than 100 ms before they write, for the lock of a table for example: their rows then have an older timestamp. Tables of engines
without transactions need neither. The rows of a query are read as the server sends them: it waits while records are written to Kafka.

Options of \`connection.url\` with an effect: \`user\`, \`password\`, \`sslMode\` (DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY, and the
names of MariaDB's driver) and the options that it replaced, \`trustCertificateKeyStoreUrl\`, \`clientCertificateKeyStoreUrl\` and
\`serverSslCert\` with their passwords (PEM or PKCS#12), \`allowPublicKeyRetrieval\`, \`connectTimeout\` and \`socketTimeout\` (ms), \`localSocket\`,
\`sessionVariables\`, \`zeroDateTimeBehavior\` (EXCEPTION, CONVERT_TO_NULL, ROUND), \`yearIsDateType\`, \`tinyInt1isBit\` and
\`transformedBitIsBoolean\`. Accounts log in with \`caching_sha2_password\`, \`sha256_password\`, \`mysql_native_password\`, MariaDB's \`ed25519\` or,
over TLS, in clear text.

| MySQL, MariaDB | record |
| --- | --- |
| tinyint, smallint, mediumint, int | int8, int16, int32, int32; unsigned int16, int32, int64, int64 |
| tinyint(1) | int8; boolean with \`transformedBitIsBoolean=true\` |
| bigint, also unsigned | int64; a value above 9223372036854775807 cannot be converted |
| float, double | float32 with the six digits that the server prints, float64 |
| decimal | Decimal; as in the JDBC connectors, \`numeric.mapping\` only changes numeric columns of PostgreSQL |
| bit(1), longer bit | int8, bytes |
| date, time, datetime, timestamp | Date, Time, Timestamp (or according to \`timestamp.granularity\`); a time that is negative or longer than a day cannot be converted |
| year | Date of its first day; int16 with \`yearIsDateType=false\` |
| zero dates | according to \`zeroDateTimeBehavior\`: cannot be converted (default of \`jdbc:mysql:\`), null (default of \`jdbc:mariadb:\`) or 0001-01-01 |
| binary, varbinary, blob, geometry | bytes |
| char, varchar, text, enum, set, json, uuid, inet6 | string |

A row with a value that cannot be converted is handled alone, according to \`errors.tolerance\`.
`

/** Text for the reference page of `JdbcSink`, in addition to its configuration keys. */
export const JDBC_SINK_DOCUMENTATION = `
The scheme of \`connection.url\` selects the database: \`jdbc:postgresql:\`, \`jdbc:mysql:\` or \`jdbc:mariadb:\`. Guarantees, errors and retries
are those that [PostgresSink](postgres-sink.md) describes, for each database. This page has what is different with MySQL and MariaDB;
[JdbcSource](jdbc-source.md) lists the options of \`connection.url\`.

Records are written by \`INSERT\` with many rows, by \`INSERT … ON DUPLICATE KEY UPDATE\` (\`insert.mode=upsert\`), by an \`UPDATE\` for each record, and
by \`DELETE\` with many keys. A statement has at most \`batch.size\` rows and about 1 MB. \`ON DUPLICATE KEY UPDATE\` also applies to other unique
keys of the table. Values are literals in UTF-8, which are safe in each \`sql_mode\`. Transactions, and therefore \`offsets.table\`, need tables
of InnoDB.

The session sets \`sql_mode\` to \`STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION\`, so the server rejects values that do not fit
instead of changing them, and a zero in an AUTO_INCREMENT column stays a zero. It is in UTC: an existing column of type \`timestamp\` receives
the instant, and one of type \`datetime\` the local time of \`db.timezone\`. NaN and infinities are rejected, and so are texts that are not
numbers in a column of numbers. Keys are compared by the collation of their column.

Types of columns that \`auto.create\` or \`auto.evolve\` creates: int8 TINYINT, int16 SMALLINT, int32 INT, int64 BIGINT, float32 FLOAT, float64
DOUBLE, boolean TINYINT, Decimal DECIMAL(65, scale), Date DATE, Time TIME(3), Timestamp DATETIME(3), fields of \`timestamp.fields.list\`
DATETIME(6), arrays, structs and maps JSON. Unlike in the JDBC connectors, a string is LONGTEXT and bytes are LONGBLOB; in the key VARCHAR(255),
where letters of different case are different, and VARBINARY(255). A Decimal with a scale above 30 is a text.
`
