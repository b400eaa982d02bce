/** Series of one installation in the notation of `promtool test rules`, one value a minute, and the minutes at which an alert fires or does not. */
export type AlertHistory = {
  readonly title: string
  readonly alert: string
  readonly series: Readonly<Record<string, string>>
  readonly fires: readonly number[]
  readonly quiet: readonly number[]
}

/** The limits of the rules that are tested. */
export const HISTORY_LIMITS = { expectedConnectors: 2, expectedTasks: 4 }

/** Series of a healthy installation, for histories that do not have their own. */
export const HEALTHY_SERIES: Readonly<Record<string, string>> = {
  'leader_election_master_status{instance="operator"}': '1x600',
  'kafka_schema_registry_master_slave_role{instance="registry"}': '1x600',
}

const OF_TASK = '{connector="orders",task="0"}'
const [SINK, SOURCE] = ['kafka_connect_sink_task_metrics_', 'kafka_connect_source_task_metrics_']

function statusOf(status: string): string {
  return `kafka_connect_connector_task_metrics_status{connector="orders",task="0",status="${status}"}`
}

/** A sink that writes nothing from minute 5 to 34. */
const STALLED_SINK = {
  [`${SINK}sink_record_active_count${OF_TASK}`]: '0x4 500x29 0x9',
  [`${SINK}sink_record_lag_max${OF_TASK}`]: '0x43',
  [`${SINK}sink_record_send_total${OF_TASK}`]: '0+100x4 400x29 500+100x9',
}

/** An event that a counter counts in minute 5. It has happened for ten minutes. */
function event(alert: string, counter: string): AlertHistory {
  return { title: 'something happened', alert, series: { [counter]: '0x4 1x40' }, fires: [6, 13], quiet: [4, 20] }
}

/** A gauge that has a wrong value from minute 5 to 29. */
function state(
  alert: string,
  gauge: string,
  [right, wrong]: readonly [string, string],
  forMinutes: number,
): AlertHistory {
  return {
    title: `${gauge} is ${wrong}`,
    alert,
    series: { [gauge]: `${right}x4 ${wrong}x24 ${right}x9` },
    fires: [6 + forMinutes, 29],
    quiet: [3, ...(forMinutes > 0 ? [4 + forMinutes] : []), 32],
  }
}

export const ALERT_HISTORIES: readonly AlertHistory[] = [
  {
    title: 'a target is down',
    alert: 'WeirTargetDown',
    series: { 'up{job="weir-worker",instance="a"}': '1x19 0x19 1x30' },
    fires: [28, 40],
    quiet: [19, 24, 60],
  },
  {
    title: 'a container restarts again and again',
    alert: 'WeirTargetDown',
    series: { 'up{job="weir-worker",instance="a"}': '1x9 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0' },
    fires: [24, 28],
    quiet: [10],
  },
  {
    title: 'a program is replaced',
    alert: 'WeirTargetDown',
    series: { 'up{job="weir-worker",instance="a"}': '1x19 0x1 1x30' },
    fires: [],
    quiet: [20, 21, 22, 24, 30],
  },
  {
    title: 'another job is down',
    alert: 'WeirTargetDown',
    series: { 'up{job="kafka",instance="a"}': '0x40' },
    fires: [],
    quiet: [30],
  },
  state('WeirNotReady', 'weir_ready{program="worker"}', ['1', '0'], 5),
  state('WeirOperatorNoLeader', 'leader_election_master_status{instance="operator"}', ['1', '0'], 2),
  {
    title: 'no operator exists',
    alert: 'WeirOperatorNoLeader',
    series: { 'leader_election_master_status{instance="operator"}': '1x4 stale _x20 1x9' },
    fires: [10, 20],
    quiet: [4, 30],
  },
  {
    title: 'two operators are active',
    alert: 'WeirOperatorNoLeader',
    series: { 'leader_election_master_status{instance="other"}': '0x4 1x9 0x9' },
    fires: [8],
    quiet: [4, 18],
  },
  state('WeirRuntimeDown', 'weir_runtime_up{cluster="default",runtime="worker"}', ['1', '0'], 5),
  {
    title: 'a watch receives nothing',
    alert: 'WeirWatchSilent',
    series: { 'weir_cache_staleness_seconds{resource="connectors"}': '0+60x30 0x10' },
    fires: [22, 30],
    quiet: [10, 18, 33],
  },
  state('WeirResourcesNotReady', 'weir_resources{kind="Subject",ready="False",reason="Incompatible"}', ['0', '2'], 15),
  {
    title: 'reconciles keep failing',
    alert: 'WeirReconcileErrors',
    series: {
      'controller_runtime_reconcile_errors_total{controller="connector"}':
        '0x4 1 1 1 1 2 2 2 2 3 3 3 3 3 4 4 4 4 5 5 5 5 6 6 6 6 7 7 7 7 8x30',
    },
    fires: [27, 35],
    quiet: [4, 20, 50],
  },
  {
    title: 'reconciles failed for a minute',
    alert: 'WeirReconcileErrors',
    series: { 'controller_runtime_reconcile_errors_total{controller="connector"}': '0x4 3x40' },
    fires: [],
    quiet: [6, 15, 21, 25, 30],
  },
  event('WeirOperatorErrors', 'controller_runtime_reconcile_panics_total{controller="connector"}'),
  {
    title: 'another client changes a resource five times',
    alert: 'WeirDrift',
    series: { 'weir_drift_total{kind="Connector"}': '0x4 1+1x4 5x120' },
    fires: [12, 50],
    quiet: [4, 80],
  },
  state('WeirRegistryNoLeader', 'kafka_schema_registry_master_slave_role{instance="registry"}', ['1', '0'], 2),
  {
    title: 'no registry exists',
    alert: 'WeirRegistryNoLeader',
    series: { 'kafka_schema_registry_master_slave_role{instance="registry"}': '1x4 stale _x20 1x9' },
    fires: [10, 20],
    quiet: [4, 30],
  },
  state('WeirRegistryErrors', 'weir_registry_request_error_ratio{instance="a"}', ['0', '0.05'], 5),
  {
    title: 'comparisons take 200 ms',
    alert: 'WeirSchemaOperationsSlow',
    series: Object.fromEntries(
      ['0.1', '0.25', '+Inf'].map((limit) => [
        `weir_registry_schema_operation_duration_seconds_bucket{type="AVRO",operation="compare",le="${limit}"}`,
        limit === '0.1' ? '0x40' : '0+60x20 1200x20',
      ]),
    ),
    fires: [12, 20],
    quiet: [4, 35],
  },
  {
    title: 'a certificate ends in ten days, and is renewed for a hundred',
    alert: 'WeirRegistryCertificateEnds',
    series: {
      kafka_schema_registry_certificate_expiration_keystore_certificate_expiration_keystore: '8.64e8x119 8.64e9x60',
    },
    fires: [20, 115],
    quiet: [10, 125],
  },
  {
    title: 'there is no certificate',
    alert: 'WeirRegistryCertificateEnds',
    series: { kafka_schema_registry_certificate_expiration_keystore_certificate_expiration_keystore: '0x120' },
    fires: [],
    quiet: [100],
  },
  {
    title: 'another instance becomes the leader',
    alert: 'WeirRegistryLeaderChanged',
    series: {
      'kafka_schema_registry_master_slave_role{instance="registry"}': '1x4 0x40',
      'kafka_schema_registry_master_slave_role{instance="other"}': '0x4 1x40',
    },
    fires: [6, 13],
    quiet: [4, 20],
  },
  {
    title: 'a connector has failed and is deleted',
    alert: 'WeirConnectorFailed',
    series: { 'kafka_connect_connector_metrics_status{connector="orders",status="failed"}': '_x4 1x14 stale _x9' },
    fires: [11, 18],
    quiet: [3, 8, 22],
  },
  state(
    'WeirTaskFailed',
    'kafka_connect_worker_metrics_connector_failed_task_count{connector="orders"}',
    ['0', '1'],
    5,
  ),
  {
    title: 'a sink repeats one batch',
    alert: 'WeirSinkStalled',
    series: { ...STALLED_SINK, [statusOf('running')]: '1x43' },
    fires: [21, 34],
    quiet: [4, 16, 38],
  },
  {
    title: 'a sink with lag receives no records',
    alert: 'WeirSinkStalled',
    series: {
      ...STALLED_SINK,
      [`${SINK}sink_record_active_count${OF_TASK}`]: '0x43',
      [`${SINK}sink_record_lag_max${OF_TASK}`]: '0x4 9x29 0x9',
      [statusOf('running')]: '1x43',
    },
    fires: [21, 34],
    quiet: [4, 16, 38],
  },
  {
    title: 'a sink with lag is paused',
    alert: 'WeirSinkStalled',
    series: { ...STALLED_SINK, [statusOf('paused')]: '1x43' },
    fires: [],
    quiet: [21, 34],
  },
  {
    title: 'a sink has written everything',
    alert: 'WeirSinkStalled',
    series: {
      ...STALLED_SINK,
      [`${SINK}sink_record_active_count${OF_TASK}`]: '0x43',
      [statusOf('running')]: '1x43',
    },
    fires: [],
    quiet: [21, 34],
  },
  {
    title: 'the brokers acknowledge nothing',
    alert: 'WeirSourceStalled',
    series: {
      [`${SOURCE}source_record_active_count${OF_TASK}`]: '0x4 500x29 0x9',
      [`${SOURCE}source_record_write_total${OF_TASK}`]: '0+100x4 400x29 500+100x9',
    },
    fires: [21, 34],
    quiet: [4, 16, 38],
  },
  state('WeirSinkLag', `${SINK}sink_record_lag_max${OF_TASK}`, ['10', '200000'], 10),
  state('WeirSourceRetainsLog', `${SOURCE}source_retained_bytes${OF_TASK}`, ['1e9', '2e10'], 10),
  event('WeirDeadLetters', `kafka_connect_task_error_metrics_deadletterqueue_produce_total${OF_TASK}`),
  event('WeirOffsetCommitFailure', `kafka_connect_connector_task_metrics_offset_commit_failure_total${OF_TASK}`),
  event('WeirConnectorStartupFailure', 'kafka_connect_worker_metrics_connector_startup_failure_total'),
  {
    title: 'a JVM ends five times',
    alert: 'WeirJavaHostExits',
    series: { weir_java_host_exits_total: '0x4 1+1x4 5x120' },
    fires: [12, 50],
    quiet: [4, 80],
  },
  {
    title: 'a JVM ends once',
    alert: 'WeirJavaHostExits',
    series: { weir_java_host_exits_total: '0x4 1x60' },
    fires: [],
    quiet: [6, 30],
  },
  {
    title: 'a source reads nothing for an hour',
    alert: 'WeirSourceQuiet',
    series: { [`${SOURCE}source_record_poll_total${OF_TASK}`]: '0+600x359 216000x59 216000+600x60' },
    fires: [400, 418],
    quiet: [300, 370, 440],
  },
  state('WeirConnectorCount', 'kafka_connect_worker_metrics_connector_count', ['2', '1'], 10),
  state('WeirTaskCount', 'kafka_connect_worker_metrics_task_count', ['4', '3'], 10),
]

/** The test file of promtool for these rules. */
export function promtoolTests(rulesFile: string) {
  return {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: ALERT_HISTORIES.map(({ title, alert, series, fires, quiet }) => ({
      name: `${alert}: ${title}`,
      interval: '1m',
      input_series: Object.entries({ ...HEALTHY_SERIES, ...series }).map(([name, values]) => ({
        series: name,
        values,
      })),
      promql_expr_test: [...fires, ...quiet].map((minute, at) => ({
        expr: `max by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${minute}m`,
        exp_samples: at < fires.length ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
      })),
    })),
  }
}
