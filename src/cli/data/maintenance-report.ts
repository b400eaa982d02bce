import type { BackupReport } from '../../broker/embedded/maintenance/backup.ts'
import type { RepairReport } from '../../broker/embedded/maintenance/repair.ts'
import type { RestoreReport } from '../../broker/embedded/maintenance/restore.ts'
import type { VerifyReport } from '../../broker/embedded/maintenance/verify.ts'

type Range = RepairReport['lost'][number]

export function verifyText({ directory, isInUse, faults, ranges }: VerifyReport): string {
  if (faults.length === 0) {
    return `${directory} is not damaged${isInUse ? ' (it is in use by a program)' : ''}: all rows and batches match their checksums`
  }
  const lines = faults.map(({ file, message }) => `${file} ${message}`)
  return [`${directory} is damaged`, ...lines, ...ranges.map((range) => `affected: ${rangeText(range)}`)].join('\n')
}

export function repairText({ directory, isSound, damaged, batches, lost, notes }: RepairReport): string {
  if (isSound) return `${directory} is not damaged: nothing was changed`
  const none = notes.length === 0 ? 'no record is lost' : 'no record is known to be lost'
  return [
    `repaired ${directory}: ${batches} batches kept; the damaged files are in ${damaged}`,
    ...notes,
    ...(lost.length === 0 ? [none] : lost.map((range) => `lost: ${rangeText(range)}`)),
  ].join('\n')
}

export function backupText({ directory, backup, bytes }: BackupReport): string {
  return `backed up ${directory} to ${backup}: ${bytes} bytes, verified`
}

export function restoreText({ directory, backup, replaced }: RestoreReport): string {
  const before = replaced === undefined ? '' : `; the previous files are in ${replaced}`
  return `restored ${directory} from ${backup}${before}`
}

function rangeText({ topic, partition, from, to }: Range): string {
  return `topic '${topic}', partition ${partition}, offsets ${from} to ${to}`
}
