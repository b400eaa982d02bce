import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { copiesOfPlugins, type PluginCase, preparePlugins } from './cases.ts'
import { type Run, runOn, sidesWith } from './sides.ts'
import { measureStarts } from './start.ts'

type Runs = { readonly ours: Run[]; readonly java: Run[] }

/** Compares Java source connectors in Weir's Java host with the same jars in a Java Connect worker on the same Kafka. */
export async function benchJavaPlugins(settings: Settings): Promise<readonly Figure[]> {
  const plugins = await preparePlugins()
  await using cases = await copiesOfPlugins(settings)
  const [ours, java] = sidesWith(settings, plugins)
  const runs = new Map<PluginCase, Runs>(cases.all.map((one) => [one, { ours: [], java: [] }]))
  for (let round = 1; round <= settings.rounds; round++) {
    for (const [one, { ours: oursRuns, java: javaRuns }] of runs) {
      progress(`java-plugins: ${one.name}, round ${round} of ${settings.rounds}`)
      javaRuns.push(await runOn(java, one, settings))
      oursRuns.push(await runOn(ours, one, settings))
    }
  }
  return [
    ...[...runs].flatMap(([{ name }, both]) => figuresOf(name, both)),
    ...(await measureStarts(settings, plugins)),
  ]
}

function figuresOf(name: string, { ours, java }: Runs): readonly Figure[] {
  const figure = (what: keyof Run, title: string, unit: Figure['unit'], aim: number): Figure => ({
    name: `${name}${title}`,
    unit,
    ours: ours.map((run) => run[what]),
    against: { name: 'Java Connect', values: java.map((run) => run[what]) },
    aim,
  })
  return [
    figure('perSecond', ', first to last record', 'rec/s', 0.8),
    figure('perSecondWithStart', ', with the start of the connector', 'rec/s', 0.8),
    figure('cpuMsPer1000', ', CPU time of 1,000 records', 'ms', 1.25),
    figure('occupiedMb', ', memory after', 'MB', 1),
    figure('residentMb', ', resident memory after, sum of processes', 'MB', 1),
    figure('residentMaxMb', ', resident memory, maximum', 'MB', 1),
  ]
}
