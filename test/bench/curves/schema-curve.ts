import { residentMb } from '../process.ts'
import { fillTopics, startFilled, timeToRead } from '../registry/filled-registry.ts'
import { createLoad, measureLoads } from '../registry/load.ts'
import { progress, type Settings } from '../settings.ts'
import { type Curve, sizesUpTo } from './curve.ts'

/** Number of different schemas that are requested, evenly distributed. */
const SAMPLE = 1_000

/** Start time, memory and read rate of a registry. */
export async function curveOfSchemas(settings: Settings): Promise<Curve> {
  const start: [number, number][] = []
  const read: [number, number][] = []
  const memory: [number, number][] = []
  const rate: [number, number][] = []
  for (const schemas of sizesUpTo(settings.schemas)) {
    progress(`curves: ${schemas} schemas`)
    await fillTopics(settings, [schemas])
    const startMs = performance.now()
    const registry = await startFilled(settings, schemas, `curve-${schemas}`)
    try {
      start.push([schemas, (performance.now() - startMs) / 1_000])
      memory.push([schemas, await residentMb(registry.pid)])
      const ids = Array.from({ length: SAMPLE }, (_, at) => 1 + Math.floor((at * schemas) / SAMPLE))
      const load = createLoad(ids.map((id) => ({ method: 'GET', path: `/schemas/ids/${id}` })))
      const [measured] = await measureLoads([{ url: registry.url, ...load }])
      rate.push([schemas, measured!.rate])
    } finally {
      await registry.stop()
    }
    read.push([schemas, (await timeToRead(settings, schemas)) / 1_000])
  }
  return {
    title: 'Schemas in one registry',
    size: 'number of schemas',
    panels: [
      {
        title: 'start',
        unit: 's',
        lines: [
          { name: 'Weir', points: start },
          { name: 'only reading the topic', points: read },
        ],
      },
      { title: 'memory after the start', unit: 'MB', lines: [{ name: 'Weir', points: memory }] },
      { title: 'reads by id in a second', unit: '', lines: [{ name: 'Weir', points: rate }] },
    ],
  }
}
