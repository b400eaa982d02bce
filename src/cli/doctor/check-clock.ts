import type { DoctorFinding } from './doctor-finding.ts'

/** A Date header has whole seconds. */
const WARNING_MS = 5_000
const PROBLEM_MS = 300_000

/**
 * Compares the clock of a program, by the Date header of its response, with this machine's. `sentMs` and `receivedMs` are the times of the
 * request by this machine's clock. Undefined without a date.
 */
export function checkClock(
  program: string,
  date: string | undefined,
  { sentMs, receivedMs }: { readonly sentMs: number; readonly receivedMs: number },
): DoctorFinding | undefined {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return undefined
  const check = `clock of the ${program}`
  // The response was dated between the two times, and up to a second earlier.
  const aheadMs = theirs > receivedMs ? theirs - receivedMs : Math.min(0, theirs + 1_000 - sentMs)
  const difference = Math.abs(aheadMs)
  if (difference < WARNING_MS) return { check, verdict: 'ok', message: 'agrees with the clock of this machine' }
  return {
    check,
    verdict: difference < PROBLEM_MS ? 'warning' : 'problem',
    message: `is ${Math.round(difference / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this machine`,
    remedy:
      'synchronize the clocks of both machines, such as with chrony: tokens, certificates and times of records depend on them',
  }
}
