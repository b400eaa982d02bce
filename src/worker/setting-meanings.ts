import { ACCESS_CONTROL_DESCRIPTIONS } from '../http/access-control-settings.ts'
import { AUDIT_LOG_DESCRIPTIONS } from '../http/audit-log-settings.ts'
import { HTTP_LIMIT_DESCRIPTIONS } from '../http/limits.ts'
import type { WorkerSettings } from './settings.ts'

/** What each setting of a worker means, for its page in docs/config. */
export const WORKER_SETTING_MEANINGS: Readonly<Record<keyof WorkerSettings['values'], string>> = {
  'bootstrap.servers': 'Brokers of the Kafka cluster, `HOST:PORT,…`; `--bootstrap` names them, too.',
  'client.id': 'Name of this worker before the brokers. None: its address.',
  'group.id': 'Workers of one name share their connectors.',
  'session.timeout.ms': 'How long a worker may be silent before its work is given to others.',
  'rebalance.timeout.ms': 'How long workers may take to join when work is shared anew.',
  'heartbeat.interval.ms': 'How often a worker tells that it is alive; a third of the session is usual.',
  'connect.protocol': '`sessioned` signs what workers tell each other, `compatible` does not.',
  'scheduled.rebalance.max.delay.ms': 'How long the work of a lost worker waits for its return.',
  'exactly.once.source.support': 'Whether sources write records and offsets in one transaction.',
  'inter.worker.key.ttl.ms': 'How long the key that signs requests between workers is used; 0: for ever.',
  'inter.worker.key.generation.algorithm': 'What that key is made for.',
  'inter.worker.key.size': 'Its length in bits. None: what fits the algorithm.',
  'inter.worker.signature.algorithm': 'What requests between workers are signed with.',
  'inter.worker.verification.algorithms': 'What their signatures may be made with.',
  'inter.worker.requests.unsigned':
    'Whether unsigned requests between workers are taken where `authentication.method` asks for a log-in; without a log-in `connect.protocol` decides alone.',
  'config.storage.topic': 'Topic of connectors and their tasks; one partition.',
  'config.storage.replication.factor': 'Its copies when it is made. None or -1: as the brokers have it.',
  'offset.storage.topic': 'Topic of how far sources are.',
  'offset.storage.partitions': 'Its partitions when it is made; -1: as the brokers have it.',
  'offset.storage.replication.factor': 'Its copies when it is made. None or -1: as the brokers have it.',
  'status.storage.topic': 'Topic of how connectors and tasks are.',
  'status.storage.partitions': 'Its partitions when it is made; -1: as the brokers have it.',
  'status.storage.replication.factor': 'Its copies when it is made. None or -1: as the brokers have it.',
  'storage.topics.skip.validation':
    'Starts although a storage topic has lost its beginning, or is empty although it had records: what is lost is given up.',
  'key.converter': 'Converter of keys, where a connector names none; its settings begin with `key.converter.`.',
  'value.converter': 'Converter of values, where a connector names none; its settings begin with `value.converter.`.',
  'header.converter': 'Converter of headers, where a connector names none.',
  'task.shutdown.graceful.timeout.ms':
    'How long a task may take to stop. Then its thread is ended; tasks beside it move to another one.',
  'offset.flush.interval.ms': 'How often tasks commit.',
  'offset.flush.timeout.ms': 'How long a commit may take.',
  'topic.creation.enable': 'Whether topics of sources are made when they are missing.',
  'topic.tracking.enable': 'Whether the topics of a connector are kept for `GET /connectors/NAME/topics`.',
  'topic.tracking.allow.reset': 'Whether that list may be emptied.',
  'connector.client.config.override.policy':
    'Which settings of its Kafka clients a connector may choose: `All`, `None`, `Principal` or `Allowlist`.',
  'connector.client.config.override.allowlist': 'Those that `Allowlist` allows.',
  'plugin.path': 'Plugins beside the shipped ones: modules, npm packages and folders of them.',
  'plugin.discovery':
    'How Java plugins are found on `plugin.path`: `hybrid_warn`, `hybrid_fail`, `only_scan` or `service_load`, as in Kafka Connect.',
  'java.home': 'Directory of the Java (17 or newer) that runs Java plugins. None: `JAVA_HOME`, else `java` on `PATH`.',
  'java.host.directory': 'Directory with the jars of the Java host. None: the one of this release.',
  'java.host.heap.max': 'Heap limit of each JVM, one per location of Java plugins, as `-Xmx` takes it.',
  'java.host.options': 'Further options of each JVM, separated by spaces.',
  'java.host.idle.ms': 'How long the JVM of a location is kept when no task or connector uses it.',
  'connector.classes.allowed':
    'Connectors that may be used, by any of their names; `*` stands for any text. None: all of them.',
  'connector.classes.denied': 'Connectors that may not be used, though they are allowed.',
  'connector.paths.allowed':
    'Files and directories that connectors may use, as absolute paths; `/` for all. Not set: none where users have to log in, otherwise all.',
  'connector.urls.allowed':
    'Where connectors may connect to: `HOST`, `HOST:PORT`, `SCHEME://HOST`, `ADDRESS/BITS` or a group: `loopback`, `link-local`, `metadata`, `private`. Not set: wherever it is not denied.',
  'connector.urls.denied':
    'Where connectors may not connect to, though it is allowed; `!` before an entry makes an exception. Not set: `loopback,link-local,metadata` where users have to log in, otherwise nothing.',
  'connector.listeners.allowed':
    'Where connectors may listen: `HOST:PORT`, `*` for any. Not set: anywhere but at ports of the worker.',
  'worker.config.reload.ms':
    'How often placeholders of running connectors are looked up again, to restart those with other values; 0: never.',
  'worker.plugin.timeout.ms':
    'How long a plugin may take to check a configuration, to make the configurations of tasks, or to read values.',
  'worker.plugin.load.timeout.ms': 'How long a module of `plugin.path` may take to load before it is left out.',
  'worker.plugin.memory.mb':
    'How much memory the code of a module of plugins may take outside of tasks: on the JavaScript heap and, with 96 MB for the engine, outside of it.',
  'worker.threads':
    'How many threads tasks share, each in a process of its own. None: as many as there are processors.',
  'worker.thread.memory.mb':
    'How much memory the tasks of one thread may take: on the JavaScript heap and, with 96 MB for the engine, outside of it.',
  'worker.thread.blocked.max.ms': 'How long the code of a task or of a plugin may block its thread before it fails.',
  'worker.task.start.timeout.ms': 'How long a task may take until it runs, before it fails.',
  'worker.task.log.lines.per.second':
    'How many lines of each level a task may log, on average; ten seconds of it at once. The rest is dropped and counted.',
  'worker.task.log.bytes.per.second': 'How many bytes of each level a task may log, in the same way.',
  'http.body.bytes.max':
    'Largest body of a request, in bytes. A configuration that Kafka takes is smaller; tasks that another worker sends come in one body.',
  ...HTTP_LIMIT_DESCRIPTIONS,
  listeners: 'Where the worker answers: `http://HOST:PORT` or `https://HOST:PORT`.',
  'rest.advertised.host.name': 'Name or address by which other workers reach this one.',
  'rest.advertised.port': 'Port by which they do.',
  'rest.advertised.listener': 'Which listener they use.',
  'access.control.allow.origin': 'Web pages that may call the worker: `*` or origins. None: no page.',
  'access.control.allow.methods': 'What such pages may do. None: GET, POST and HEAD.',
  'admin.listeners': 'Where loggers are set; empty: nowhere. Not set: where everything else is asked.',
  'response.http.headers.config':
    'Headers of all answers: `set NAME: VALUE`, `add NAME: VALUE`, `setDate NAME`, by commas.',
  'authentication.realm': 'What is asked for is called so.',
  ...ACCESS_CONTROL_DESCRIPTIONS,
  ...AUDIT_LOG_DESCRIPTIONS,
  'weir.config.masking':
    'Before whom secrets that are written in configurations are masked: `readonly`, who may not write them, or `always`. Placeholders are shown.',
  'rest.extension.classes': 'Refused: extensions are Java classes; `authentication.method=BASIC` asks for a log-in.',
}
