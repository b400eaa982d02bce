import { join } from 'node:path'
import { runClient } from '../client.ts'
import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import type { GeneratorResult, GeneratorTask } from './generator-client.ts'
import { type HandWrittenName, WRITTEN_BY_HAND } from './written-by-hand.ts'

const NAMES = Object.keys(WRITTEN_BY_HAND) as HandWrittenName[]

/** Compares the rates of Datagen's generator for any schema with generators that were written for one schema, by CPU time. */
export async function benchDatagen(settings: Settings): Promise<readonly Figure[]> {
  const runs = NAMES.map((name) => ({ name, generic: [] as number[], writtenByHand: [] as number[] }))
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`datagen: round ${round} of ${settings.rounds}`)
    for (const run of runs) {
      run.generic.push(await rateOfGenerator(settings, run.name, false))
      run.writtenByHand.push(await rateOfGenerator(settings, run.name, true))
    }
  }
  return runs.map(({ name, generic, writtenByHand }) => ({
    name: `records of the quickstart ${name} in a second of CPU time`,
    unit: 'rec/s',
    ours: generic,
    against: { name: 'written by hand', values: writtenByHand },
    aim: 1,
  }))
}

async function rateOfGenerator(settings: Settings, name: HandWrittenName, isWrittenByHand: boolean): Promise<number> {
  const script = join(import.meta.dirname, 'generator-client.ts')
  const task = { name, isWrittenByHand, records: settings.records }
  const { cpuMs } = await runClient<GeneratorTask, GeneratorResult>(script, task)
  return (settings.records / cpuMs) * 1_000
}
