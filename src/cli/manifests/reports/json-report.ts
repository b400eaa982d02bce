import type { CheckResult } from '../check-finding.ts'

export function jsonReport({ findings, checked, notes }: CheckResult): string {
  return `${JSON.stringify({ findings, checked, notes }, undefined, 2)}\n`
}
