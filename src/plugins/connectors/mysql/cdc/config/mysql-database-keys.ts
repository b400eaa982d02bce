import { field } from '../../../../../sdk/index.ts'
import { parseHosts } from '../../../cdc/config/connection-texts.ts'
import { addressKeys, CONNECTION_GROUP, initialStatementsKey } from '../../../cdc/config/database-keys.ts'
import type { ConnectionKeyNames } from '../../../jdbc/database-error.ts'
import type { MysqlSslMode, MysqlUrl } from '../../connection-url.ts'

const group = CONNECTION_GROUP
const PORT = 3306

/** Modes of MySQL's connector and of MariaDB's, with the same meaning. */
const SSL_MODES = [
  'disabled',
  'preferred',
  'required',
  'verify_ca',
  'verify_identity',
  'disable',
  'trust',
  'verify-ca',
  'verify-full',
] as const
const MODES: Readonly<Record<(typeof SSL_MODES)[number], MysqlSslMode>> = {
  disabled: 'disable',
  disable: 'disable',
  preferred: 'prefer',
  required: 'require',
  trust: 'require',
  verify_ca: 'verify-ca',
  'verify-ca': 'verify-ca',
  verify_identity: 'verify-full',
  'verify-full': 'verify-full',
}

/** Keys of the connection, as those of Debezium. */
export const mysqlDatabaseKeys = {
  ...addressKeys(PORT),
  'database.user': field.text({
    doc: 'Account to connect as. It needs SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE and REPLICATION CLIENT (MariaDB: BINLOG MONITOR).',
    importance: 'HIGH',
    nonEmpty: true,
    group,
  }),
  'database.password': field.password({ doc: 'Password of the account.', importance: 'HIGH', group }).optional(),
  'database.server.id': field.int({
    doc: 'Number of this connector among the replicas of the server. Another reader with the same number is disconnected by the server.',
    importance: 'HIGH',
    min: 1,
    max: 4_294_967_295,
    group,
  }),
  'database.ssl.mode': field
    .oneOf(SSL_MODES, {
      doc: 'Whether the connection is encrypted and what is verified, with the values of the connectors for MySQL and for MariaDB.',
      importance: 'MEDIUM',
      group,
    })
    .default('preferred'),
  'database.ssl.truststore': field
    .path({
      doc: 'PEM file or PKCS#12 store with the certificates that the server is verified against.',
      importance: 'MEDIUM',
      group,
    })
    .optional(),
  'database.ssl.truststore.password': field
    .password({ doc: 'Password of that store.', importance: 'MEDIUM', group })
    .optional(),
  'database.ssl.keystore': field
    .path({ doc: 'PEM file with the certificate and the private key of the client.', importance: 'MEDIUM', group })
    .optional(),
  'database.ssl.keystore.password': field
    .password({ doc: 'Password of that key.', importance: 'MEDIUM', group })
    .optional(),
  'driver.allowPublicKeyRetrieval': field
    .boolean({
      doc: 'Whether the password may be encrypted with a key that the server sends, if the connection has no TLS.',
      importance: 'LOW',
      group,
    })
    .default(false),
  ...initialStatementsKey,
  'connect.timeout.ms': field
    .int({ doc: 'Timeout of a connection attempt, in ms.', importance: 'MEDIUM', min: 1, group })
    .default(30_000),
  'connect.keep.alive.interval.ms': field
    .long({
      doc: 'While there are no changes, the server shows each 80 % of this time that it is reachable, in ms.',
      importance: 'LOW',
      min: 1_000,
      max: 3_600_000,
      group,
    })
    .default(60_000),
  'database.query.timeout.ms': field
    .int({
      doc: 'Time after which a query of the catalog, of a heartbeat or of an incremental snapshot counts as lost, in ms. 0: no limit. Other snapshots have none.',
      importance: 'LOW',
      min: 0,
      group,
    })
    .default(600_000),
}

/** How remedies in error messages name these keys. */
export const MYSQL_KEY_NAMES: ConnectionKeyNames = {
  host: 'database.hostname',
  port: 'database.hostname and database.port',
  database: 'the name of the database',
  user: 'database.user',
  password: 'database.password',
  sslMode: 'another database.ssl.mode',
  rootCertificate: 'database.ssl.truststore',
  certificates: 'database.ssl.truststore and database.ssl.keystore',
}

type ConnectionConfig = {
  readonly 'database.hostname': string
  readonly 'database.port': number
  readonly 'database.ssl.mode': keyof typeof MODES
  readonly 'database.ssl.truststore'?: string | undefined
  readonly 'database.ssl.truststore.password'?: string | undefined
  readonly 'database.ssl.keystore'?: string | undefined
  readonly 'database.ssl.keystore.password'?: string | undefined
  readonly 'driver.allowPublicKeyRetrieval': boolean
  readonly 'connect.timeout.ms': number
}

/** The connection as `MysqlSession` expects it. */
export function mysqlUrlOf(config: ConnectionConfig): MysqlUrl {
  const certificates = {
    'ssl.truststore.location': config['database.ssl.truststore'],
    'ssl.truststore.password': config['database.ssl.truststore.password'],
    'ssl.keystore.location': config['database.ssl.keystore'],
    'ssl.keystore.password': config['database.ssl.keystore.password'],
  }
  return {
    hosts: parseHosts(config['database.hostname'], config['database.port']),
    socketPath: undefined,
    database: undefined,
    user: undefined,
    password: undefined,
    sslMode: MODES[config['database.ssl.mode']],
    certificates: Object.fromEntries(Object.entries(certificates).filter(([, value]) => value !== undefined)),
    allowsPublicKeyRetrieval: config['driver.allowPublicKeyRetrieval'],
    connectTimeoutMs: config['connect.timeout.ms'],
    queryTimeoutMs: 0,
    sessionVariables: '',
    zeroDates: 'null',
    isYearDate: false,
    isTinyintBoolean: false,
    ignored: [],
  }
}
