/** Maven artifacts of connectors by a part of their class name, in the versions with which they are tested or documented. */
const ARTIFACTS: Readonly<Record<string, string>> = {
  'io.debezium.connector.mysql.': 'io.debezium:debezium-connector-mysql:3.4.0.Final',
  'io.debezium.connector.mariadb.': 'io.debezium:debezium-connector-mariadb:3.4.0.Final',
  'io.debezium.connector.postgresql.': 'io.debezium:debezium-connector-postgres:3.4.0.Final',
  'io.debezium.connector.sqlserver.': 'io.debezium:debezium-connector-sqlserver:3.4.0.Final',
  'io.debezium.connector.oracle.': 'io.debezium:debezium-connector-oracle:3.4.0.Final',
  'io.debezium.connector.mongodb.': 'io.debezium:debezium-connector-mongodb:3.4.0.Final',
  'io.debezium.connector.db2.': 'io.debezium:debezium-connector-db2:3.4.0.Final',
  'io.debezium.connector.jdbc.': 'io.debezium:debezium-connector-jdbc:3.4.0.Final',
  'org.apache.kafka.connect.mirror.': 'org.apache.kafka:connect-mirror:4.3.1',
  'org.apache.iceberg.connect.': 'org.apache.iceberg:iceberg-kafka-connect:1.12.0',
}

/** The command that installs the plugin with this class; its coordinates are a placeholder if they are not known. */
export function installCommand(className: string): string {
  const prefix = Object.keys(ARTIFACTS).find((known) => className.startsWith(known))
  return `weir plugins install ${prefix === undefined ? 'GROUP:ARTIFACT:VERSION' : ARTIFACTS[prefix]} --plugin-path DIR`
}
