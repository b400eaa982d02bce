import type { Metrics } from '../../common/metrics-registry.ts'
import type { SchemaOperation } from '../../compatibility-worker/schema-jobs.ts'
import type { CompletedRequest } from '../../http/access-log.ts'
import type { ConnectionChange } from '../../http/server.ts'
import type { CertificateExpiry } from '../../tls/certificate-expiry.ts'
import { certificateMetrics } from './certificate-metrics.ts'
import { connectionMetrics } from './connection-metrics.ts'
import { instanceMetrics } from './instance-metrics.ts'
import { type OnRecord, recordMetrics } from './record-metrics.ts'
import { requestMetrics } from './request-metrics.ts'
import { schemaOperationMetrics } from './schema-operation-metrics.ts'

/** The callbacks that update the metrics. */
export type RegistryMetrics = {
  readonly onRecord: OnRecord
  /** Called after every response. */
  readonly onResponse: (request: CompletedRequest) => void
  /** Called after each operation on a schema. */
  readonly onSchemaOperation: (operation: SchemaOperation) => void
  /** Called when a connection is opened or closed. */
  readonly onConnection: (change: ConnectionChange) => void
  /** Called with the expiry of the listener certificates, at the start and after every renewal. */
  readonly onCertificates: (expiry: CertificateExpiry) => void
  /** Called with the time that this instance took to become the leader, in milliseconds. */
  readonly onElected: (electionMs: number) => void
}

/**
 * Registers the registry's metric families, with the names that the JMX exporter gives to Confluent's MBeans. `nowMs` is
 * a monotonic time.
 */
export function registryMetrics(metrics: Metrics, isLeader: () => boolean, nowMs: () => number): RegistryMetrics {
  return {
    onRecord: recordMetrics(metrics),
    onResponse: requestMetrics(metrics, nowMs),
    onSchemaOperation: schemaOperationMetrics(metrics, nowMs),
    onConnection: connectionMetrics(metrics, nowMs),
    onCertificates: certificateMetrics(metrics),
    onElected: instanceMetrics(metrics, isLeader),
  }
}
