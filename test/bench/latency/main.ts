import { openDisposableBroker } from '../../support/topic.ts'
import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { sidesOn } from '../worker/sides.ts'
import type { Percentiles } from './samples.ts'
import { measureSinkLatency } from './sink-latency.ts'
import { measureSourceLatency } from './source-latency.ts'
import { prepareTickPlugins } from './tick-plugins.ts'

/**
 * Compares the latency of records with Java Connect, at 1,000 records a second. Both workers run at the same time, so that
 * a stall of the broker, the machine or this process affects both.
 */
export async function benchLatency(settings: Settings): Promise<readonly Figure[]> {
  const { bootstrap, rounds } = settings
  const plugins = await prepareTickPlugins()
  await using running = new AsyncDisposableStack()
  const broker = running.use(await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } }))
  const [weir, connect] = sidesOn(settings)
  const java = running.adopt(await connect.start({ 'plugin.path': plugins.java }), ({ stop }) => stop())
  const ours = running.adopt(await weir.start({ 'plugin.path': plugins.ours }), ({ stop }) => stop())
  progress('latency: source to topic')
  const source = await measureSourceLatency(broker, [ours, java], rounds)
  progress('latency: topic to sink')
  const sink = await measureSinkLatency(broker, [ours, java], rounds)
  return [...figuresOf('source to topic', source), ...figuresOf('topic to sink', sink)]
}

function figuresOf(name: string, [ours, java]: readonly (readonly Percentiles[])[]): readonly Figure[] {
  const figure = (what: keyof Percentiles): Figure => ({
    name: `${name} at 1,000 records/s, ${what}`,
    unit: 'ms',
    ours: ours!.map((one) => one[what]),
    against: { name: 'Java Connect', values: java!.map((one) => one[what]) },
    aim: 1.25,
  })
  return [figure('p50'), figure('p99')]
}
