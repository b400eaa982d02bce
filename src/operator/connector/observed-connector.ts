import { isDeepStrictEqual } from 'node:util'
import { undefinedIfNotFound } from '../../clients/http-client.ts'
import {
  type ConnectorInfo,
  type ConnectorProperties,
  type ConnectorStateInfo,
  type ExpandedConnector,
  hasNoWork,
  type TaskStateInfo,
  type WorkerClient,
} from '../../clients/worker-client.ts'
import { type RunState, shownState } from '../../common/state-glossary.ts'
import { truncateBytes } from '../../common/truncate-text.ts'
import { isReady } from '../resources/condition.ts'
import type { TaskCounts } from '../resources/connector.ts'
import type { Resource } from '../resources/resource.ts'
import { hashConfig } from './desired-connector.ts'

const TYPE_BYTES_MAX = 64

export type ObservedTask = {
  readonly id: number
  readonly state: RunState
  readonly workerId: string
  readonly trace?: string
}

/** A connector as the worker reports it. */
export type ExistingConnector = {
  readonly config: ConnectorProperties
  readonly type: string
  readonly state: RunState
  readonly workerId: string
  readonly trace?: string
  readonly tasks: readonly ObservedTask[]
  /** Whether the worker reports that it has no tasks because there is nothing to do. */
  readonly hasNoWork: boolean
}
export type ObservedConnector = 'absent' | ExistingConnector

/** Whether the status of a Ready resource already matches what a list of the worker shows. */
export function isConnectorStatusCurrent(
  { status, metadata }: Resource<'Connector'>,
  { info, status: now }: ExpandedConnector = {},
): boolean {
  if (info === undefined || now === undefined || !isReady(status, metadata.generation)) return false
  const { total, running, failed, paused } = countTasks(now.tasks)
  const { tasks } = status
  return (
    status.configHash === hashConfig(info.config) &&
    status.state === shownState(now) &&
    status.workerId === now.connector.worker_id &&
    isDeepStrictEqual([total, running, failed, paused], [tasks?.total, tasks?.running, tasks?.failed, tasks?.paused])
  )
}

export async function observeConnector(worker: WorkerClient, name: string): Promise<ObservedConnector> {
  const info = await undefinedIfNotFound(worker.get(name))
  // While a connector is being deleted, it has a status for a moment but no configuration.
  if (info === undefined) return 'absent'
  const status = await undefinedIfNotFound(worker.status(name))
  const { state = 'UNASSIGNED', worker_id: workerId = '', trace } = status?.connector ?? {}
  return {
    config: info.config,
    type: truncateBytes(info.type ?? 'unknown', TYPE_BYTES_MAX),
    state,
    workerId,
    ...(trace === undefined ? {} : { trace }),
    tasks: [...(status?.tasks ?? []).map(toTask), ...unreportedTasks(info, status)],
    hasNoWork: status !== undefined && hasNoWork(status) && info.tasks.length === 0,
  }
}

function toTask({ id, state, worker_id: workerId, trace }: TaskStateInfo): ObservedTask {
  return { id, state, workerId, ...(trace === undefined ? {} : { trace }) }
}

/** Tasks that exist but have not reported a status yet. */
function unreportedTasks({ tasks }: ConnectorInfo, status: ConnectorStateInfo | undefined): readonly ObservedTask[] {
  const reported = new Set(status?.tasks.map(({ id }) => id))
  return tasks.flatMap(({ task }) => (reported.has(task) ? [] : [{ id: task, state: 'UNASSIGNED', workerId: '' }]))
}

export function countTasks(tasks: readonly Pick<ObservedTask, 'state'>[]): TaskCounts {
  const countIn = (state: RunState) => tasks.filter((task) => task.state === state).length
  const [running, failed, paused] = [countIn('RUNNING'), countIn('FAILED'), countIn('PAUSED')]
  return {
    total: tasks.length,
    running,
    failed,
    paused,
    unassigned: tasks.length - running - failed - paused,
    summary: `${running}/${tasks.length}`,
  }
}

/** One line for a stack trace: the innermost cause, without Java class names. */
export function rootCauseIn(trace: string): string {
  const lines = trace.split('\n')
  const cause = lines.findLast((line) => line.startsWith('Caused by: ')) ?? lines[0] ?? ''
  return cause.replace(/^Caused by: /, '').replace(/^[\w.$]*(Exception|Error): /, '')
}
