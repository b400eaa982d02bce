import { field } from '../../../../../sdk/index.ts'
import { parseHosts } from '../../../cdc/config/connection-texts.ts'
import { addressKeys, CONNECTION_GROUP, initialStatementsKey } from '../../../cdc/config/database-keys.ts'
import type { ConnectionKeyNames } from '../../../jdbc/database-error.ts'
import { type ConnectionUrl, SSL_MODES, type SslMode } from '../../connection-url.ts'

const group = CONNECTION_GROUP
const PORT = 5432

/** Keys of the connection, as those of Debezium. */
export const databaseKeys = {
  ...addressKeys(PORT),
  'database.user': field.text({
    doc: 'Role to connect as. It needs LOGIN and REPLICATION.',
    importance: 'HIGH',
    nonEmpty: true,
    group,
  }),
  'database.password': field.password({ doc: 'Password of the role.', importance: 'HIGH', group }).optional(),
  'database.dbname': field.text({
    doc: 'Database whose changes are captured.',
    importance: 'HIGH',
    nonEmpty: true,
    group,
  }),
  'database.sslmode': field
    .oneOf(SSL_MODES, {
      doc: 'Whether the connection is encrypted, with the meaning of libpq.',
      importance: 'MEDIUM',
      group,
    })
    .default('prefer'),
  'database.sslcert': field
    .path({ doc: 'PEM file with the certificate of the client.', importance: 'MEDIUM', group })
    .optional(),
  'database.sslkey': field
    .path({ doc: 'PEM file with the private key of the client.', importance: 'MEDIUM', group })
    .optional(),
  'database.sslrootcert': field
    .path({ doc: 'PEM file with the certificates that the server is verified against.', importance: 'MEDIUM', group })
    .optional(),
  ...initialStatementsKey,
  'connection.validation.timeout.ms': field
    .long({ doc: 'Timeout of a connection attempt, in ms.', importance: 'LOW', min: 1, group })
    .default(60_000),
  'database.query.timeout.ms': field
    .int({
      doc:
        'Time after which a query of the catalog, of a heartbeat or of missing values counts as lost, in ms, and the connector connects ' +
        'again. 0: no limit. Statements that change the database, and snapshots, have none.',
      importance: 'LOW',
      min: 0,
      group,
    })
    .default(60_000),
}

/** How remedies in error messages name these keys. */
export const DATABASE_KEY_NAMES: ConnectionKeyNames = {
  host: 'database.hostname',
  port: 'database.hostname and database.port',
  database: 'database.dbname',
  user: 'database.user',
  password: 'database.password',
  sslMode: 'another database.sslmode',
  rootCertificate: 'database.sslrootcert',
  certificates: 'database.sslrootcert, database.sslcert and database.sslkey',
}

type ConnectionConfig = {
  readonly 'database.hostname': string
  readonly 'database.port': number
  readonly 'database.dbname': string
  readonly 'database.sslmode': SslMode
  readonly 'database.sslcert'?: string | undefined
  readonly 'database.sslkey'?: string | undefined
  readonly 'database.sslrootcert'?: string | undefined
  readonly 'connection.validation.timeout.ms': number
}

/** The connection as `Session` expects it. */
export function connectionUrlOf(config: ConnectionConfig): ConnectionUrl {
  return {
    hosts: parseHosts(config['database.hostname'], config['database.port']),
    database: config['database.dbname'],
    user: undefined,
    password: undefined,
    sslMode: config['database.sslmode'],
    sslRootCert: config['database.sslrootcert'],
    sslCert: config['database.sslcert'],
    sslKey: config['database.sslkey'],
    searchPath: undefined,
    applicationName: undefined,
    connectTimeoutMs: config['connection.validation.timeout.ms'],
    ignored: [],
  }
}
