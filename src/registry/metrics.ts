import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../config/metrics.ts'
import type { Applied } from './store/state.ts'

export type RegistryMetrics = {
  /** Counts what was read from the topic. */
  readonly observe: (applied: Applied | 'unreadable') => void
}

/** The registry's metric families. Names of the original are kept, as its usual exporter writes them. */
export function registryMetrics(metrics: Metrics, isLeader: () => boolean): RegistryMetrics {
  const registers = [metrics]
  new Gauge({
    name: 'kafka_schema_registry_master_slave_role',
    help: 'Whether this instance is the leader (1) or follows one (0).',
    registers,
    collect() {
      this.set(isLeader() ? 1 : 0)
    },
  })
  const counters = {
    registered: counter('kafka_schema_registry_registered_count_registered_count', 'Schemas read as registered.'),
    deleted: counter('kafka_schema_registry_deleted_count_deleted_count', 'Schemas read as deleted.'),
    unreadable: counter('weir_registry_unreadable_records_total', 'Records of the topic that could not be read.'),
    'id-conflict': counter('weir_registry_id_conflicts_total', 'Records that gave an id a second meaning.'),
  }
  return { observe: (applied) => applied !== 'other' && counters[applied].inc() }

  function counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers })
  }
}
