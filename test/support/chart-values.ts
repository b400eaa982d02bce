/** Typical chart values, from the minimum to all of them. A real API server validates what each renders to. */
export const KAFKA = { kafka: { bootstrapServers: 'kafka-0:9092,kafka-1:9092' } }

const LOGGED_IN = {
  kafka: {
    bootstrapServers: 'kafka:9093',
    properties: { 'request.timeout.ms': '20000' },
    tls: { enabled: true, caSecretName: 'kafka-ca', secretName: 'kafka-user' },
    sasl: { mechanism: 'SCRAM-SHA-512', secretName: 'kafka-user' },
  },
}

const PLUGINS = {
  npm: { packages: ['@acme/weir-plugin@1.2.3', 'other@2.0.0'], npmrcSecretName: 'npmrc' },
  configMaps: ['my-plugins'],
  images: [{ reference: 'registry.example/plugin:1', pullPolicy: 'Always' }, { reference: 'registry.example/other:2' }],
  claims: ['my-jars'],
}

const JAVA_PLUGINS = {
  maven: { artifacts: ['io.debezium:debezium-connector-postgres:3.4.0.Final', 'org.example:other:1'] },
  images: [{ reference: 'registry.example/jars:1' }],
}

const EVERYTHING = {
  ...LOGGED_IN,
  runtimes: 'Separate',
  fullnameOverride: 'streams',
  watchNamespaces: ['weir', 'shop'],
  commonLabels: { team: 'data' },
  image: { digest: `sha256:${'0a'.repeat(32)}`, pullSecrets: ['pull'] },
  pods: {
    annotations: { note: 'all' },
    labels: { tier: 'streams' },
    nodeSelector: { pool: 'small' },
    tolerations: [{ key: 'streams', operator: 'Exists', effect: 'NoSchedule' }],
    priorityClassName: 'system-cluster-critical',
  },
  operator: {
    replicas: 2,
    instance: 'prod',
    offsetsExport: true,
    watchSecrets: true,
    allowInlineSecrets: true,
    secrets: ['java-connect'],
    workers: [
      {
        name: 'java',
        url: 'https://connect:8083',
        auth: { type: 'bearer', tokenFile: '/etc/weir/secrets/java-connect/token' },
        allowedNamespaces: { from: 'List', names: ['shop'] },
        protectedNames: ['mirror-*'],
      },
    ],
    registries: [
      {
        name: 'confluent',
        url: 'http://registry:8081',
        allowedNamespaces: { from: 'Selector', selector: { matchLabels: { team: 'shop' } } },
        subjectPrefixes: { shop: ['shop-'] },
      },
    ],
  },
  registry: {
    replicas: 3,
    properties: { 'schema.compatibility.level': 'FULL' },
    tls: { secretName: 'registry-tls' },
    users: { secretName: 'registry-users' },
    oidc: { issuer: 'https://issuer.example', audience: 'weir' },
    permissions: { configMapName: 'permissions' },
    audit: { enabled: true },
    service: { type: 'LoadBalancer', annotations: { note: 'outside' } },
    autoscaling: { kind: 'HPA', minReplicas: 3, maxReplicas: 5 },
  },
  worker: {
    tls: { secretName: 'worker-tls' },
    users: { secretName: 'worker-users' },
    secretNamespaces: ['shop'],
    plugins: { ...PLUGINS, maven: { ...JAVA_PLUGINS.maven, repositorySecretName: 'maven' } },
    java: { enabled: true, digest: `sha256:${'1b'.repeat(32)}`, locations: 3, heapMebibytes: 512 },
    autoscaling: { kind: 'KEDA', lag: [{ connector: 'orders', topic: 'orders', records: 10_000 }] },
    env: [{ name: 'REGION', value: 'eu' }],
    volumes: [{ name: 'scratch', emptyDir: {} }],
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
    pod: {
      nodeSelector: { pool: 'big' },
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'rack',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
        },
      ],
    },
    serviceAccountAnnotations: { role: 'writes-to-s3' },
  },
  webhook: { certificates: 'CertManager', issuerRef: { name: 'corporate', kind: 'ClusterIssuer' } },
  console: { enabled: true, tlsSecretName: 'console-tls' },
  networkPolicy: {
    enabled: true,
    consoleFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    registryFrom: [{ namespaceSelector: { matchLabels: { streams: 'allowed' } } }],
    monitoringFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    egress: [{ ports: [{ port: 8443 }], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  monitoring: {
    labels: { release: 'prometheus' },
    alerts: { expectedConnectors: 2, expectedTasks: 8 },
    dashboards: { enabled: true },
  },
  argocd: { enabled: true },
}

export const VALID_VALUES: Readonly<Record<string, object>> = {
  'the least': KAFKA,
  'no Kafka at all': { kafka: { embedded: { enabled: true } } },
  'no Kafka, on a volume': {
    kafka: { embedded: { enabled: true, size: '1Gi', storageClassName: 'fast', fsync: 'commit' } },
  },
  'all namespaces': { ...KAFKA, watchNamespaces: ['*'], worker: { secretNamespaces: ['*'] } },
  'embedded runtimes on three replicas': { ...LOGGED_IN, operator: { replicas: 3 }, worker: { plugins: PLUGINS } },
  'embedded runtimes with Java': {
    ...KAFKA,
    worker: { plugins: JAVA_PLUGINS, java: { enabled: true } },
  },
  'embedded runtimes behind network policies': { ...KAFKA, networkPolicy: { enabled: true } },
  'separate runtimes': { ...KAFKA, runtimes: 'Separate' },
  'separate runtimes that log in to Kafka': { ...LOGGED_IN, runtimes: 'Separate' },
  'a Kafka and a user of Strimzi': {
    kafka: { kafkaRef: { name: 'estate', namespace: 'shop', listener: 'tls' }, userRef: { name: 'weir' } },
    runtimes: 'Separate',
    networkPolicy: { enabled: true },
  },
  'embedded runtimes with a Kafka of Strimzi': {
    kafka: { kafkaRef: { name: 'estate' }, userRef: { name: 'weir', namespace: 'shop', secretName: 'strimzi-weir' } },
  },
  'workers for a registry that is there': {
    ...KAFKA,
    runtimes: 'Separate',
    registry: { enabled: false },
    operator: { registries: [{ name: 'default', url: 'http://confluent:8081' }] },
    worker: { autoscaling: { kind: 'HPA' } },
  },
  'workers that KEDA scales by a Kafka with TLS alone': {
    kafka: { bootstrapServers: 'kafka:9093', tls: { enabled: true } },
    runtimes: 'Separate',
    worker: { autoscaling: { kind: 'KEDA', lag: [{ connector: 'orders', topic: 'orders', records: 10_000 }] } },
  },
  'an operator alone': {
    runtimes: 'Separate',
    registry: { enabled: false },
    worker: { enabled: false },
    operator: {
      workers: [{ name: 'default', url: 'http://connect:8083' }],
      registries: [{ name: 'default', url: 'http://confluent:8081' }],
    },
  },
  'runtimes that take tokens': {
    ...KAFKA,
    runtimes: 'Separate',
    registry: { oidc: { issuer: 'https://issuer.example', audience: 'weir', tokenSecretName: 'registry-token' } },
    worker: {
      oidc: { issuer: 'https://issuer.example', audience: 'weir', tokenSecretName: 'worker-token' },
      permissions: { configMapName: 'permissions' },
    },
  },
  'no webhook': { ...KAFKA, webhook: { enabled: false }, monitoring: { enabled: false }, crds: { enabled: false } },
  'a certificate of an existing CertManager issuer': { ...KAFKA, webhook: { certificates: 'CertManager' } },
  'a console, and no webhook': { ...KAFKA, console: { enabled: true }, webhook: { enabled: false } },
  'a console for everybody who reaches it': { ...KAFKA, console: { enabled: true, anonymous: true } },
  'a certificate from a Secret': { ...KAFKA, webhook: { certificates: 'Secret', secretName: 'mine' } },
  everything: EVERYTHING,
}

/** Values that the chart rejects, and a part of the error message. */
export const INVALID_VALUES: readonly (readonly [object, RegExp])[] = [
  [{}, /kafka.bootstrapServers is empty/],
  [{ ...KAFKA, replicas: 3 }, /additional properties 'replicas' not allowed/],
  [{ ...KAFKA, operator: { replica: 3 } }, /additional properties 'replica' not allowed/],
  [{ ...KAFKA, worker: { plugins: { npm: { packages: ['no-version'] } } } }, /does not match pattern/],
  [{ ...KAFKA, worker: { plugins: { maven: { artifacts: ['a:b'] } } } }, /does not match pattern/],
  [{ ...KAFKA, worker: { plugins: { maven: { repository: 'https://u:p@host' } } } }, /does not match pattern/],
  [{ ...KAFKA, worker: { plugins: { maven: { artifacts: ['a:b:1'] } } } }, /needs worker.java.enabled=true/],
  [
    { ...KAFKA, image: { digest: `sha256:${'0'.repeat(64)}` }, worker: { java: { enabled: true } } },
    /needs worker.java.digest/,
  ],
  [
    {
      ...KAFKA,
      runtimes: 'Separate',
      worker: { java: { enabled: true }, resources: { limits: { memory: '1e9' } } },
    },
    /the memory 1e9 is not a number/,
  ],
  [{ ...KAFKA, operator: { workers: [{ name: 'java', url: 'connect:8083' }] } }, /does not match pattern/],
  [{ ...KAFKA, watchNamespaces: 'shop' }, /want array/],
  [{ ...KAFKA, console: { anonymous: true } }, /console.anonymous=true needs console.enabled=true/],
  [{ ...KAFKA, runtimes: 'Both' }, /must be one of/],
  [{ ...KAFKA, registry: { enabled: false } }, /set runtimes=Separate/],
  [{ ...KAFKA, registry: { tls: { secretName: 'x' } } }, /need runtimes=Separate/],
  [{ ...KAFKA, worker: { audit: { enabled: true } } }, /need runtimes=Separate/],
  [{ ...KAFKA, runtimes: 'Separate', registry: { oidc: { issuer: 'http://issuer' } } }, /does not match pattern/],
  [{ ...KAFKA, runtimes: 'Separate', registry: { oidc: { issuer: 'https://i' } } }, /needs registry.oidc.audience/],
  [
    { ...KAFKA, runtimes: 'Separate', worker: { oidc: { issuer: 'https://i', audience: 'weir' } } },
    /needs worker.oidc.tokenSecretName/,
  ],
  [{ ...KAFKA, runtimes: 'Separate', worker: { permissions: { configMapName: 'p' } } }, /needs worker.users or/],
  [{ runtimes: 'Separate' }, /kafka.bootstrapServers is empty/],
  [{ ...KAFKA, operator: { allowInlineSecrets: true } }, /needs operator.watchSecrets/],
  [{ runtimes: 'Separate', kafka: { embedded: { enabled: true } } }, /needs runtimes=Embedded/],
  [{ kafka: { embedded: { enabled: true } }, operator: { replicas: 2 } }, /needs operator.replicas=1/],
  [{ kafka: { bootstrapServers: 'k:9092', embedded: { enabled: true } } }, /set only one of them/],
  [{ kafka: { bootstrapServers: 'k:9092', sasl: { mechanism: 'PLAIN' } } }, /needs kafka.sasl.secretName/],
  [{ kafka: { bootstrapServers: 'k:9092', kafkaRef: { name: 'estate' } } }, /excludes kafka.bootstrapServers/],
  [{ kafka: { bootstrapServers: 'k:9092', userRef: { name: 'weir' } } }, /needs kafka.kafkaRef/],
  [{ ...KAFKA, webhook: { certificates: 'Secret' } }, /needs webhook.secretName/],
  [{ ...KAFKA, runtimes: 'Separate', worker: { autoscaling: { kind: 'KEDA' } } }, /needs worker.autoscaling.lag/],
  [
    {
      ...{ ...KAFKA, runtimes: 'Separate' },
      registry: { autoscaling: { kind: 'HPA' }, resources: { requests: { cpu: null } } },
    },
    /HPA needs registry.resources.requests.cpu/,
  ],
]
