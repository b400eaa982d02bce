import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { convertTexts } from '../../support/conversion.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

// Each has the fields of an example that its system publishes, with other names and texts.

const STRIMZI = `# examples/connect/source-connector.yaml of strimzi/strimzi-kafka-operator, with a second document that other examples have
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: license-source
  labels:
    # names the KafkaConnect resource
    strimzi.io/cluster: shop-connect
spec:
  class: org.apache.kafka.connect.file.FileStreamSourceConnector
  tasksMax: 2
  config:
    file: "/opt/kafka/LICENSE"
    topic: license
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata:
  name: shop-connect
  annotations:
    strimzi.io/use-connector-resources: "true"
spec:
  version: 4.1.0
  replicas: 1
  bootstrapServers: shop-kafka-bootstrap:9093
`

const STRIMZI_DEBEZIUM = `# the connector of Debezium's documentation for Kubernetes, with autoRestart, which Strimzi's API reference has
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: inventory
  labels:
    strimzi.io/cluster: debezium
spec:
  class: io.debezium.connector.mysql.MySqlConnector
  tasksMax: 1
  autoRestart:
    enabled: true
    maxRestarts: 10
  config:
    tasks.max: 1
    database.hostname: mysql
    database.port: 3306
    database.user: \${secrets:shop/debezium:username}
    database.password: \${secrets:shop/debezium:password}
    database.server.id: 184054
    topic.prefix: mysql
    database.include.list: inventory
    schema.history.internal.kafka.bootstrap.servers: shop-kafka-bootstrap:9092
    schema.history.internal.kafka.topic: schema-changes.inventory
`

const JIKKOU_CONNECTOR = `---
apiVersion: "kafka.jikkou.io/v1beta1"
kind: "KafkaConnector"
metadata:
  # The name of the connector
  name: "file-sink"
  labels:
    kafka.jikkou.io/connect-cluster: "shop-connect"
spec:
  connectorClass: "FileStreamSink"
  tasksMax: 1
  config:
    file: "/tmp/sink.txt"
    topics: "connect-test"
  state: "RUNNING"
`

const jikkouSubject = (name: string, schema: string) => `---
apiVersion: "schemaregistry.jikkou.io/v1"
kind: "SchemaRegistrySubject"
metadata:
  name: "${name}"
  labels: { }
  annotations:
    schemaregistry.jikkou.io/normalize-schema: true
spec:
#  compatibilityLevel: "FULL_TRANSITIVE"
  schemaType: "JSON"
  schema:${schema}
`

const REDPANDA = `apiVersion: cluster.redpanda.com/v1alpha2
kind: Schema
metadata:
  name: order-event
  namespace: shop
spec:
  cluster:
    clusterRef:
      name: redpanda
  references:
    - name: product
      subject: product
      version: 1
  text: |
    {"type": "record", "name": "OrderEvent", "fields": [{"name": "product", "type": "product"}]}
---
apiVersion: cluster.redpanda.com/v1alpha2
kind: Schema
metadata:
  name: product
  namespace: shop
spec:
  cluster:
    clusterRef:
      name: redpanda
  schemaType: avro
  compatibilityLevel: Backward
  text: |
    {"type": "record", "name": "product", "fields": [{"type": "string", "name": "sku"}]}
---
apiVersion: cluster.redpanda.com/v1alpha2
kind: Topic
metadata:
  name: orders
spec:
  partitions: 3
  cluster:
    clusterRef:
      name: redpanda
`

describe('a published example', () => {
  it('of Strimzi becomes a Connector, and the worker cluster beside it is reported at its line', () => {
    const { manifests, findings } = convertTexts({ 'source-connector.yaml': STRIMZI })
    expect(manifests).toEqual([
      {
        apiVersion: API_VERSION,
        kind: 'Connector',
        metadata: { name: 'license-source' },
        spec: {
          workerRef: { name: 'shop-connect' },
          class: 'org.apache.kafka.connect.file.FileStreamSourceConnector',
          tasksMax: 2,
          // Strimzi restarts no task unless autoRestart is enabled.
          autoRestart: { enabled: false },
          config: { file: '/opt/kafka/LICENSE', topic: 'license' },
        },
      },
    ])
    expect(findings).toEqual([
      expect.stringMatching(
        /^source-connector\.yaml:17: kind: KafkaConnect shop-connect .* cannot be converted: declare/,
      ),
    ])
  })

  it('of Strimzi with Debezium keeps the references to a Secret, and loses nothing', () => {
    const { spec, secrets, findings } = convertTexts({ 'inventory.yaml': STRIMZI_DEBEZIUM })
    expect(spec).toMatchObject({
      class: 'io.debezium.connector.mysql.MySqlConnector',
      tasksMax: 1,
      autoRestart: { enabled: true, maxRestarts: 10 },
    })
    expect(spec['config']).toEqual({
      'database.hostname': 'mysql',
      'database.port': '3306',
      'database.user': '${secrets:shop/debezium:username}',
      'database.password': '${secrets:shop/debezium:password}',
      'database.server.id': '184054',
      'topic.prefix': 'mysql',
      'database.include.list': 'inventory',
      'schema.history.internal.kafka.bootstrap.servers': 'shop-kafka-bootstrap:9092',
      'schema.history.internal.kafka.topic': 'schema-changes.inventory',
    })
    expect([secrets, findings]).toEqual([[], []])
  })

  it('of Jikkou becomes a Connector, and loses nothing', () => {
    const { manifests, findings } = convertTexts({ 'connector.yaml': JIKKOU_CONNECTOR })
    expect(manifests).toMatchObject([
      {
        metadata: { name: 'file-sink' },
        spec: {
          workerRef: { name: 'shop-connect' },
          class: 'FileStreamSink',
          tasksMax: 1,
          state: 'Running',
          config: { file: '/tmp/sink.txt', topics: 'connect-test' },
        },
      },
    ])
    expect(findings).toEqual([])
  })

  it('of Jikkou becomes a Subject, from its text or from a file, and a template is reported at its line', () => {
    const root = temporaryDirectory()
    writeFileSync(join(root, 'person.json'), '{"type": "object"}')
    const { manifests, findings } = convertTexts(
      {
        'text.yaml': jikkouSubject('PersonJson', ' |\n    {\n    \t"type": "object"\n    }'),
        'file.yaml': jikkouSubject('PersonFile', '\n    $ref: ./person.json'),
        'template.yaml': jikkouSubject('PersonTemplate', '\n    $ref: {{ resource.directoryPath }}/person.json'),
      },
      { root },
    )
    const common = { schemaType: 'JSON', normalize: true }
    expect(manifests.map(({ spec }) => spec)).toEqual([
      { ...common, subject: 'PersonJson', schema: '{\n\t"type": "object"\n}\n' },
      { ...common, subject: 'PersonFile', schema: '{"type": "object"}' },
    ])
    expect(findings).toEqual([expect.stringMatching(/^template\.yaml:13: .*template: convert the rendered manifests$/)])
  })

  it('of Redpanda becomes Subjects that refer to each other, and a Topic is reported at its line', () => {
    const { manifests, findings } = convertTexts({ 'schemas.yaml': REDPANDA })
    const common = { registryRef: { name: 'redpanda' }, compatibility: 'BACKWARD' }
    expect(manifests).toMatchObject([
      {
        metadata: { name: 'order-event', namespace: 'shop' },
        spec: { ...common, references: [{ name: 'product', subjectRef: { name: 'product' }, version: 1 }] },
      },
      { metadata: { name: 'product', namespace: 'shop' }, spec: { ...common, schemaType: 'AVRO' } },
    ])
    expect(findings).toEqual([
      expect.stringMatching(/^schemas\.yaml:32: kind: Topic orders .* cannot be converted: it has no counterpart/),
    ])
  })
})
