import { BrokerError } from '../broker-error.ts'
import type { DataFiles } from './data-files.ts'
import type { Damage, DamagedRange } from './find-damage.ts'

const RANGES_MAX = 5

/** A `data_corrupt` error that names the damaged files, the affected offsets as far as known, and the remedy. */
export function damageError({ directory }: DataFiles, { faults, ranges }: Damage): BrokerError {
  const where = ranges.slice(0, RANGES_MAX).map(describeRange).join(', ')
  const what = faults.map(({ file, message }) => `${file} ${message}`).join('; ')
  return new BrokerError(
    'data_corrupt',
    `data directory ${directory} is damaged: ${what}${where === '' ? '' : `; concerned: ${where}`}. ` +
      `Restore a backup with weir data restore ${directory}, or keep what can be read with weir data repair ${directory}`,
  )
}

export function describeRange({ topic, partition, from, to }: DamagedRange): string {
  return `topic '${topic}', partition ${partition}, offsets ${from} to ${to}`
}
