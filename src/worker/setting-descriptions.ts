import { CONSOLE_DESCRIPTIONS } from '../console/console-settings.ts'
import { ACCESS_CONTROL_DESCRIPTIONS } from '../http/access-control-settings.ts'
import { AUDIT_LOG_DESCRIPTIONS } from '../http/audit-log-settings.ts'
import { HTTP_LIMIT_DESCRIPTIONS } from '../http/limit-settings.ts'
import type { WorkerSettings } from './settings.ts'

/** The description of each worker setting, for its page in docs/config. */
export const WORKER_SETTING_DESCRIPTIONS: Readonly<Record<keyof WorkerSettings['values'], string>> = {
  'bootstrap.servers': 'Brokers of the Kafka cluster: `HOST:PORT,…`. `--bootstrap` sets it as well.',
  'client.id': 'Client id of this worker in the logs and quotas of the brokers. Default: its advertised address.',
  'group.id': 'Name of the worker cluster. Workers with the same name share connectors and tasks.',
  'session.timeout.ms':
    'A worker that sends no heartbeat for this time is removed from the group, and its work is reassigned.',
  'rebalance.timeout.ms': 'Time that each worker has to join the group after a rebalance has begun.',
  'worker.sync.timeout.ms':
    'How long a rebalance waits for a worker that has not read all configurations. The worker starts no work until it has.',
  'heartbeat.interval.ms': 'Interval of heartbeats to the group coordinator. Usually a third of `session.timeout.ms`.',
  'connect.protocol':
    'Group protocol. `sessioned`: requests between workers are signed. `compatible`: they are not signed.',
  'scheduled.rebalance.max.delay.ms':
    'How long the connectors and tasks of a lost worker wait for its return before they are reassigned.',
  'exactly.once.source.support':
    'Whether source tasks write records and offsets in one transaction. To enable it in a running cluster, first set `preparing` on all workers.',
  'inter.worker.key.ttl.ms': 'How often the key that signs requests between workers is rotated. 0: never.',
  'inter.worker.key.generation.algorithm': 'Algorithm that generates the key.',
  'inter.worker.key.size': 'Length of the key in bits. Default: the length that fits the algorithm.',
  'inter.worker.signature.algorithm': 'Algorithm that signs requests to other workers.',
  'inter.worker.verification.algorithms': 'Algorithms that are accepted in signatures of other workers.',
  'inter.worker.requests.unsigned':
    'Whether unsigned requests of other workers are accepted (`allow`) although `authentication.method` requires authentication. Without authentication, `connect.protocol` alone decides.',
  'config.storage.topic': 'Topic that stores connector and task configurations. It has one partition.',
  'config.storage.replication.factor':
    'Replication factor with which the topic is created. -1: the default of the brokers. The worker does not start with fewer brokers, unless the topic exists. The embedded broker keeps one copy.',
  'offset.storage.topic': 'Topic that stores the offsets of source connectors.',
  'offset.storage.partitions': 'Number of partitions with which the topic is created. -1: the default of the brokers.',
  'offset.storage.replication.factor':
    'Replication factor with which the topic is created. -1: the default of the brokers. The worker does not start with fewer brokers, unless the topic exists. The embedded broker keeps one copy.',
  'status.storage.topic': 'Topic that stores the statuses of connectors and tasks.',
  'status.storage.partitions': 'Number of partitions with which the topic is created. -1: the default of the brokers.',
  'status.storage.replication.factor':
    'Replication factor with which the topic is created. -1: the default of the brokers. The worker does not start with fewer brokers, unless the topic exists. The embedded broker keeps one copy.',
  'internal.topics.automatic.creation.enable':
    'Creates the storage topics that are missing. Without it, they must exist, or the worker does not start.',
  'storage.topics.skip.validation':
    'Starts the worker although a storage topic has lost its first records, or is empty although it had records. The lost records are not recovered.',
  'key.converter':
    'Converter of keys, for connectors that configure none. Its own settings begin with `key.converter.`. `weir up`, `weir operator` and the chart set `StringConverter`.',
  'value.converter':
    'Converter of values, for connectors that configure none. Its own settings begin with `value.converter.`. `weir up`, `weir operator` and the chart set `AvroConverter`, with their registry.',
  'header.converter': 'Converter of headers, for connectors that configure none.',
  'task.shutdown.graceful.timeout.ms':
    'Time that a task has to stop. After that the worker waits no longer, and starts no task in its process. When the process has had this time too, without the time in which a busy machine runs others, it is ended, and its other tasks are moved.',
  'offset.flush.interval.ms': 'Interval at which tasks commit offsets.',
  'offset.flush.timeout.ms': 'Timeout of a commit. A failed commit is retried at the next interval.',
  'topic.creation.enable': 'Whether missing topics of source connectors are created.',
  'topic.tracking.enable':
    'Whether the topics that each connector uses are recorded for `GET /connectors/NAME/topics`.',
  'topic.tracking.allow.reset': 'Whether `PUT /connectors/NAME/topics/reset` is allowed.',
  'connector.client.config.override.policy':
    'Which settings of its Kafka clients a connector may override: `All`, `None`, `Principal` or `Allowlist`.',
  'connector.client.config.override.allowlist': 'Settings that policy `Allowlist` allows.',
  'plugin.path':
    'Modules, npm packages, and directories of both, that contain plugins; jars, and directories of Java plugins, as in Kafka Connect. Shipped plugins need no path.',
  'plugin.discovery':
    'How Java plugins are found on `plugin.path`: `hybrid_warn`, `hybrid_fail`, `only_scan` or `service_load`, as in Kafka Connect.',
  'java.home': 'Directory of the Java (17 or newer) that runs Java plugins. Empty: `JAVA_HOME`, else `java` on `PATH`.',
  'java.host.directory': 'Directory with the jars of the Java host. Empty: the one of this release.',
  'java.host.heap.max': 'Heap limit of each JVM, one per location of Java plugins, as `-Xmx` takes it.',
  'java.host.options': 'Further options of each JVM, separated by spaces.',
  'java.host.idle.ms': 'How long the JVM of a location is kept when no task or connector uses it.',
  'connector.classes.allowed':
    'Connector classes that may be used, by any of their names. `*` matches any text. Default: all.',
  'connector.classes.denied': 'Connector classes that may not be used. Takes precedence over the allowed classes.',
  'connector.paths.allowed':
    'Files and directories that connectors may use, as absolute paths. `/` allows all. Default: none if authentication is required, else all.',
  'connector.urls.allowed':
    'Network destinations that connectors may use: `HOST`, `HOST:PORT`, `SCHEME://HOST`, `ADDRESS/BITS`, or a group: `loopback`, `link-local`, `metadata`, `private`. Default: all that are not denied.',
  'connector.urls.denied':
    'Network destinations that connectors may not use; takes precedence over the allowed ones. `!` before an entry makes an exception. Default: `loopback,link-local,metadata` if authentication is required, else none.',
  'connector.listeners.allowed':
    'Addresses on which connectors may listen: `HOST:PORT`; `*` matches any host or port. Default: all except ports of the worker.',
  'connector.topics.denied':
    'Topics that no connector may use for records, besides those of this worker and of Kafka: those of registries and other worker clusters. `*` matches any text. `weir up`, `weir operator` and the chart add the topics of their registry.',
  'connector.groups.denied':
    'Consumer groups that no connector may use, besides that of this worker: those of registries and other worker clusters. `*` matches any text. `weir up`, `weir operator` and the chart add the group of their registry.',
  'records.masked.tags':
    'Tags of fields whose values the console does not show in the records of topics, independent of the case; `*` matches any text. Empty: no field is masked. The schemas are those of the registry of `value.converter.schema.registry.url`, else of `key.converter.schema.registry.url`.',
  'worker.config.reload.ms':
    'Interval at which the placeholders of running connectors are resolved again. Connectors with changed values are restarted. 0: never.',
  'worker.plugin.timeout.ms':
    'Timeout of a call to a plugin on behalf of a request: to validate a configuration, to check offsets, or to read values. The default is the request timeout of Kafka Connect. The time in which a call waits for its process does not count. The start of a connector or task has no timeout, as in Kafka Connect; a call of a Java plugin may use this much CPU time.',
  'worker.plugin.load.timeout.ms':
    'Timeout for loading a module of `plugin.path`, and for the start of a JVM of Java plugins, without the time in which a busy machine runs others. A module that takes longer is not available; the start of a JVM is repeated with the next use.',
  'worker.plugin.memory.mb':
    'Memory limit of a process that runs plugin code outside of tasks. Applies to the JavaScript heap and, plus 96 MB for the engine, to the resident memory.',
  'worker.threads':
    'Maximum number of processes for the tasks that run only code of Weir or of Java plugins. A worker starts with one, and starts another one when a task process uses more than 75 % of a processor for five seconds, or half of its memory limit. A connector with code of `plugin.path` that is not Java has processes of its own, with the same maximum. Default: number of processors.',
  'worker.thread.memory.mb':
    'Memory limit of a task process, for all its tasks together. Applies to the JavaScript heap and, plus 96 MB for the engine, to the resident memory.',
  'worker.thread.blocked.max.ms':
    'A task or plugin call fails when it blocks the thread of its process for longer. Only the CPU time of that thread counts, and the time in which it waits without being asynchronous. Time in which a busy machine runs others does not count.',
  'worker.task.start.timeout.ms':
    'A task that is not running after this time fails. Default: none, as in Kafka Connect.',
  'worker.task.log.lines.per.second':
    'Average number of log lines per second that a task may write at each level. Bursts may contain the lines of ten seconds. Further lines are dropped and counted.',
  'worker.task.log.bytes.per.second':
    'Average number of log bytes per second that a task may write at each level, with the same bursts.',
  'http.body.bytes.max':
    'Largest request body, in bytes. The task configurations of a connector, which one worker sends to another, are one body.',
  ...HTTP_LIMIT_DESCRIPTIONS,
  listeners: 'Addresses of the REST API: `http://HOST:PORT` or `https://HOST:PORT`.',
  'rest.advertised.host.name': 'Host name or address under which other workers reach this worker.',
  'rest.advertised.port': 'Port under which other workers reach this worker.',
  'rest.advertised.listener': 'Scheme of the listener that other workers use.',
  'access.control.allow.origin':
    'Origins of web pages that may call the REST API (CORS); `*` allows all. Empty: no origin is allowed. Without authentication, a local worker also serves pages at the hosts of these origins.',
  'access.control.allow.methods': 'HTTP methods that web pages may use. Empty: GET, POST and HEAD.',
  'admin.listeners':
    'Addresses of `/admin/loggers`. Empty: the endpoint is disabled. Default: the addresses in `listeners`.',
  'response.http.headers.config':
    'Headers that are added to all responses, separated by commas: `set NAME: VALUE`, `add NAME: VALUE`, `setDate NAME`.',
  'authentication.realm': 'Realm in the `WWW-Authenticate` header of a response 401.',
  ...ACCESS_CONTROL_DESCRIPTIONS,
  ...AUDIT_LOG_DESCRIPTIONS,
  ...CONSOLE_DESCRIPTIONS,
  'weir.config.masking':
    'For whom secrets in connector configurations are masked. `readonly`: for users without permission to write connectors. `always`: for all users. Placeholders are not masked.',
  'rest.extension.classes':
    'Must be empty, because REST extensions are Java classes. For authentication set `authentication.method`.',
}
