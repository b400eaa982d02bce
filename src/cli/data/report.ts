import type { BackupReport } from '../../broker/embedded/maintenance/backup.ts'
import type { RepairReport } from '../../broker/embedded/maintenance/repair.ts'
import type { RestoreReport } from '../../broker/embedded/maintenance/restore.ts'
import type { VerifyReport } from '../../broker/embedded/maintenance/verify.ts'

type Range = RepairReport['lost'][number]

export function verifyText({ directory, isInUse, faults, damaged }: VerifyReport): string {
  if (faults.length === 0) {
    const what = isInUse
      ? 'a program has it: every page matches its checksum, records were not decoded'
      : 'every page, batch and record count matches'
    return `${directory} is sound (${what})`
  }
  const lines = faults.map(({ file, message }) => `${file} ${message}`)
  return [`${directory} is damaged`, ...lines, ...damaged.map((range) => `concerned: ${rangeText(range)}`)].join('\n')
}

export function repairText({ directory, isSound, damaged, batches, lost, notes }: RepairReport): string {
  if (isSound) return `${directory} is sound: nothing was changed`
  const none = 'no record is lost'
  return [
    `repaired ${directory}: ${batches} batches kept; the damaged files are in ${damaged}`,
    ...notes,
    ...(lost.length === 0 ? [none] : lost.map((range) => `lost: ${rangeText(range)}`)),
  ].join('\n')
}

export function backupText({ directory, backup, bytes }: BackupReport): string {
  return `backed up ${directory} to ${backup}: ${bytes} bytes, read in full`
}

export function restoreText({ directory, backup, replaced }: RestoreReport): string {
  const before = replaced === undefined ? '' : `; what was there is in ${replaced}`
  return `restored ${directory} from ${backup}${before}`
}

function rangeText({ topic, partition, from, to }: Range): string {
  return `topic '${topic}', partition ${partition}, offsets ${from} to ${to}`
}
