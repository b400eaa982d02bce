import { apicurioPart } from './apicurio.ts'
import { chromiumPart } from './chromium.ts'
import { debeziumPart } from './debezium.ts'
import { goProgramPart, helm, kubectl, versitygw } from './go-program.ts'
import { imagePart } from './image.ts'
import { javaAvroPart } from './java-avro.ts'
import { javaConnectPart } from './java-connect.ts'
import { javaHostPart } from './java-host.ts'
import { javaPluginsPart } from './java-plugins.ts'
import { javascriptClientsPart } from './javascript-clients.ts'
import { kafkaPart } from './kafka.ts'
import { kubernetesPart } from './kubernetes.ts'
import { mariadbPart } from './mariadb.ts'
import { mavenPluginPart } from './maven-plugin.ts'
import { mosquittoPart } from './mosquitto.ts'
import { nodeToolsPart } from './node-tools.ts'
import { opensearchPart } from './opensearch.ts'
import type { AddressOf } from './part.ts'
import { postgresPart } from './postgres.ts'
import { postgres18Part } from './postgres-18.ts'
import { preCommitPart } from './pre-commit.ts'
import { prometheusPart } from './prometheus.ts'
import { pyicebergPart } from './pyiceberg.ts'
import { pythonClientsPart } from './python-clients.ts'
import { pythonPart } from './python-packages.ts'
import { reportSchemasPart } from './report-schemas.ts'
import { sandboxPart } from './sandbox.ts'
import { shellsPart } from './shells.ts'

const kafka = kafkaPart('kafka', '4.3.1', 'KAFKA_BOOTSTRAP')

/** All parts that tests can request. A new part is a module like `kafka.ts` and a line here. */
export const parts = {
  kafka,
  kafka3: kafkaPart('kafka3', '3.9.2', 'KAFKA3_BOOTSTRAP'),
  kafka33: kafkaPart('kafka33', '3.3.2', 'KAFKA33_BOOTSTRAP'),
  kafka40: kafkaPart('kafka40', '4.0.2', 'KAFKA40_BOOTSTRAP'),
  kafka41: kafkaPart('kafka41', '4.1.2', 'KAFKA41_BOOTSTRAP'),
  kafka44: kafkaPart('kafka44', '4.4.0', 'KAFKA44_BOOTSTRAP'),
  javaConnect: javaConnectPart('javaConnect', kafka),
  apicurio: apicurioPart('apicurio'),
  python: pythonPart,
  pythonClients: pythonClientsPart('pythonClients'),
  javascriptClients: javascriptClientsPart('javascriptClients'),
  postgres: postgresPart('postgres'),
  postgres18: postgres18Part('postgres18'),
  mariadb: mariadbPart('mariadb'),
  shells: shellsPart('shells'),
  opensearch: opensearchPart('opensearch'),
  mosquitto: mosquittoPart('mosquitto'),
  chromium: chromiumPart('chromium'),
  kubernetes: kubernetesPart('kubernetes'),
  prometheus: prometheusPart('prometheus'),
  javaAvro: javaAvroPart('javaAvro'),
  javaPlugins: javaPluginsPart('javaPlugins'),
  javaHost: javaHostPart('javaHost'),
  fileStream: mavenPluginPart('fileStream', { plugins: [['org.apache.kafka', 'connect-file', '4.3.1']] }),
  kafkaTestPlugins: mavenPluginPart('kafkaTestPlugins', {
    plugins: [['org.apache.kafka', 'connect-test-plugins', '4.3.1']],
  }),
  iceberg: mavenPluginPart('iceberg', {
    plugins: [['org.apache.iceberg', 'iceberg-kafka-connect', '1.12.0']],
    // The archive that Iceberg builds of the sink, which is not in Maven Central, has the file formats and Hadoop, too.
    extras: [
      ['org.apache.iceberg', 'iceberg-parquet', '1.12.0'],
      ['org.apache.iceberg', 'iceberg-orc', '1.12.0'],
      ['org.apache.hadoop', 'hadoop-client-api', '3.4.2'],
      ['org.apache.hadoop', 'hadoop-client-runtime', '3.4.2'],
      ['commons-logging', 'commons-logging', '1.3.0'],
    ],
  }),
  icebergTransforms: mavenPluginPart('icebergTransforms', {
    plugins: [['org.apache.iceberg', 'iceberg-kafka-connect-transforms', '1.12.0']],
  }),
  pyiceberg: pyicebergPart('pyiceberg'),
  mirrorMaker: mavenPluginPart('mirrorMaker', { plugins: [['org.apache.kafka', 'connect-mirror', '4.3.1']] }),
  camel: mavenPluginPart('camel', {
    plugins: [
      ['org.apache.camel.kafkaconnector', 'camel-kafka-connector', '0.11.0'],
      ['org.apache.camel.kafkaconnector', 'camel-timer-kafka-connector', '0.7.2'],
    ],
    // Components of Camel, which the connectors of the first plugin find by their URLs.
    extras: [
      ['org.apache.camel', 'camel-file', '3.11.1'],
      ['org.apache.camel', 'camel-cluster', '3.11.1'],
      ['org.apache.camel', 'camel-netty', '3.11.1'],
      ['commons-pool', 'commons-pool', '1.6'],
      ...['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'].map(
        (module) => ['io.netty', `netty-${module}`, '4.1.63.Final'] as const,
      ),
      ['io.netty', 'netty-transport-native-epoll', '4.1.63.Final'],
      ['io.netty', 'netty-transport-native-unix-common', '4.1.63.Final'],
    ],
  }),
  debezium: debeziumPart('debezium'),
  helm: goProgramPart('helm', helm, 'HELM_BINARY'),
  kubectl: goProgramPart('kubectl', kubectl, 'KUBECTL_BINARY'),
  versitygw: goProgramPart('versitygw', versitygw, 'VERSITYGW_BINARY'),
  preCommit: preCommitPart('preCommit'),
  reportSchemas: reportSchemasPart('reportSchemas'),
  sandbox: sandboxPart('sandbox'),
  image: imagePart('image'),
  nodeTools: nodeToolsPart('nodeTools'),
}

export type PartName = keyof typeof parts
export type Address<Name extends PartName> = AddressOf<(typeof parts)[Name]>
