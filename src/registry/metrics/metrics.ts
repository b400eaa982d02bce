import { Counter, Gauge, Histogram } from 'prom-client'
import type { Metrics } from '../../config/metrics.ts'
import type { CertificateExpiry } from '../../config/tls.ts'
import type { FormatType } from '../../formats/format.ts'
import type { CompletedRequest } from '../../http/access-log.ts'
import type { ConnectionChange } from '../../http/server.ts'
import { SCHEMA_TYPES } from '../model/schema-types.ts'
import type { RegistryRecord } from '../store/record.ts'
import type { ApplyResult } from '../store/state.ts'
import { Meter, type OperationStatistics } from './meter.ts'

/** A completed operation on a schema, such as parsing it. */
export type SchemaOperation = {
  readonly type: FormatType
  readonly operation: 'read' | 'format' | 'tags' | 'tag' | 'equivalent' | 'compare'
  readonly ms: number
  readonly failed: boolean
}
export type RegistryMetrics = {
  /** Counts a record that was read from the topic. */
  readonly observe: (applied: ApplyResult | 'unreadable', record?: RegistryRecord) => void
  readonly answered: (request: CompletedRequest) => void
  readonly onSchemaOperation: (operation: SchemaOperation) => void
  readonly connected: (change: ConnectionChange) => void
  readonly certified: (expiry: CertificateExpiry) => void
  /** Records the time that this instance took to become the leader. */
  readonly elected: (ms: number) => void
}

/** The metrics of one endpoint. They are cached because a label lookup is more expensive than an increment. */
type EndpointMetrics = {
  /** Undefined for requests that match no endpoint. */
  readonly meter: Meter | undefined
  readonly duration: Histogram.Internal<'endpoint'>
  readonly total: (status: number) => Counter.Internal
}

/** Confluent's prefix, and the prefix of the interface documents in `seeds/`. */
const PREFIXES = ['kafka_schema_registry', 'broker_schema_registry'] as const
const [ORIGINAL] = PREFIXES

const ATTRIBUTES: Readonly<Record<string, (reading: OperationStatistics) => number>> = {
  request_rate: ({ rate }) => rate,
  request_total: ({ total }) => total,
  request_error_rate: ({ failedRate }) => failedRate,
  request_error_total: ({ failedTotal }) => failedTotal,
  request_latency_avg: ({ averageMs }) => averageMs,
  request_latency_max: ({ maxMs }) => maxMs,
  request_latency_95: ({ p95Ms }) => p95Ms,
  request_latency_99: ({ p99Ms }) => p99Ms,
}
const REQUEST_ATTRIBUTES: typeof ATTRIBUTES = {
  ...ATTRIBUTES,
  request_byte_rate: ({ received }) => received.rate,
  request_size_avg: ({ received }) => received.average,
  response_byte_rate: ({ sent }) => sent.rate,
  response_size_avg: ({ sent }) => sent.average,
}
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Registers the registry's metric families, with the names that the JMX exporter gives to Confluent's MBeans. */
export function registryMetrics(
  metrics: Metrics,
  isLeader: () => boolean,
  nowMs: () => number = () => performance.now(),
): RegistryMetrics {
  const registers = [metrics]
  for (const prefix of PREFIXES) {
    gauge(`${prefix}_master_slave_role`, 'Whether this instance is the leader (1) or follows one (0).', () =>
      isLeader() ? 1 : 0,
    )
  }
  gauge(bean('node_count'), 'This instance; the sum over all is their number.', () => 1)
  gauge(bean('custom_schema_provider_count'), 'Languages of other makers.', () => 0)
  const latency = new Gauge({
    name: bean('leader_initialization_latency'),
    help: 'How long this instance took to become the leader, in ms.',
    registers,
  })
  return {
    ...recordMetrics(),
    answered: requestMetrics(),
    onSchemaOperation: operationMetrics(),
    connected: connectionMetrics(),
    certified: certificateMetrics(),
    elected: (ms) => latency.set(ms),
  }

  function recordMetrics(): Pick<RegistryMetrics, 'observe'> {
    const counters = {
      registered: counter(bean('registered_count'), 'Schemas read as registered.'),
      deleted: counter(bean('deleted_count'), 'Schemas read as deleted.'),
      unreadable: counter('weir_registry_unreadable_records_total', 'Records of the topic that could not be read.'),
      'id-conflict': counter('weir_registry_id_conflicts_total', 'Records that gave an id a second meaning.'),
    }
    const byType = new Map(
      SCHEMA_TYPES.flatMap((type) =>
        (['created', 'deleted'] as const).map((what) => {
          const name = `${type.toLowerCase()}_schemas_${what}`
          return [`${type} ${what}`, counter(bean(name), `${type} schemas read as ${what}.`)] as const
        }),
      ),
    )
    const observe: RegistryMetrics['observe'] = (applied, record) => {
      if (applied === 'other') return
      counters[applied].inc()
      if (record?.kind !== 'schema' || !record.value || applied === 'id-conflict') return
      byType.get(`${record.value.content.type} ${record.value.deleted ? 'deleted' : 'created'}`)?.inc()
    }
    return { observe }
  }

  function requestMetrics(): RegistryMetrics['answered'] {
    const succeeded = counter(bean('api_success_count'), 'Requests answered well.')
    const failed = counter(bean('api_failure_count'), 'Requests answered with an error.')
    const all = new Meter(nowMs)
    const serverErrors = new Meter(nowMs)
    for (const prefix of PREFIXES) meterGauges(`${prefix}_jersey_metrics`, all, REQUEST_ATTRIBUTES)
    gauge('weir_registry_request_error_ratio', 'Share of the last minute’s requests that failed (5xx).', () => {
      const { rate } = all.read()
      return rate === 0 ? 0 : serverErrors.read().rate / rate
    })
    const labelNames = ['endpoint', 'status'] as const
    const total = new Counter({
      name: 'weir_registry_requests_total',
      help: 'Requests answered.',
      labelNames,
      registers,
    })
    const duration = new Histogram({
      name: 'weir_registry_request_duration_seconds',
      help: 'How long answers took.',
      labelNames: ['endpoint'] as const,
      buckets: SECONDS,
      registers,
    })
    const endpoints = new Map<string, EndpointMetrics>()
    return ({ endpoint = 'none', status, ms, receivedBytes, sentBytes }) => {
      const isError = status >= 400
      ;(isError ? failed : succeeded).inc()
      all.add(ms, isError, receivedBytes, sentBytes)
      if (status >= 500) serverErrors.add(ms, true)
      const of = metricsOf(endpoint)
      of.total(status).inc()
      of.duration.observe(ms / 1_000)
      of.meter?.add(ms, isError, receivedBytes, sentBytes)
    }

    /** As in Confluent's registry, the metric families of an endpoint exist from its first request. */
    function metricsOf(endpoint: string): EndpointMetrics {
      const known = endpoints.get(endpoint)
      if (known) return known
      const totals = new Map<number, Counter.Internal>()
      const made: EndpointMetrics = {
        meter: endpoint === 'none' ? undefined : new Meter(nowMs),
        duration: duration.labels({ endpoint }),
        total: (status) => {
          const counted = totals.get(status) ?? total.labels({ endpoint, status })
          totals.set(status, counted)
          return counted
        },
      }
      endpoints.set(endpoint, made)
      if (made.meter) {
        meterGauges(
          `${ORIGINAL}_jersey_metrics_${endpoint.replace(/[^a-zA-Z0-9]+/g, '_')}`,
          made.meter,
          REQUEST_ATTRIBUTES,
        )
      }
      return made
    }
  }

  function operationMetrics(): RegistryMetrics['onSchemaOperation'] {
    const duration = new Histogram({
      name: 'weir_registry_schema_operation_duration_seconds',
      help: 'How long reading, writing and comparing schemas took.',
      labelNames: ['type', 'operation'] as const,
      buckets: SECONDS,
      registers,
    })
    const meters = new Map(SCHEMA_TYPES.map((type) => [type, new Meter(nowMs)]))
    for (const [type, meter] of meters) {
      meterGauges(`broker_schema_registry_${type.toLowerCase()}_schema_provider_metrics`, meter)
    }
    return ({ type, operation, ms, failed }) => {
      duration.observe({ type, operation }, ms / 1_000)
      meters.get(type)?.add(ms, failed)
    }
  }

  function connectionMetrics(): RegistryMetrics['connected'] {
    const meters = { opened: new Meter(nowMs), closed: new Meter(nowMs) }
    const prefix = `${ORIGINAL}_jetty_metrics_connections`
    const active = new Gauge({ name: `${prefix}_active`, help: 'Connections that are open.', registers })
    for (const [change, meter] of Object.entries(meters)) {
      gauge(`${prefix}_${change}_rate`, `Connections that were ${change}, a second.`, () => meter.read().rate)
    }
    return (change) => {
      meters[change].add(0, false)
      if (change === 'opened') active.inc()
      else active.dec()
    }
  }

  function certificateMetrics(): RegistryMetrics['certified'] {
    const end = (store: string) => {
      const help = `When the first certificate of the ${store} ends, in ms since 1970; 0: there is none.`
      return new Gauge({ name: bean(`certificate_expiration_${store}`), help, registers })
    }
    const [keystore, truststore] = [end('keystore'), end('truststore')]
    return ({ keystoreMs, truststoreMs }) => {
      keystore.set(keystoreMs ?? 0)
      truststore.set(truststoreMs ?? 0)
    }
  }

  function meterGauges(prefix: string, meter: Meter, attributes = ATTRIBUTES): void {
    for (const [name, of] of Object.entries(attributes)) {
      gauge(`${prefix}_${name}`, 'Over the last minute; latencies in ms, sizes in bytes.', () => of(meter.read()))
    }
  }

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }

  function counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers })
  }
}

/** The metric name of an MBean whose only attribute has the same name as the MBean. */
function bean(name: string): string {
  return `${ORIGINAL}_${name}_${name}`
}
