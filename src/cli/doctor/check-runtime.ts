import { type Endpoint, RequestError } from '../../clients/http-client.ts'
import { createRegistryClient } from '../../clients/registry-client.ts'
import { createWorkerClient } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import { counted } from '../../common/counted.ts'
import { messageOf } from '../../common/errors.ts'
import { HttpAgent, readText } from '../../common/http-agent.ts'
import { shownState } from '../../common/state-glossary.ts'
import type { TargetRuntime } from '../target.ts'
import { checkCertificate, RESPONSE_TIMEOUT_MS } from './check-certificate.ts'
import { checkClock } from './check-clock.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const BODY_BYTES_MAX = 64 * 1024
const NAMES_SHOWN_MAX = 5

export type RuntimeCheck = {
  readonly findings: readonly DoctorFinding[]
  /** Of the Kafka cluster that a worker uses. */
  readonly clusterId?: string | undefined
}

/** Whether a registry or a worker responds, what it runs, its clock and its certificate. */
export async function checkRuntime(runtime: TargetRuntime, endpoint: Endpoint, clock: Clock): Promise<RuntimeCheck> {
  const [state, time, certificate] = await Promise.all([
    runtime === 'worker' ? checkWorker(endpoint) : checkRegistry(endpoint),
    checkTime(runtime, endpoint, clock),
    checkCertificate(runtime, endpoint.url, clock.nowMs()),
  ])
  return { ...state, findings: [...state.findings, ...[time, certificate].filter((one) => one !== undefined)] }
}

async function checkWorker(endpoint: Endpoint): Promise<RuntimeCheck> {
  const client = createWorkerClient({ ...endpoint, timeoutMs: RESPONSE_TIMEOUT_MS })
  try {
    const { version, kafka_cluster_id: clusterId } = await client.info()
    const connectors = Object.entries(await client.list())
    const failed = connectors.filter(([, { status }]) => status !== undefined && shownState(status) === 'FAILED')
    const responds: DoctorFinding = {
      check: 'worker',
      verdict: 'ok',
      message: `${endpoint.url} responds, version ${version}, with ${counted(connectors.length, 'connector')}`,
    }
    const names = failed.slice(0, NAMES_SHOWN_MAX).map(([name]) => name)
    const failure: DoctorFinding = {
      check: 'connectors',
      verdict: 'problem',
      message: `${failed.length} of ${connectors.length} are FAILED: ${names.join(', ')}${failed.length > names.length ? ', …' : ''}`,
      remedy: `weir describe connector/${names[0]} shows the reason; weir restart connector/${names[0]} --failed restarts it`,
    }
    return { clusterId, findings: failed.length === 0 ? [responds] : [responds, failure] }
  } catch (error) {
    return { findings: [unavailable('worker', endpoint, error)] }
  }
}

async function checkRegistry(endpoint: Endpoint): Promise<RuntimeCheck> {
  const client = createRegistryClient({ ...endpoint, timeoutMs: RESPONSE_TIMEOUT_MS })
  try {
    const [subjects, mode, { compatibility }] = await Promise.all([client.subjects(), client.mode(), client.config()])
    const message = `${endpoint.url} responds, with ${counted(subjects.length, 'subject')}, mode ${mode} and level ${compatibility}`
    return { findings: [{ check: 'registry', verdict: 'ok', message }] }
  } catch (error) {
    return { findings: [unavailable('registry', endpoint, error)] }
  }
}

function unavailable(runtime: TargetRuntime, { url }: Endpoint, error: unknown): DoctorFinding {
  if (!(error instanceof RequestError)) throw error
  const isLogin = error.status === 401 || error.status === 403
  return {
    check: runtime,
    verdict: 'problem',
    message: error.message,
    remedy: isLogin
      ? 'give --user NAME:PASSWORD of a user who may read it'
      : `start it, or correct the URL ${url}; its log has the reason`,
  }
}

async function checkTime(
  runtime: TargetRuntime,
  { url, tls }: Endpoint,
  clock: Clock,
): Promise<DoctorFinding | undefined> {
  const agent = new HttpAgent(tls === undefined ? {} : { tls })
  try {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
    const sentMs = clock.nowMs()
    const response = await agent.send({ method: 'GET', url: new URL(url), headers: {}, signal })
    const receivedMs = clock.nowMs()
    await readText(response, BODY_BYTES_MAX)
    return checkClock(runtime, response.headers.date, { sentMs, receivedMs })
  } catch (error) {
    return { check: `clock of the ${runtime}`, verdict: 'warning', message: `is not known: ${messageOf(error)}` }
  } finally {
    agent.close()
  }
}
