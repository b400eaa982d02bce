import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { writeLines } from '../../support/numbered-lines.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { until } from '../../support/until.ts'
import { startCpuClock } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { startWithConnectors } from '../start/stopped-connectors.ts'
import { STRINGS, throughOf } from '../worker/pipe.ts'
import { type Side, sidesOn } from '../worker/sides.ts'
import { type Curve, type Line, sizesUpTo } from './curve.ts'

const TASKS = [0, 25, 50, 100, 200]
const CONNECTORS = [100, 300, 1_000, 3_000]
/** Wait before memory is measured. */
const SETTLED_MS = 10_000
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

/** Measured values of one side: of each quantity, one for each size. */
type Measured = Readonly<Record<string, Line['points'][number][]>>

/** CPU time and memory of a worker that copies a file to a topic and the topic to a file. */
export async function curveOfRecords(settings: Settings): Promise<Curve> {
  const sizes = sizesUpTo(settings.records)
  const measured = await onBothSides(settings, async (side) => {
    const cpu: [number, number][] = []
    const memory: [number, number][] = []
    for (const records of sizes) {
      progress(`curves: ${side.name}, ${records} records`)
      const input = join(partDirectory('lines'), 'in.txt')
      writeLines(input, records)
      const worker = await side.start({ 'offset.flush.interval.ms': '250' })
      try {
        const cpuMs = await startCpuClock(worker.pid)
        await throughOf(worker, input, `${input}.out`, STRINGS)
        cpu.push([records, (await cpuMs()) / 1_000])
        memory.push([records, occupiedMbOf(worker.pid!)])
      } finally {
        await worker.stop()
      }
    }
    return { cpu, memory }
  })
  return {
    title: 'A worker copies a file to a topic, and the topic to a file',
    size: 'number of records',
    panels: [
      { title: 'CPU time with the start of the connectors', unit: 's', lines: linesOf(measured, 'cpu') },
      { title: 'memory directly after them', unit: 'MB', lines: linesOf(measured, 'memory') },
    ],
  }
}

/** Memory of a worker with sources that have no work. */
export async function curveOfTasks(settings: Settings): Promise<Curve> {
  const measured = await onBothSides(settings, async (side) => {
    const memory: [number, number][] = []
    const file = join(partDirectory('tasks'), 'in.txt')
    writeFileSync(file, '')
    const worker = await side.start({})
    try {
      const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
      let started = 0
      for (const tasks of TASKS) {
        progress(`curves: ${side.name}, ${tasks} tasks`)
        for (; started < tasks; started++) {
          const config = { 'connector.class': 'FileStreamSource', file, topic: 'waiting', ...STRINGS }
          await client.putConfig(`waits-${started}`, config)
        }
        await until(`${tasks} tasks to run`, WAIT, async () => {
          const all = Object.values(await client.list()).flatMap(({ status }) => status?.tasks ?? [])
          return all.filter(({ state }) => state === 'RUNNING').length === tasks
        })
        await sleep(SETTLED_MS)
        memory.push([tasks, occupiedMbOf(worker.pid!)])
      }
    } finally {
      await worker.stop()
    }
    return { memory }
  })
  return {
    title: 'Tasks without work on one worker',
    size: 'number of tasks',
    panels: [{ title: 'memory of all processes', unit: 'MB', lines: linesOf(measured, 'memory') }],
  }
}

/** Memory of a worker with stopped connectors, and the response time of their expanded list. */
export async function curveOfConnectors(settings: Settings): Promise<Curve> {
  const measured = await onBothSides(settings, async (side) => {
    const memory: [number, number][] = []
    const answer: [number, number][] = []
    for (const connectors of CONNECTORS) {
      progress(`curves: ${side.name}, ${connectors} connectors`)
      const { worker, answerMs } = await startWithConnectors(settings, side, connectors)
      try {
        await sleep(SETTLED_MS)
        answer.push([connectors, answerMs])
        memory.push([connectors, occupiedMbOf(worker.pid!)])
      } finally {
        await worker.stop()
      }
    }
    return { memory, answer }
  })
  return {
    title: 'Stopped connectors on one worker',
    size: 'number of connectors',
    panels: [
      { title: 'memory of all processes', unit: 'MB', lines: linesOf(measured, 'memory') },
      { title: 'GET info and status of all', unit: 'ms', lines: linesOf(measured, 'answer') },
    ],
  }
}

async function onBothSides(settings: Settings, measure: (side: Side) => Promise<Measured>) {
  const [weir, connect] = sidesOn(settings)
  const java = await measure(connect)
  return { ours: await measure(weir), java }
}

function linesOf({ ours, java }: { readonly ours: Measured; readonly java: Measured }, quantity: string): Line[] {
  return [
    { name: 'Weir', points: ours[quantity]! },
    { name: 'Java Connect', points: java[quantity]! },
  ]
}
