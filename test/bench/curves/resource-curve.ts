import { startKubernetes } from '../../env/kubernetes.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { measureChanges, untilEventsAreSent } from '../operator/changes.ts'
import { startWorld } from '../operator/world.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { type Curve, sizesUpTo } from './curve.ts'

/** Time, CPU time and memory of an operator that starts with new resources, and the time of a change among them. */
export async function curveOfResources(settings: Settings): Promise<Curve> {
  const control = await startKubernetes()
  const ready: [number, number][] = []
  const cpu: [number, number][] = []
  const memory: [number, number][] = []
  const p50: [number, number][] = []
  const p99: [number, number][] = []
  try {
    await installCrds(kubeApi(control))
    for (const objects of sizesUpTo(settings.objects)) {
      progress(`curves: ${objects} resources`)
      const world = await startWorld(settings, control, objects, `curve-${objects}`)
      try {
        ready.push([objects, world.start.ms / 1_000])
        cpu.push([objects, (world.start.cpu['operator'] ?? 0) / objects])
        memory.push([objects, await residentMb(world.operator.pid)])
        await untilEventsAreSent(world)
        const { p50Ms, p99Ms } = await measureChanges(world.place, objects)
        p50.push([objects, p50Ms])
        p99.push([objects, p99Ms])
      } finally {
        await world.stop()
      }
    }
  } finally {
    await control.stop()
  }
  const only = (points: typeof ready) => [{ name: 'Weir', points }]
  return {
    title: 'Resources of one operator, from its start until all are Ready',
    size: 'number of resources',
    panels: [
      { title: 'time until all are Ready', unit: 's', lines: only(ready) },
      { title: 'CPU time of the operator for each', unit: 'ms', lines: only(cpu) },
      { title: 'memory of the operator', unit: 'MB', lines: only(memory) },
      {
        title: 'time from a change to Ready',
        unit: 'ms',
        lines: [
          { name: 'p50', points: p50 },
          { name: 'p99', points: p99 },
        ],
      },
    ],
  }
}
