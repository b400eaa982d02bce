import type { AlertRule } from '../common/monitoring.ts'

/** Alerts of all programs. */
export const PROGRAM_ALERTS: readonly AlertRule[] = [
  {
    alert: 'WeirTargetDown',
    severity: 'critical',
    // A pod that restarts again and again responds from time to time.
    expr: 'avg_over_time(up{job=~"$jobs"}[10m]) < 0.7',
    for: '2m',
    summary: 'A program does not respond',
    description:
      '{{ $labels.job }} at {{ $labels.instance }} responded to {{ $value | humanizePercentage }} of the scrapes.',
  },
  {
    alert: 'WeirNotReady',
    severity: 'critical',
    expr: 'weir_ready{} == 0',
    for: '5m',
    summary: 'A program runs, but is not ready',
    description:
      'The {{ $labels.program }} at {{ $labels.instance }} cannot serve requests. /readyz has the reason, if it is known.',
  },
]
