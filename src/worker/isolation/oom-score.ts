import { readFileSync, writeFileSync } from 'node:fs'

const FILE = '/proc/self/oom_score_adj'
const HIGHER = 500
const SCORE_MAX = 1_000

/** Makes the kernel's OOM killer choose this process before the worker. */
export function raiseOomScore(): void {
  try {
    writeFileSync(FILE, String(Math.min(SCORE_MAX, Number(readFileSync(FILE, 'utf8')) + HIGHER)))
  } catch {
    // Not on Linux, or not permitted.
  }
}
