import { statfsSync } from 'node:fs'
import type { DoctorFinding } from './doctor-finding.ts'

const GIBIBYTE = 1024 ** 3
const WARNING_BYTES = GIBIBYTE
const PROBLEM_BYTES = GIBIBYTE / 10
const WARNING_SHARE = 0.05

export type FreeSpace = { readonly freeBytes: number; readonly totalBytes: number }

export function freeSpaceOf(directory: string): FreeSpace {
  const { bavail, blocks, bsize } = statfsSync(directory)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export function checkDisk(directory: string, { freeBytes, totalBytes }: FreeSpace): DoctorFinding {
  const check = 'disk'
  const message = `${(freeBytes / GIBIBYTE).toFixed(1)} of ${(totalBytes / GIBIBYTE).toFixed(1)} GiB are free for ${directory}`
  if (freeBytes >= WARNING_BYTES && freeBytes >= WARNING_SHARE * totalBytes) return { check, verdict: 'ok', message }
  const remedy =
    'free space, or shorten the retention of large topics (retention.ms, retention.bytes): a full disk stops writes'
  return { check, verdict: freeBytes < PROBLEM_BYTES ? 'problem' : 'warning', message, remedy }
}
