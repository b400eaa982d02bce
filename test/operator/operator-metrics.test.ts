import { beforeEach, describe, expect, it } from 'vitest'
import { createMetrics, type Metrics } from '../../src/common/metrics-registry.ts'
import {
  type OperatorMetrics,
  registerOperatorGauges,
  registerOperatorMetrics,
} from '../../src/operator/operator-metrics.ts'
import { FakeCluster } from '../support/fake-cluster.ts'

let cluster: FakeCluster
let metrics: Metrics
let operatorMetrics: OperatorMetrics
let isLeader: boolean

beforeEach(() => {
  cluster = new FakeCluster()
  metrics = createMetrics()
  isLeader = true
  operatorMetrics = registerOperatorMetrics(metrics)
  registerOperatorGauges(metrics, {
    isLeader: () => isLeader,
    concurrency: 4,
    resources: () => [...cluster.resources.values()],
    queue: (kind) => (isLeader && kind === 'Connector' ? { waiting: 3, workingMs: [500, 2_500] } : undefined),
    watches: () => [
      { resource: 'subjects', silentMs: 1_000 },
      { resource: 'subjects', silentMs: 2_000 },
    ],
    pollLags: () => [{ cluster: 'default', runtime: 'worker', lagMs: 1_500 }],
  })
})

/** The samples of a family that are not 0, without its name. */
async function samples(name: string): Promise<readonly string[]> {
  const lines = (await metrics.metrics()).split('\n')
  const of = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return of.map((line) => line.slice(name.length)).filter((line) => !line.endsWith(' 0'))
}

describe('the metrics of the operator', () => {
  it('report whether the process leads', async () => {
    expect(await samples('leader_election_master_status')).toEqual([' 1'])
    isLeader = false
    expect(await samples('leader_election_master_status')).toEqual([])
    expect(await samples('workqueue_depth')).toEqual([])
  })

  it('report queues and reconciles under the names of controller-runtime', async () => {
    const labels = '{name="connector",controller="connector"}'
    expect(await samples('workqueue_depth')).toEqual([`${labels} 3`])
    expect(await samples('workqueue_unfinished_work_seconds')).toEqual([`${labels} 3`])
    expect(await samples('workqueue_longest_running_processor_seconds')).toEqual([`${labels} 2.5`])
    expect(await samples('controller_runtime_active_workers')).toEqual(['{controller="connector"} 2'])
    expect(await samples('controller_runtime_max_concurrent_reconciles')).toHaveLength(3)
    const metrics = operatorMetrics.controller('Connector')
    for (const outcome of ['success', 'requeue_after', 'error', 'panic', 'timeout'] as const)
      metrics.reconciled(outcome, 100)
    metrics.failedTerminally()
    expect(await samples('controller_runtime_reconcile_total')).toEqual([
      '{controller="connector",result="success"} 1',
      '{controller="connector",result="requeue_after"} 1',
      '{controller="connector",result="error"} 3',
    ])
    const counts = { errors: 3, panics: 1, timeouts: 1 }
    for (const [what, count] of Object.entries(counts)) {
      expect(await samples(`controller_runtime_reconcile_${what}_total`)).toEqual([`{controller="connector"} ${count}`])
    }
    expect(await samples('controller_runtime_terminal_reconcile_errors_total')).toEqual(['{controller="connector"} 1'])
    expect(await samples('controller_runtime_reconcile_time_seconds_count')).toEqual(['{controller="connector"} 5'])
  })

  it('report the conditions of each resource and their sums, and only the sums of more than 10,000 resources', async () => {
    const key = cluster.apply('Subject', 'a', { schema: '"int"' })
    cluster.apply('Subject', 'b', { schema: '"int"' })
    const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: '', lastTransitionTime: '' } as const
    await cluster.writeStatus(key, { observedGeneration: 1, conditions: [{ ...ready, observedGeneration: 1 }] })
    expect((await samples('weir_resources')).toSorted()).toEqual([
      '{kind="Subject",ready="True",reason="Succeeded"} 1',
      '{kind="Subject",ready="Unknown",reason="Pending"} 1',
    ])
    expect(await samples('weir_resource_condition')).toEqual([
      '{kind="Subject",namespace="default",name="a",type="Ready",status="True"} 1',
    ])
    const [one] = cluster.list('Subject')
    for (let at = 0; at < 10_000; at++) cluster.resources.set(`Subject/default/n${at}`, one!)
    expect(await samples('weir_resource_condition')).toEqual([])
    expect((await samples('weir_resources'))[0]).toMatch(/ 10001$/)
  })

  it('report the time since the last event of the most silent watch of each kind', async () => {
    expect(await samples('weir_cache_staleness_seconds')).toEqual(['{resource="subjects"} 2'])
    expect(await samples('weir_observe_lag_seconds')).toEqual(['{cluster="default",runtime="worker"} 1.5'])
    operatorMetrics.watchRestarted('subjects', 'Expired')
    expect(await samples('weir_watch_restarts_total')).toEqual(['{resource="subjects",reason="Expired"} 1'])
  })

  it('count requests by endpoint, without names of connectors and subjects', async () => {
    for (const name of ['a', 'b%2Fc']) {
      operatorMetrics.runtimeCallEnded('default', 'worker', { method: 'GET', path: `/connectors/${name}/status` }, 200)
    }
    operatorMetrics.runtimeCallEnded('default', 'worker', { method: 'GET', path: '/connectors?expand=info' }, 0)
    expect(await samples('weir_runtime_requests_total')).toEqual([
      '{cluster="default",endpoint="GET /connectors/{}/status",code="200"} 2',
      '{cluster="default",endpoint="GET /connectors",code="0"} 1',
    ])
    expect(await samples('weir_runtime_up')).toEqual([])
    operatorMetrics.apiCallEnded('GET', '127.0.0.1:6443', 200, 30)
    expect(await samples('rest_client_requests_total')).toEqual(['{code="200",method="GET",host="127.0.0.1:6443"} 1'])
    expect(await samples('rest_client_request_duration_seconds_sum')).toEqual([
      '{verb="GET",host="127.0.0.1:6443"} 0.03',
    ])
  })

  it('count drift and automatic restarts by their Events', async () => {
    for (const reason of ['DriftDetected', 'DriftCorrected', 'AutoRestarted', 'Created']) {
      operatorMetrics.eventRecorded('Connector', reason)
    }
    expect(await samples('weir_drift_total')).toEqual(['{kind="Connector"} 2'])
    expect(await samples('weir_autorestart_total')).toEqual(['{kind="Connector"} 1'])
  })
})
